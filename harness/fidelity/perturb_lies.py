"""Make an answer lie in one known way: what a judge has to notice. English and Chinese, pure, seeded by the caller.

It reads a text by its own simple patterns (`perturb_words.py`) and by nothing of what the judge reads with: what the
judge cannot parse is perturbed all the same. A test keeps it so.
"""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType

from harness.fidelity import perturb_words as words
from harness.fidelity.perturb_text import Perturbed, Plain, any_of, language_of, one_of, replaced
from harness.fidelity.perturb_values import identifier, number, unit

Lie = Callable[[Plain, Random], str | None]


def lies(text: str, rng: Random, lang: str | None = None) -> list[Perturbed]:
    """One lie of every kind that `text` allows, none equal to it."""
    told = Plain(text, language_of(text, lang))
    made = [(kind, make(told, rng)) for kind, make in LIES.items()]
    return [Perturbed(kind, lie) for kind, lie in made if lie is not None and lie != text]


_NO = re.compile(r"\b(?:no|nobody|none|never|neither|nothing|no one|not|cannot|only)\b|n't\b", re.IGNORECASE)
_BARE_NOT = re.compile(
    r"\b(?:(is|are|was|were|will|can|must|has|have|does|do|did|should)(?: not|n't)|(?:cannot|can't)|(?:won't))\b(?! only)",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|can|must|has been|have been|should)\b(?! not)", re.IGNORECASE)
_ZH_NOT = re.compile(
    r"(?:还|尚)没有|并?没有|不予|不得(?!不)|尚未|未(?!来|必|婚|知|成年)|"
    r"(?<![对差要])不(?!同|仅|但|久|断|到|满|足|好意思|客气|得不|便|管|论|妨|料|然|限|锈|可|少|如|在乎)"
)
_ZH_YES = MappingProxyType({"还没有": "已经", "尚没有": "已经", "没有": "有", "并没有": "确实", "尚未": "已经", "未": "已", "不予": "准予", "不得": "可以", "不": ""})  # fmt: skip
_ZH_VERB = re.compile(
    r"(?<![不没未无])(?:(?<!技术)支持|(?<!有)需要|可以|必须(?!不)|包括|包含|同意|接受|收取|提供|开放|营业|发货|到账|属于|(?<![机社大协例学聚])会(?=在|于|自动|收|发|被|提前)|"
    r"(?<![功可智性只才技])能(?=在|退|换|用|带|参加|进入)|(?<![还就但可于只总都正而要若])是(?![否不]))"
)


def _negation(told: Plain, _: Random) -> str | None:
    text = told.text
    if told.lang == "zh":
        if match := _ZH_NOT.search(text):
            done = match[0] == "没有" and re.match(".?.?[完到好成过]", text[match.end() :])
            return replaced(text, *match.span(), "已经" if done else _ZH_YES[match[0]])
        verb = _ZH_VERB.search(text)
        return replaced(text, *verb.span(), "不必" if verb[0] == "必须" else f"不{verb[0]}") if verb else None
    if match := _BARE_NOT.search(text):
        instead = match[1] or ("will" if match[0].casefold().startswith("wo") else "can")
        return replaced(text, *match.span(), instead)
    match = _AUXILIARY.search(text)
    if not match or _NO.search(text):
        return None
    first, *rest = match[0].split()
    return replaced(text, *match.span(), " ".join([first, "not", *rest]))


_OPPOSITE = re.compile(rf"\b(?:{any_of(words.OPPOSITES)})\b(?! or )", re.IGNORECASE)
_OPPOSITE_ZH = re.compile(any_of(words.OPPOSITES_ZH))


def _antonym(told: Plain, rng: Random) -> str | None:
    if told.lang == "zh":
        match = one_of(_OPPOSITE_ZH, told.text, rng)
        return replaced(told.text, *match.span(), words.OPPOSITES_ZH[match[0]]) if match else None
    match = one_of(_OPPOSITE, told.text, rng)
    if not match:
        return None
    other = words.OPPOSITES[match[0].casefold()]
    return replaced(told.text, *match.span(), other.capitalize() if match[0][0].isupper() else other)


_EXCEPTIONS = (
    (re.compile(r"\bexcept(?: for)?\b", re.I), "including"), (re.compile(r"\bexcluding\b", re.I), "including"),
    (re.compile(r"\bincluding\b", re.I), "except"), (re.compile(r"\bunless\b"), "if"),
    (re.compile(r"除(?!非|夕|此)了?([^,，。]{1,8}?)(?:之外|以外|外)?(?=[,，](?!.{0,8}[还也]))"), r"包括\1"),
)  # fmt: skip
_MODALS = (
    (re.compile(r"\bmust\b(?! not)"), "may"), (re.compile(r"\bmay\b(?! not)"), "must"),
    (re.compile("(?<!不)必须(?!不)"), "可以"), (re.compile("(?<!不)可以(?!不)"), "必须"),
)  # fmt: skip

_NOTHING = re.compile(r"\b(?:no|nothing|nobody|none|neither)\b[^.;,]*$", re.IGNORECASE)


def _exception(told: Plain, _: Random) -> str | None:
    return next((p.sub(other, told.text, count=1) for p, other in _EXCEPTIONS if p.search(told.text)), None)


