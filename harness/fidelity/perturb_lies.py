"""Make an answer lie in one known way: what a judge has to notice. English and Chinese, pure, seeded by the caller."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.reversal import named
from harness.fidelity.reading.text import Text, read


class Perturbed(NamedTuple):
    """A changed text and how it was changed."""

    kind: str
    text: str


Lie = Callable[[Text, Random], str | None]
_DIGITS = re.compile(r"\d+")
_UNITS = MappingProxyType(
    {"minutes": "hours", "hours": "days", "days": "weeks", "weeks": "months", "months": "years", "kg": "g", "km": "m", "USD": "EUR",
     "EUR": "GBP", "dollars": "cents", "percent": "points", "GB": "MB", "metres": "miles", "分钟": "小时", "小时": "天", "天": "周", "周": "个月",
     "元": "美元", "公斤": "克", "公里": "米", "年": "个月", "米": "公里"}
)  # fmt: skip
_MEASURED = frozenset({Kind.DURATION, Kind.MEASURE, Kind.MONEY, Kind.PERCENT})
_NO = re.compile(r"\b(?:no|nobody|none|never|neither|nothing|no one)\b", re.IGNORECASE)
_BARE_NOT = re.compile(
    r"\b(is|are|was|were|will|can|must|may|has|have|does|do|did|should)( not|n't)\b|\bcannot\b", re.IGNORECASE
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|can|must|has been|have been|should)\b(?! not)", re.IGNORECASE)
_ZH_NOT = re.compile(r"没有|不(?!同|过|仅|但|久|断|足|到|满|少|超)|未(?!来)|尚未")
_ZH_VERB = re.compile(r"(支持|需要|可以|包括|包含|同意|通过|接受|收取|发货|到账|营业|开放|参加|提供|能|会|有)(?!没)")
_EXCEPTIONS = (
    (re.compile(r"\bexcept(?: for)?\b", re.I), "including"), (re.compile(r"\bexcluding\b", re.I), "including"),
    (re.compile(r"\bincluding\b", re.I), "except"), (re.compile(r"除(?:了)?([^,，。]{1,8}?)(?:之外|以外|外)?(?=[,，])"), r"包括\1"),
)  # fmt: skip
_MODALS = (
    (re.compile(r"\bmust\b"), "may"),
    (re.compile(r"\bmay\b"), "must"),
    (re.compile("必须"), "可以"),
    (re.compile("可以"), "必须"),
)
_NAMES = ("Berlin", "Olsen", "Nakamura", "Toledo", "Marta")
_NAMES_ZH = ("青岛", "长沙", "昆明", "厦门")


def lies(text: str, rng: Random, lang: str | None = None) -> list[Perturbed]:
    """One lie of every kind that `text` allows, none equal to it."""
    told = read(text, lang)
    made = [(kind, make(told, rng)) for kind, make in LIES.items()]
    return [Perturbed(kind, lie) for kind, lie in made if lie is not None and lie != told.plain]


def _replaced(text: Text, start: int, end: int, instead: str) -> str:
    return text.plain[:start] + instead + text.plain[end:]


def _number(text: Text, rng: Random) -> str | None:
    found = [
        m for f in text.facts if f.kind is not Kind.IDENTIFIER for m in _DIGITS.finditer(text.plain, f.start, f.end)
    ]
    if not found:
        return None
    match = rng.choice(found)
    changed = str(int(match[0]) + rng.choice((1, 2, 10, 20))) if len(match[0]) < 9 else match[0][::-1]
    return _replaced(text, *match.span(), changed.zfill(len(match[0])))


def _identifier(text: Text, rng: Random) -> str | None:
    codes = [f for f in text.facts if f.kind is Kind.IDENTIFIER and _DIGITS.search(f.text)]
    if not codes:
        return None
    fact = rng.choice(codes)
    match = list(_DIGITS.finditer(text.plain, fact.start, fact.end))[-1]
    last = (int(match[0][-1]) + rng.randint(1, 9)) % 10
    return _replaced(text, match.end() - 1, match.end(), str(last))


def _unit(text: Text, rng: Random) -> str | None:
    for fact in rng.sample(text.facts, len(text.facts)):
        if fact.kind not in _MEASURED:
            continue
        for name, other in _UNITS.items():
            if fact.text.endswith(name):
                return _replaced(text, fact.end - len(name), fact.end, other)
    return None


def _negation(text: Text, _: Random) -> str | None:
    plain = text.plain
    if text.lang == "zh":
        match = _ZH_NOT.search(plain)
        if match:
            return _replaced(text, *match.span(), "")
        match = _ZH_VERB.search(plain)
        return None if not match else _replaced(text, match.start(), match.start(), "没" if match[0] == "有" else "不")
    match = _BARE_NOT.search(plain)
    if match:
        return _replaced(text, *match.span(), match[1] or "can")
    match = _AUXILIARY.search(plain)
    if not match or _NO.search(plain):
        return None
    first, *rest = match[0].split()
    return _replaced(text, *match.span(), " ".join([first, "not", *rest]))


def _antonym(text: Text, rng: Random) -> str | None:
    words = lexicon(text.lang)
    for word in rng.sample(text.words, len(text.words)):
        form = word.text.casefold()
        hand_made = sorted(o for o in words.antonyms.get(form, ()) if o in words.groups and " " not in o and len(o) > 1)
        if word.content and not word.fact and hand_made and text.plain.startswith(word.text, word.start):
            return _replaced(text, word.start, word.start + len(word.text), rng.choice(hand_made))
    return None


def _exception(text: Text, _: Random) -> str | None:
    for pattern, instead in _EXCEPTIONS:
        changed = pattern.sub(instead, text.plain, count=1)
        if changed != text.plain:
            return changed
    return None


def _modal(text: Text, _: Random) -> str | None:
    return next((p.sub(other, text.plain, count=1) for p, other in _MODALS if p.search(text.plain)), None)


def _roles(text: Text, rng: Random) -> str | None:
    """Two names or two values of one kind change places."""
    spans = [(w.start, w.start + len(w.text), "name") for w in text.words if named(w)]
    spans += [(f.start, f.end, f"{f.kind}{f.unit}") for f in text.facts]
    pairs = [
        (a, b) for a in spans for b in spans
        if a[0] < b[0] and a[1] < b[0] and a[2] == b[2] and text.plain[a[0] : a[1]] != text.plain[b[0] : b[1]]
        and not re.fullmatch(r"\s*(?:and|or|,|和|与|、|to|-|至|到)?\s*", text.plain[a[1] : b[0]])
    ]  # fmt: skip
    if not pairs:
        return None
    (a0, a1, _), (b0, b1, _) = rng.choice(pairs)
    plain = text.plain
    return plain[:a0] + plain[b0:b1] + plain[a1:b0] + plain[a0:a1] + plain[b1:]


def _entity(text: Text, rng: Random) -> str | None:
    known = [w for w in text.words if named(w) and w.start > 0]
    if not known:
        return None
    word = rng.choice(known)
    others = [n for n in (_NAMES_ZH if text.lang == "zh" else _NAMES) if n not in text.plain]
    return _replaced(text, word.start, word.start + len(word.text), rng.choice(others)) if others else None


def _truncated(text: Text, rng: Random) -> str | None:
    words = [w for w in text.words if not w.mark]
    if len(words) < 5:
        return None
    return text.plain[: words[rng.randint(len(words) // 2, len(words) - 2)].start].rstrip(" ,，")


def _clause(text: Text, _: Random) -> str | None:
    """The last clause, with content of its own, is dropped."""
    last = text.words[-1].clause if text.words else 0
    start = next((w.start for w in text.words if w.clause == last and not w.mark), 0)
    kept = [w for w in text.words if w.clause < last and w.content]
    lost = [w for w in text.words if w.clause == last and w.content]
    if len(kept) < 2 or len(lost) < 2:
        return None
    return text.plain[:start].rstrip(" ,，;；、:：").removesuffix(" and") + ("。" if text.lang == "zh" else ".")


LIES: Mapping[str, Lie] = MappingProxyType(
    {
        "number": _number, "identifier": _identifier, "unit": _unit, "negation": _negation, "antonym": _antonym, "exception": _exception,
        "modal": _modal, "roles": _roles, "entity": _entity, "truncation": _truncated, "clause": _clause,
    }
)  # fmt: skip
