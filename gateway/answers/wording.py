"""What two questions may differ in and still have one answer: politeness and declared synonyms, nothing else.

Similarity cannot tell "opened" from "unopened" or one order number from another. So every word that is neither empty
nor a declared synonym is a slot, and slots have to be the same, in the same order.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_FREE_EN = """
a an the please kindly hi hello hey thanks i we me us my our do does is are am be of tell know
"""
_FREE_ZH = """
请问 你好 您好 谢谢 麻烦 吗 呢 呀 啊 吧 的 了 我 我们 咱们 一下 请 想 想要 想知道
"""
_FREE_PHRASES = ("thank you", "would like to", "want to", "can you tell me", "could you tell me")
_FREE = (*_FREE_EN.split(), *_FREE_ZH.split(), *_FREE_PHRASES)
_MONEY_BACK = tuple(f"{verb} {whose} money back" for verb in ("get", "have") for whose in ("my", "our", "the"))
_GROUPS: tuple[tuple[str, ...], ...] = (
    (
        "can",
        "could",
        "may",
        "possible",
        "is it possible to",
        "am i able to",
        "可以",
        "能",
        "能够",
        "可不可以",
        "能不能",
    ),
    ("refund", "refunded", "refundable", "money back", "get a refund", *_MONEY_BACK),
    ("退款", "退钱", "退費"),
    ("cost", "price", "how much"),
    ("多少钱", "价格", "什么价"),
    ("delivery", "shipping", "delivered", "shipped"),
    ("送货", "配送"),
    ("opening hours", "open hours"),
    ("营业时间", "几点营业"),
    ("cancel", "call off"),
    ("取消", "退订"),
    ("phone", "telephone"),
    ("email", "e-mail"),
    ("邮箱", "邮件"),
)
_RELATIVE_TIME = re.compile(
    r"\b(?:now|today|tonight|tomorrow|yesterday|currently|this (?:week|month|year|morning|evening)|next (?:week|month)"
    r"|right away|so far|yet|still|ago|latest|just)\b|现在|今天|今晚|明天|昨天|目前|本周|这周|下周|本月|这个月|下个月"
    r"|刚才|刚刚|还没|已经|最新",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[a-z0-9]+(?:[-'.,:/_@][a-z0-9]+)*|[\u3400-\u9fff\uf900-\ufaff]|[^\s\w]")
_ANYWHERE = frozenset({"=can"})  # its place in the question does not matter
_IGNORED_SIGNS = frozenset("?!.,;:？！。，；：、\"'“”‘’()（）")
# Changes whenever the same question would get another key.
FINGERPRINT = f"wording-2-{zlib.crc32(repr((_FREE, _GROUPS, _TOKEN.pattern)).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Wording:
    """`asked`: the declared words; `slots`: every other word; both in order, but "can" always first."""

    asked: tuple[str, ...]
    slots: tuple[str, ...]

    def key(self) -> str:
        """Equal for two questions that may share an answer."""
        return "\x1f".join((*self.asked, "\x1e", *self.slots))


class Lexicon:
    """Free words and synonym groups; `groups` are added to the built-in ones."""

    def __init__(self, groups: Sequence[Sequence[str]] = ()) -> None:
        meaning: dict[tuple[str, ...], str] = {tuple(_tokens(phrase)): "" for phrase in _FREE}
        for group in (*_GROUPS, *groups):
            for phrase in group:
                meaning[tuple(_tokens(phrase))] = f"={group[0].casefold()}"
        self._meaning = meaning
        self._longest = max(len(phrase) for phrase in meaning)

    def wording(self, text: str) -> Wording:
        """Read a question, longest phrases first."""
        tokens = _tokens(text)
        asked, slots, at = [], [], 0
        while at < len(tokens):
            length, meaning = self._at(tokens, at)
            if meaning:
                asked.append(meaning)
            elif meaning is None:
                slots.append(tokens[at])
            at += length
        return Wording(tuple(sorted(asked, key=lambda one: one not in _ANYWHERE)), tuple(slots))

    def _at(self, tokens: Sequence[str], at: int) -> tuple[int, str | None]:
        """(tokens taken, meaning): "" for free words, None for a slot."""
        for length in range(min(self._longest, len(tokens) - at), 0, -1):
            meaning = self._meaning.get(tuple(tokens[at : at + length]))
            if meaning is not None:
                return length, meaning
        return 1, None


def depends_on_now(text: str) -> bool:
    """Whether the right answer changes with the clock, so that an older one may be wrong."""
    return _RELATIVE_TIME.search(text) is not None


@lru_cache(maxsize=8)
def lexicon_of(groups: tuple[tuple[str, ...], ...]) -> Lexicon:
    """The lexicon of a policy, made once."""
    return Lexicon(groups)


def _tokens(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    return list(_kept(_TOKEN.findall(plain)))


def _kept(tokens: Iterable[str]) -> Iterable[str]:
    return (token for token in tokens if token not in _IGNORED_SIGNS)