def _modal(told: Plain, _: Random) -> str | None:
    """Not after "nothing" and the like: "nothing must" and "nothing may" say the same."""
    for pattern, other in _MODALS:
        match = pattern.search(told.text)
        if match and not _NOTHING.search(told.text[: match.start()]):
            return replaced(told.text, *match.span(), other)
    return None


_DAYS = "|".join((*words.WEEKDAYS, *words.MONTHS))
_NAME = re.compile(
    rf"(?:(?<=Mr\. )|(?<=Ms\. )|(?<=Dr\. )|(?<![.!?:\"] )(?<!^))\b(?!(?:{_DAYS})s?\b)[A-Z][a-z]{{2,}}\b(?! [A-Z])"
)
_NAME_ZH = re.compile(rf"{words.PLACES_ZH}|{words.TITLED_ZH}")
_VALUE = re.compile(rf"(?P<value>{words.COUNT}) ?(?P<unit>[A-Za-z%]+)|(?P<clock>\d?\d:\d\d)|(?P<day>{_DAYS})")
_VALUE_ZH = re.compile(
    r"(?P<value>\d[\d.,]*)(?P<unit>[^\W\d])|(?P<clock>\d?\d:\d\d)|(?P<day>(?<=[周期])[一二三四五六日])"
)
_JOINED = re.compile(r"\W*(?:(?:and|or|to|from|until)\b|和|与|或|及|、|至|到)?(?: (?:Mr|Ms|Dr)\.)?\W*")
_EITHER_WAY = re.compile(
    r"\b(?:meets?|met|married|with|between|together|shared?|joins?)\b|和|与|跟|同|之间|[Ff]rom .* to"
)


def _roles(told: Plain, rng: Random) -> str | None:
    """Two names or two values of one kind change places."""
    text = told.text
    if _EITHER_WAY.search(text):
        return None
    spans = [(*m.span(), "name") for m in (_NAME_ZH if told.lang == "zh" else _NAME).finditer(text)]
    for match in (_VALUE_ZH if told.lang == "zh" else _VALUE).finditer(text):
        part = match.lastgroup if match.lastgroup != "unit" else "value"
        spans.append((*match.span(part or 0), f"{part} {match['unit']}"))
    pairs = [
        (a, b) for a in spans for b in spans
        if a[1] <= b[0] and a[2] == b[2] and text[a[0] : a[1]] != text[b[0] : b[1]]
        and not _JOINED.fullmatch(text[a[1] : b[0]])
    ]  # fmt: skip
    if not pairs:
        return None
    (a0, a1, _), (b0, b1, _) = rng.choice(pairs)
    return text[:a0] + text[b0:b1] + text[a1:b0] + text[a0:a1] + text[b1:]


def _entity(told: Plain, rng: Random) -> str | None:
    """A name, a day of the week or a month becomes another, wherever it stands."""
    days = re.compile(rf"\b(?:{_DAYS})\b")
    found = [m[0] for m in (_NAME_ZH if told.lang == "zh" else _NAME).finditer(told.text)] + days.findall(told.text)
    if not found:
        return None
    name = rng.choice(found)
    names = words.NAMES_ZH if told.lang == "zh" else words.NAMES
    kinds: tuple[tuple[str, ...], ...] = (words.WEEKDAYS, words.MONTHS)
    among = next((kind for kind in kinds if name in kind), names)
    others = [one for one in among if one not in told.text]
    return told.text.replace(name, rng.choice(others)) if others else None


def _truncated(told: Plain, rng: Random) -> str | None:
    text = told.text.rstrip(" .。!！")
    ends = [m.end() for m in re.finditer(r"\w" if told.lang == "zh" else r"[\w']+", text)]
    least = 8 if told.lang == "zh" else 5
    if len(ends) < least:
        return None
    cut = ends[rng.randint(len(ends) // 2, len(ends) - least // 2) - 1]
    return text[:cut]


_CLAUSE = re.compile(r"[,;，；](?!\d)|(?<=[.!?])\s|(?<=[。！？])")
_SPARED = re.compile(  # reasons, purposes, courtesy: what an answer may leave out
    r"\W*(?:and |so )?(?:because|since|so that|to |in order|which|who|thanks?|please|sorry|for example|such as|as |due to|因为|因|由于|以便|以免|谢谢|感谢|请|例如|比如|抱歉|祝|欢迎|方便|便于|从而)",
    re.IGNORECASE,
)


def _clause(told: Plain, _: Random) -> str | None:
    """The last clause, with content of its own, is dropped."""
    text, chinese = told.text.rstrip(), told.lang == "zh"
    ends = [m for m in _CLAUSE.finditer(text) if m.end() < len(text)]
    if not ends:
        return None
    kept, lost = text[: ends[-1].start()], text[ends[-1].end() :]
    sizes = [len(re.findall(r"\w" if chinese else r"\S+", part)) for part in (kept, lost)]
    if min(sizes) < (5 if chinese else 4) or _SPARED.match(lost):
        return None
    return kept.rstrip(" ,，;；、:：.。").removesuffix(" and") + ("。" if chinese else ".")


LIES: Mapping[str, Lie] = MappingProxyType(
    {
        "number": number, "identifier": identifier, "unit": unit, "negation": _negation, "antonym": _antonym, "exception": _exception,
        "modal": _modal, "roles": _roles, "entity": _entity, "truncation": _truncated, "clause": _clause,
    }
)  # fmt: skip
