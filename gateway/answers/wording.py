"""What two questions may differ in and still have one answer: politeness and declared synonyms, nothing else.

Similarity cannot tell "opened" from "unopened" or "shipped" from "delivered". So every word and sign that is neither
politeness at an edge (see `courtesy`) nor a declared synonym is a slot: pronouns, little words, 了 and 过, capitals
("US" and "us") and what is quoted. Slots and synonyms have to be the same, all in one order.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gateway.answers import courtesy

# Only words that stand for each other in every sentence: one event, one tense, one who does it. So not "could" for
# "can" (it is the past as well), 如何 for 怎么 (which asks why as well), or "grey" for "gray" (Dr Grey is not Dr Gray).
_GROUPS: tuple[tuple[str, ...], ...] = (
    ("want to", "would like to"),
    ("i get a refund", "i get my money back"),
    ("we get a refund", "we get our money back"),
    ("phone number", "telephone number"),
    ("opening hours", "open hours"),
    ("email", "e-mail"),
    ("emails", "e-mails"),
    ("ok", "okay"),
    ("cancelled", "canceled"),
    ("cancelling", "canceling"),
    ("colour", "color"),
    ("colours", "colors"),
    ("favourite", "favorite"),
    ("退款", "退钱"),
    ("送货", "配送"),
    ("哪里", "哪儿"),
    ("你", "您"),
)
_RELATIVE_TIME = re.compile(
    r"\b(?:now|today|tonight|tomorrow|yesterday|currently|this (?:week|month|year|morning|evening)|next (?:week|month)"
    r"|right away|so far|yet|still|ago|latest|just)\b|现在|今天|今晚|明天|昨天|目前|本周|这周|下周|本月|这个月|下个月"
    r"|刚才|刚刚|还没|已经|最新",
    re.IGNORECASE,
)
_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# Everything but white space is in a token: a character of Chinese, a word of any other script, or a sign.
_TOKEN = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+(?:[-'.,:/_@][^\W{_HAN}]+)*|[^\w\s]")
_MARKS = dict(zip('"“‘「『《〈«`', '"”’」』》〉»`', strict=True))
_QUOTED = re.compile(rf"[{''.join(_MARKS)}]|(?<!\w)'[^']+'(?!\w)")  # a mark that opens, or all that is quoted
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}  # full-width forms of ASCII
_EXPANDED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\bcan(?:'t|not)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\bshan't\b", "shall not"),
        (r"(?<=\w)n't\b", " not"),
        (r"(?<=\bi)'m\b", " am"),
        (r"(?<=\w)'re\b", " are"),
        (r"(?<=\w)'ve\b", " have"),
        (r"(?<=\w)'ll\b", " will"),
        (r"\b(i|we)'d(?=\s+like\s+to\b)", r"\1 would"),
        (r"\b(what|how|where)'s(?=\s+(?:the|my|your|our|a|an|this|that)\b)", r"\1 is"),
    )
)
_CLAUSE = re.compile(r"[^,.?!;。、]+")
_ASKING_ZH = re.compile(r"几|多少|什么|怎么|如何|哪|谁|(?P<it>[\u3400-\u9fff])不(?P=it)")
_SOFTENED = re.compile(r"(?:(?<![花毛])呢|[啊呀])\Z")  # 花呢 and 毛呢 are cloth
_DONE_OR_NOT = re.compile(r"了没有?$")
_MAY_OR_NOT = re.compile("可不可以|能不能")
_OPENING = """
who whom whose what when where why which how is are am was were do does did can could may might must shall should will
would has have had
"""
_OPENERS = frozenset(_OPENING.split())
_EVIDENT_ZH = re.compile(r"[吗呢]$|怎么|如何|什么|多少|哪|是否")
_STOPS = frozenset(".!?。")
# Changes whenever the same question would get another key.
FINGERPRINT = "wording-4-{:08x}".format(
    zlib.crc32(
        repr(
            (
                _GROUPS,
                _TOKEN.pattern,
                _QUOTED.pattern,
                [(pattern.pattern, plain) for pattern, plain in _EXPANDED],
                _MARKS,
                [one.pattern for one in (_CLAUSE, _ASKING_ZH, _SOFTENED, _DONE_OR_NOT, _MAY_OR_NOT, _EVIDENT_ZH)],
                sorted(_OPENERS),
                courtesy.PATTERNS,
            )
        ).encode()
    )
)


@dataclass(frozen=True, slots=True)
class Wording:
    """`parts`: synonyms ("=" and the group's first), what was quoted ('"' before it) and slots, in the one order."""

    parts: tuple[str, ...]

    def key(self) -> str:
        """Equal for two questions that may share an answer."""
        return "".join(f"{len(part)}:{part}" for part in self.parts)


class Lexicon:
    """Synonym groups; `groups` are added to the built-in ones."""

    def __init__(self, groups: Sequence[Sequence[str]] = ()) -> None:
        meaning: dict[tuple[str, ...], str] = {}
        for group in (*_GROUPS, *groups):
            for phrase in group:
                tokens = tuple(token.lower() for token in _parts(_plain(phrase)))
                meaning[tokens] = f"={group[0].lower()}"
        meaning.pop((), None)
        self._meaning = meaning
        self._longest = max(len(phrase) for phrase in meaning)

    def wording(self, text: str) -> Wording:
        """Read a question, longest phrases first."""
        polite, has_mark = courtesy.bare(_plain(text))
        plain = polite if courtesy.quotes(polite) else _one_form(polite)
        slots = list(_parts(plain))
        lowered = [slot.lower() for slot in slots]
        parts, at = [], 0
        while at < len(slots):
            length, meaning = self._at(lowered, at)
            parts.append(slots[at] if meaning is None else meaning)
            at += length
        has_mark = has_mark or (plain != polite and polite[-1] in "呢啊呀没有")
        opens = bool(lowered) and lowered[0].partition("'")[0] in _OPENERS
        if has_mark and not opens and not _EVIDENT_ZH.search(plain):
            parts.append("?")  # "Cancel my order?" is not "Cancel my order!"
        return Wording(tuple(parts))

    def _at(self, lowered: Sequence[str], at: int) -> tuple[int, str | None]:
        """(tokens taken, meaning): None for a slot."""
        for length in range(min(self._longest, len(lowered) - at), 0, -1):
            meaning = self._meaning.get(tuple(lowered[at : at + length]))
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


def _plain(text: str) -> str:
    """Width does not matter, nor capitals where there is nothing else. A small 2 above the line is no 2."""
    plain = unicodedata.normalize("NFC", text).translate(_WIDE)
    return plain if not plain.isascii() or any(sign.islower() for sign in plain) else plain.lower()


def _one_form(plain: str) -> str:
    """到了没有 as 到了吗, 可不可以退 as 可以退吗, and no 呢 or 啊 behind what asks already."""
    asked = _DONE_OR_NOT.sub("了吗", _CLAUSE.sub(_unsoftened, plain))
    if asked.endswith("吗") or not _CLAUSE.fullmatch(asked):
        return asked
    told, times = _MAY_OR_NOT.subn(_may, asked, count=1)
    return f"{told}吗" if times else asked


def _unsoftened(clause: re.Match[str]) -> str:
    asked = _SOFTENED.sub("", clause[0])
    return asked if _ASKING_ZH.search(asked) else clause[0]


def _may(found: re.Match[str]) -> str:
    return "可以" if found[0] == "可不可以" else "能"


def _parts(plain: str) -> Iterator[str]:
    """Slots in order: what is quoted is one, as it stands."""
    begins = True
    for index, piece in enumerate(_by_quotes(plain)):
        if index % 2:
            yield f'"{piece[1:-1].strip()}'
            begins = False
            continue
        for token in _TOKEN.findall(_expanded(piece.replace("’", "'"))):
            yield _folded(token, begins=begins)
            begins = token in _STOPS


def _by_quotes(plain: str) -> list[str]:
    """In turns what is not quoted and what is, marks included. A mark that nothing closes opens nothing."""
    pieces: list[str] = []
    at, start_from, last = 0, 0, {closes: plain.rfind(closes) for closes in _MARKS.values()}
    while found := _QUOTED.search(plain, start_from):
        start, end = found.span()
        if closes := _MARKS.get(found[0]):
            end = plain.index(closes, start + 1) + 1 if start < last[closes] else 0
        if end:
            pieces += [plain[at:start], plain[start:end]]
            at = end
        start_from = end or start + 1
    return [*pieces, plain[at:]]


def _expanded(piece: str) -> str:
    if "'" not in piece and "cannot" not in piece.lower():
        return piece
    for pattern, plain in _EXPANDED:
        piece = pattern.sub(plain, piece)
    return piece


def _folded(token: str, *, begins: bool) -> str:
    """A capital matters, other than at a sentence's beginning, in "I", and in a number such as A-1234."""
    is_number = token[0].isalpha() and any(sign.isdigit() for sign in token)
    if is_number or token[:2] in ("I", "I'") or (begins and (len(token) == 1 or token[1:].islower())):
        return token.lower()
    return token
