"""What a text denies: each negation with the words in its reach."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from harness.fidelity.reading.denials_en import (
    KNOWING,
    NOT_NEGATIVE,
    NOUNS,
    PHRASES,
    adds,
    bare_condition,
    calls_at,
    costs,
    emptied,
    ends_any_but,
    far_away,
    farther,
    free_of,
    goes_on,
    only_any_but,
    refers_back,
)
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.lexicon import Lexicon, lexicon
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, Word


class Denial(NamedTuple):
    """One negation. Indices count `Text.words`."""

    at: int  # the negating word
    reach: tuple[int, ...]  # content words it denies
    clause: tuple[int, ...]  # all content words of its clause
    bases: frozenset[str]  # what a lexical negation denies: "closed" denies "open"
    lexical: bool


_EXPLICIT = frozenset(
    ["not", "no", "never", "neither", "nor", "without", "none", "nobody", "no one", "nothing", "nowhere", "hardly", "cannot",
     "barely", "unable", "except", "except for", "excluding", "other than", "apart from", "aside from", "not including", "but for",
     "with the exception of", "excepted", "rather than", "instead of", "in place of", *PHRASES]
)  # fmt: skip
_LEXICAL = MappingProxyType(
    {
        "prohibit": "allow", "prohibited": "allow", "forbid": "allow", "forbidden": "allow", "ban": "allow", "disallow": "allow",
        "banned": "allow", "illegal": "legal", "reject": "accept approve", "rejected": "accept approve", "refuse": "accept approve",
        "refused": "accept approve", "deny": "accept approve", "denied": "accept approve", "declined": "accept approve",
        "decline": "accept approve", "fail": "succeed work", "failed": "succeed work", "failure": "success", "unsuccessful": "successful",
        "impossible": "possible", "lack": "have", "out of stock": "in stock available",
        "sold out": "in stock available", "exclude": "include cover", "excluded": "include cover", "omit": "include",
        "exempt": "must pay", "waive": "charge pay", "waived": "charge pay", "closed": "open", "shut": "open", "offline": "online",
        "cancel": "take place", "cancelled": "take place", "canceled": "take place", "absent": "present", "optional": "must required",
        "voluntary": "required", "ineligible": "eligible", "expired": "valid use", "down": "up", "broken": "work", "refrain": "",
        "avoid": "", "prevent": "", "empty": "full", "void": "valid", "pending": "resolved completed done approved paid", "pay extra": "include", "cost extra": "include", "charged separately": "include", "extra charge": "include", "not including": "include", "on top": "include", "come on top": "include", "outstanding": "paid",
        "unpaid": "paid", "pay separately": "include", "paid separately": "include", "skip": "", "call off": "take place", "turn down": "accept", "free": "charge fee cost pay", "free of charge": "charge fee cost", "no charge": "charge fee cost", "at no cost": "charge fee cost",
        "costs nothing": "charge fee cost", "for nothing": "charge fee cost", "complimentary": "charge fee cost", "no extra cost": "charge fee cost",
        "at no charge": "charge fee cost", "without charge": "charge fee cost", "delayed": "on time",
        "not allow": "allow", "bar": "allow", "off limits": "allow", "off-limits": "allow", "disabled": "enabled", "exempted": "must pay", "stop": "continue",
        "useless": "use", "out of order": "work", "out of use": "use work", "out of service": "work service", "out of reach": "reach hold get", "leave out": "include", "left out": "include", "faulty": "work", "defective": "work", "lose": "keep", "fasted": "eat", "fasting": "eat",
    }
)  # fmt: skip
_EXCEPT = frozenset(
    ["except", "except for", "excluding", "other than", "apart from", "aside from", "with the exception of", "but for"]
)
_NO_MORE = frozenset(["longer", "more", "later", "less"])
_NOBODY = frozenset(["nobody", "nothing", "no one", "none", "noone"])
_BUT = frozenset(["but", "except", "except for", "other than", "besides"])
_VERBS = frozenset(["must", "may", "can", "will", "be", "have", "shall", "should", "have to", "need", "need to", "do"])
_BEYOND = frozenset(["exceed", "超过", "高于", "多于", "低于", "少于", "大于", "小于", "超"])
_COMPARED = frozenset(
    ["larger", "bigger", "longer", "higher", "greater", "older", "heavier", "more", "less", "fewer", "smaller", "shorter", "lower",
     "younger", "farther", "further", "faster", "wider", "deeper", "closer", "nearer", "slower", "narrower", "large", "big", "long", "high", "great", "old", "heavy", "small", "short", "low", "young", "light",
     "colder", "cold", "warmer", "warm", "hotter", "hot", "taller", "tall", "cheaper", "cheap", "wide", "deep", "lighter", "thicker", "thick", "thinner", "thin"]
)  # fmt: skip
_BEFORE_BUT = frozenset(
    [
        "all",
        "every",
        "each",
        "any",
        "everyone",
        "everybody",
        "everything",
        "anyone",
        "anything",
        "nobody",
        "nothing",
        "no one",
    ]
)
_IDIOMS = frozenset(
    [
        "hesitate",
        "worry",
        "forget",
        "mind",
        "doubt",
        "problem",
        "wonder",
        "matter",
        "necessarily",
        "only",
        "just",
        "later",
        "longer",
    ]
)
_PREFIXES = ("non-", "non", "un", "in", "im", "ir", "il", "dis")
_ZH_MARKS = (
    "不",
    "没有",
    "没",
    "未",
    "无",
    "非",
    "勿",
    "别",
    "莫",
    "请勿",
    "尚未",
    "还没",
    "从未",
    "从不",
    "绝不",
    "并非",
    "毫无",
    "仍未",
)
_NOT_WORTH = frozenset(["用不着", "犯不着", "犯不上"])
RHETORICAL = frozenset(["哪能", "岂能", "怎能", "怎么能", "哪里能", "哪会", "岂会", "哪用", "何必", "何须"])  # 哪能放？
_ZH_HARMLESS = frozenset(
    [
        "不同",
        "不过",
        "不仅",
        "不但",
        "不久",
        "不断",
        "不错",
        "不管",
        "不论",
        "不少",
        "不妨",
        "不好意思",
        "不超过",
        "不少于",
        "不低于",
        "不高于",
        "不多于",
        "不足",
        "不到",
        "不满",
        "不大于",
        "不小于",
        "不得超过",
        "不迟于",
        "不迟",
        "不晚",
        "不早",
        "不晚于",
        "不早于",
        "未来",
        "无线",
        "无数",
        "无论",
        "没关系",
        "没问题",
        "没错",
        "非常",
        "非洲",
        "别的",
        "别人",
        "别墅",
        "非处方",
        "无人机",
        "未婚",
        "无限",
        "无害",
        "不一致",
        "不一样",
        "非工作日",
        "不限",
        "未成年人",
        "不可抗力",
        "无障碍",
        "无烟",
        "不如",
        "不及",
        "不变",
        "没变",
    ]
)
_ZH_LEXICAL = MappingProxyType(
    {
        "禁止": "允许 可以", "严禁": "允许 可以", "禁": "允许 可以", "拒绝": "接受 同意", "驳回": "批准 通过", "否决": "通过", "失败": "成功",
        "停止": "继续", "缺货": "有货", "售罄": "有货", "售完": "有货 下单", "断货": "有货", "卖完": "有货", "取消": "举行", "关门": "营业", "打烊": "营业", "停业": "营业",
        "闭馆": "开放", "关闭": "打开 开放", "休息": "营业", "除外": "包括", "除了": "包括", "除": "包括", "排除": "包括", "拒": "接受",
        "另计": "包括 含 包含", "另算": "包括 含 包含", "待定": "定 确定 决定",
        "逾期": "按期 按时 准时 如期", "超期": "按期 按时 准时 如期", "误期": "按期 按时 准时 如期", "空腹": "吃东西 进食", "禁食": "吃东西 进食",
        "禁用": "用 使用 允许", "忌用": "用 使用 允许", "禁入": "入 进 入内 进入 允许", "禁停": "停 停车 允许", "禁烟": "抽烟 吸烟 允许", "不足": "足够 充足 够 充分", "不够": "足够 充足 够 充分",
        "免费": "收费 付费 买", "减免": "收 扣 交 付", "免": "收 买 付 交", "免除": "收取", "过期": "有效", "失效": "有效", "作废": "有效", "自愿": "必须", "可选": "必须", "晚点": "准时", "延误": "准时",
        "暂停": "继续", "停用": "启用", "缺席": "出席", "拖欠": "付清", "歇业": "营业", "无效": "有效 接受",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)  # one per text
class Polarity:
    """The negations of a text, and the words that deny by themselves and are denied again ("not cancelled")."""

    denials: tuple[Denial, ...]
    undone: frozenset[int]

    @cached_property
    def denied(self) -> frozenset[int]:
        """Words in reach of a negation."""
        return frozenset(i for denial in self.denials for i in denial.reach)


@remembered
def polarity(text: Text) -> Polarity:
    """The negations of a text; two that cancel out ("not impossible") are left out."""
    kept: list[Denial] = []
    undone: set[int] = set()
    for denial in _apart(list(_found(text))):
        if kept and denial.lexical and not kept[-1].lexical and _next_to(kept[-1], denial, text.words):
            kept.pop()
            undone.add(denial.at)
        elif kept and not denial.lexical and not kept[-1].lexical and _twice(kept[-1], denial, text.words):
            kept.pop()
        else:
            kept.append(denial)
    return Polarity(denials=tuple(kept), undone=frozenset(undone))


def _apart(found: list[Denial]) -> Iterator[Denial]:
    """Each explicit denial reaches as far as the next one: "not shared without consent"."""
    starts = [denial.at for denial in found if not denial.lexical]
    for denial in found:
        following = next((at for at in starts if at > denial.at), None)
        near = tuple(i for i in denial.reach if following is None or i < following)
        yield denial._replace(reach=near) if near else denial


def _next_to(one: Denial, other: Denial, words: Sequence[Word]) -> bool:
    between = [w for w in words[one.at + 1 : other.at] if w.lemma not in ("longer", "long", "anymore")]
    if words[one.at].clause != words[other.at].clause or _could_not(one, other, words):
        return False
    if _none(one.at, words) and between and between[-1].lemma == "be" and words[other.at].text.casefold() != "free":
        return len(between) < 5  # "no data was lost"
    if words[one.at].text.casefold() == "not" and other.bases and affix_base(words[other.at].text.casefold()):
        between = [w for w in between if w.lemma not in _TAKING]  # "does not accept unstamped forms"
    return not any(w.content for w in between) and len(between) < 4


def _none(at: int, words: Sequence[Word]) -> bool:
    """Whether a negation counts none of what follows: "no order", "not one order"."""
    if words[at].text.casefold() == "not":
        return any(w.text.casefold() in ("one", "a", "single") for w in words[at + 1 : at + 2])
    return words[at].text.casefold() in _NO_ONE


def _could_not(one: Denial, other: Denial, words: Sequence[Word]) -> bool:
    """办不了免费卡: the negation ends its verb, and a word follows that denies something of another thing."""
    return words[one.at].text == "不" and other.at == one.at + 2 and words[one.at + 1].text in ("了", "到", "成")


_TAKING = frozenset(["accept", "take", "process", "admit", "allow", "let", "serve", "handle"])
_NO_ONE = frozenset(["no", "nobody", "no one", "nothing", "none"])


def _twice(one: Denial, other: Denial, words: Sequence[Word]) -> bool:
    """没有不, 不能不, 不是没有, "not rule out": two denials in one breath."""
    if words[other.at].lemma in ("rule out", "ruled out") and other.at - one.at <= 2:
        return True
    between = "".join(w.text for w in words[one.at + 1 : other.at])
    return not words[one.at].text.isascii() and between in (
        "",
        "是",
        "能",
        "可以",
        "可",
        "得",
        "人",
        "会",
        "哪位",
        "谁",
    )


def _found(text: Text) -> Iterator[Denial]:
    words = text.words
    clauses: dict[int, list[int]] = {}
    for at, word in enumerate(words):
        if word.content:
            clauses.setdefault(word.clause, []).append(at)
    for at, word in enumerate(words):
        bases, lexical = _negates(word, at, words)
        if bases is None:
            continue
        clause = tuple(i for i in clauses.get(word.clause, ()) if i != at or lexical)
        if clause == (at,):
            clause = _listed(words, at)
        reach = tuple(i for i in clause if i > at)
        if word.lemma in _EXCEPT or word.lemma == "but":
            stop = next((i for i in range(at + 1, len(words)) if words[i].lemma in _VERBS), len(words))
            reach = tuple(i for i in reach if i < stop)
        elif not lexical:
            only = next((i for i in reach if words[i].lemma == "only"), None) or _only_after(words, at)
            reach = tuple(i for i in reach if i < only) or reach
        if word.lemma == "nothing" and at and words[at - 1].content and not words[at - 1].fact:
            reach = (at - 1, *reach)  # "pay nothing"
        if not lexical:
            following = _continued(words, at) if not reach else ()
            reach = reach or following or tuple(i for i in clause if i < at)[-3:]
            if not reach and refers_back(words, at):
                reach = tuple(clauses.get(word.clause - 1, ()))
        if reach or clause or lexical:  # "It does not." says again what was said
            yield Denial(at, reach, clause or reach, frozenset(bases), lexical)


def _only_after(words: Sequence[Word], at: int) -> int:
    """Where an "only" ends what the denial at `at` denies: "nothing to eat and drink only water"."""
    return next((i for i in range(at + 2, len(words)) if words[i].lemma == "only"), len(words))


def _listed(words: Sequence[Word], at: int) -> tuple[int, ...]:
    """The words of a list that ends in a denial of them all: "glass, cans, knives: off limits"."""
    begin = next((i + 1 for i in range(at - 1, -1, -1) if words[i].text in ".!?;。！？；"), 0)
    return (*(i for i in range(begin, at) if words[i].content), at)


def _continued(words: Sequence[Word], at: int) -> tuple[int, ...]:
    """The next clause, where a mark follows the negation at once ("not, however, refundable")."""
    if at + 1 < len(words) and words[at + 1].text in "(\"'":
        clause = words[at + 1].clause
        return tuple(i for i, w in enumerate(words) if i > at and w.content and w.clause == clause)
    return ()


def _negates(word: Word, at: int, words: Sequence[Word]) -> tuple[Set[str] | None, bool]:
    """(what it denies by itself, whether it is a content word), or (None, False) where it negates nothing."""
    low = word.text.casefold()
    if word.mark or word.fact:
        return None, False
    if low.isascii():
        return _english(word, low, at, words)
    return _chinese(word.text, at, words)


def _no_denial(low: str, at: int, words: Sequence[Word]) -> bool:
    """Whether a word that may deny does not: "nobody but", "not by anyone but", ", but for an hour", a bus stop, "neither … nor"."""
    return (
        only_but(words, at)
        or only_but(words, at - 1)
        or ends_any_but(words, at)
        or (low in ("not", "never") and only_any_but(words, at) is not None)
        or (low == "but for" and (at == 0 or words[at - 1].mark))
        or (low == "nor" and goes_on(words, at))
        or (low.startswith("stop") and calls_at(words, at))
        or farther(low)
        or (low == "left out" and [w.text.casefold() for w in words[at + 1 : at + 2]] == ["of"])
        or (low == "far from" and far_away(words, at))
        or (low == "empty" and emptied(words, at))
        or bare_condition(words, at)
        or adds(words, at)
    )


def _english(word: Word, low: str, at: int, words: Sequence[Word]) -> tuple[Set[str] | None, bool]:
    if _no_denial(low, at, words):
        return None, False
    if low == "but" and excepting_but(words, at):
        return set(), False
    if low.endswith("free") and (free := free_of(words, at)) is not None:
        return (free, True) if free else (None, False)
    if low == "yet" and 0 < at < len(words) - 1 and words[at + 1].text.casefold() == "to":
        return (set(), False) if words[at - 1].lemma in ("have", "has", "be", "is", "are") else (None, False)
    if low in ("not", "no", "neither", "nor") and _bounds_a_value(words, at):
        return None, False
    if (
        low == "no"
        and [w.text.casefold() in _NO_MORE for w in words[at + 1 : at + 2]] == [True]
        and _ends(words, at + 2)
    ):
        return None, False  # "for an hour and no longer"
    if low == "nothing" and costs(words, at):
        return {"charge", "fee", "cost", "pay"}, True
    if low == "unable" and not {w.lemma.split(" ")[0] for w in words[at + 1 : at + 3]}.isdisjoint(KNOWING):
        return {"can", "able"}, True
    if low in _EXPLICIT or word.lemma in _EXPLICIT:
        following = [w.lemma for w in words[at + 1 : at + 3]]
        if low in ("no", "not") and following and (following[0] in _IDIOMS or (at == 0 and words[at + 1].mark)):
            return None, False
        return set(), False
    for name in (low, NOUNS.get(word.lemma, word.lemma)):
        if name in _LEXICAL:
            return set(_LEXICAL[name].split()) | ({name} if not _LEXICAL[name] else set()), True
    base = affix_base(low) or affix_base(word.lemma)
    return ({base}, True) if base else (None, False)


def _ends(words: Sequence[Word], at: int) -> bool:
    return at >= len(words) or words[at].mark


def _bounds_a_value(words: Sequence[Word], at: int) -> bool:
    """ "may not be larger than 25 MB", 不能超过25MB: a limit, told by the bound of the value."""
    near = [w for w in words[at + 1 : at + 5] if w.lemma != "be"]
    compared = len(near) > 1 and near[0].lemma in _COMPARED and near[1].lemma == "than"
    passed = bool(near) and (
        near[0].lemma in _BEYOND
        or (near[0].lemma == "yet" and len(near) > 1 and near[1].fact is not None)
        or near[0].text.startswith(
            (
                "满",
                "到",
                "足",
                "够",
                "大过",
                "高过",
                "长过",
                "重过",
                "多过",
                "超过",
                "高于",
                "多于",
                "低于",
                "少于",
                "大于",
                "小于",
            )
        )
    )
    return (compared or passed) and any(w.fact and w.fact.bound for w in words[at + 1 : at + 8])


def only_but(words: Sequence[Word], at: int) -> bool:
    """Whether "nobody but" stands at `at`, which is "only"."""
    if not 0 <= at < len(words) - 1 or words[at].text.casefold() not in _NOBODY:
        return False
    return words[at + 1].text.casefold() in _BUT


def excepting_but(words: Sequence[Word], at: int) -> bool:
    """Whether the "but" at `at` means "except": "all days but Monday"."""
    near = words[max(0, at - 3) : at]
    return (
        bool(near)
        and not near[-1].mark
        and any(w.lemma in _BEFORE_BUT or (w.fact and w.fact.kind is Kind.RATE) for w in near)
    )


@lru_cache(maxsize=8192)
def affix_base(word: str) -> str:
    """What a word with a negative affix denies: "non-refundable" denies "refundable"; "" for other words."""
    known = lexicon("en")
    if word in ("unless", "until", "under", "understand"):
        return ""
    for prefix in _PREFIXES:
        base = word.removeprefix(prefix)
        if base != word and len(base) > 3 and _is_word(base, known):
            if word in NOT_NEGATIVE:
                return ""
            if prefix == "un" and base.endswith(("ed", "able", "ing", "en")):
                return base
            coined = word not in known.words and known.lemma(word) not in known.words
            if (
                prefix.startswith("non")
                or coined
                or known.opposed(word, base)
                or known.opposed(known.lemma(word), known.lemma(base))
            ):
                return base
    if (
        word.endswith("less")
        and len(word) > 6
        and _is_word(word[:-4], known)
        and word not in ("unless", "regardless", "nevertheless", "contactless", "wireless", "cordless", "paperless")
    ):
        return word[:-4]
    return ""


def _is_word(form: str, known: Lexicon) -> bool:
    return form in known.words or form in known.groups or known.lemma(form) in known.words


_SHORT_OF = frozenset(["没过", "未过", "没到", "未到", "没满", "没超过", "未超过"])


def _chinese(text: str, at: int, words: Sequence[Word]) -> tuple[set[str] | None, bool]:
    if text in RHETORICAL or text in _NOT_WORTH:
        return set(), False
    if text in _SHORT_OF and any(w.fact and w.fact.bound for w in words[at + 1 : at + 2]):
        return None, False
    if text in ("不足", "不够") and any(w.fact for w in words[at + 1 : at + 2]):
        return None, False
    if text in _ZH_LEXICAL:
        return set(_ZH_LEXICAL[text].split()), True
    if text == "不到" and at > 0 and not words[at - 1].mark and not any(w.fact for w in words[at + 1 : at + 2]):
        return set(), False  # 买不到, not 不到三天
    if text in _ZH_HARMLESS or not text.startswith(_ZH_MARKS):
        return None, False
    if _bounds_a_value(words, at):
        return None, False
    if any(text + w.text in _ZH_HARMLESS for w in words[at + 1 : at + 2]):
        return None, False
    mark = next(m for m in _ZH_MARKS if text.startswith(m))
    if 0 < at < len(words) - 1 and mark in ("不", "没") and words[at - 1].text[-1:] == words[at + 1].text[:1]:
        return None, False  # 是不是
    rest = text[len(mark) :]
    return ({rest} if rest else set()), False
