"""How many of how many places are taken: "18 of the 30 are taken" is "12 are free"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from typing import NamedTuple

from harness.fidelity.reading.fact import Fact, Kind
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

_PLACES = re.compile(
    r"\b(?:seats?|seating|places?|spots?|spaces?|rooms?|tickets?|slots?|tables?|beds?|desks?|berths?|people|copies|units)\b|名额|座|位|张|间|席|床|人|本|票",
    re.IGNORECASE,
)
_FREE = re.compile(
    r"\b(?:free|left|available|open|vacant|vacanc\w+|room for|spare|unsold|unbooked|empty|(?:can|could) (?:still )?(?:take|fit|seat|book|join)|remain\w*|up for grabs|to be had)\b|剩|空|还能|余|还有|还可|可订|还收|没人|未售|未订",
    re.IGNORECASE,
)
_TAKEN = re.compile(
    r"\b(?:taken|booked|sold|occupied|filled|reserved|full|gone|registered|enrolled|signed up|spoken for|claimed|in use|snapped up)\b|已报|报满|报名|报了|已占|占[了用]|已订|订[了满出]|已售|卖[出掉了]|售出|坐了|坐满|有人",
    re.IGNORECASE,
)
_NOT_ONE = re.compile(
    r"\b(?:not one|not a single|none|no)\b|一[个张间]?[^，。,]{0,3}(?:都|也)(?:没|不)|全[部都]?|没有?空",
    re.IGNORECASE,
)
_ALL = re.compile(r"\ball\b|全部|都", re.IGNORECASE)


class Places(NamedTuple):
    """`taken` of `total`; ids of the facts that say so."""

    taken: float
    total: float | None
    facts: frozenset[int]


@remembered
def same_places(one: Text, other: Text) -> tuple[bool, frozenset[int]] | None:
    """Whether as many places are taken in both texts, and the facts that tell of it; None where one does not tell."""
    if max(len(one.facts), len(other.facts)) > 4 or not (_counts(one) and _counts(other)):
        return None
    if not (_PLACES.search(one.plain) and _PLACES.search(other.plain)):
        return None
    here, there = _read(one), _read(other)
    if not here or not there or {s for _, s, _ in here} == {s for _, s, _ in there} == {"free"}:
        return None
    if not (_FREE.search(one.plain) or _FREE.search(other.plain)):
        return None
    total = next((t for side in (here, there) for _, _, t in side if t is not None), None)
    if total is None:
        return None
    if any(t is not None and t != total for side in (here, there) for _, _, t in side):
        return None
    taken = [{value if side == "taken" else total - value for value, side, _ in told} for told in (here, there)]
    facts = frozenset(id(f) for text in (one, other) for f in text.facts if f.kind is Kind.NUMBER)
    return bool(taken[0] & taken[1]), facts


@remembered
def _read(text: Text) -> tuple[tuple[float, str, float | None], ...]:
    """(count, "taken" or "free", how many there are in all) per count that a text tells."""
    counts = _counts(text)
    if not counts:
        return ()
    total = max(float(str(f.value)) for f in counts)
    several = len({f.value for f in counts}) > 1
    told = [(float(str(f.value)), side) for f in counts if (side := _side(f, text, counts))]
    told = [(value, side) for value, side in told if value < total] if several else told
    if several:
        return tuple((value, side, total) for value, side in told)
    if _NOT_ONE.search(text.plain) and _FREE.search(text.plain):
        return ((total, "taken", total),)
    if _ALL.search(text.plain) and told:
        return tuple((value, side, total) for value, side in told)
    return tuple((value, side, None) for value, side in told)


def _counts(text: Text) -> list[Fact]:
    return [f for f in text.facts if f.kind is Kind.NUMBER and isinstance(f.value, float) and f.value > 0]


def _side(fact: Fact, text: Text, counts: list[Fact]) -> str:
    """What the words nearest to a count say of it, up to the next count that is not "of" it; "" where nothing does."""
    before = max((f.end for f in counts if f.end <= fact.start), default=0)
    after = text.plain[fact.end :]
    follows = next((f for f in counts if f.start >= fact.end), None)
    if follows is not None and not re.match(r"\s*(?:of|out of|/)\b", after):
        after = text.plain[fact.end : follows.start]
    near = [
        (abs(match.start() - len(part)) if back else match.start(), name)
        for part, back in ((text.plain[before : fact.start], True), (after, False))
        for name, pattern in (("free", _FREE), ("taken", _TAKEN))
        for match in pattern.finditer(part)
    ]
    return min(near)[1] if near else ""
