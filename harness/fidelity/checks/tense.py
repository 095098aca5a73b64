"""What is done in one text and still to come, or under way, in the other; what was given up and goes on."""

from types import MappingProxyType

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.tense import Deed, Stage, base, deeds, given_up_elsewhere

NAME = "tense"
_CLASH = MappingProxyType(  # how much it tells, in [0, 1]
    {
        frozenset({Stage.DONE, Stage.TO_COME}): 1.0,
        frozenset({Stage.DONE, Stage.UNDER_WAY}): 1.0,
        frozenset({Stage.DONE, Stage.STARTED}): 1.0,
        frozenset({Stage.UNDER_WAY, Stage.TO_COME}): 1.0,
        frozenset({Stage.GIVEN_UP, Stage.HABIT}): 1.0,
        frozenset({Stage.GIVEN_UP, Stage.TO_COME}): 1.0,
    }
)

_FLAT = frozenset({Stage.DONE, Stage.TO_COME})  # stages of which texts tell many deeds


def check(both: Pair) -> list[Finding]:
    here = deeds(both.reference)
    there = here and deeds(both.candidate)
    for one in here:
        for other in there:
            severity = _CLASH.get(frozenset({one.stage, other.stage}), 0.0)
            if severity and _one_verb(one, other) and not _told(one, other, here, there):
                if Stage.GIVEN_UP in (one.stage, other.stage) and _both_given_up(both, one):
                    continue
                reason = f"“{other.text}” is {other.stage}, “{one.text}” in the reference is {one.stage}"
                return [Finding(check=NAME, severity=severity, reason=reason, certain=severity >= 1.0)]
    return []


def _one_verb(one: Deed, other: Deed) -> bool:
    if isinstance(one.verb, str) or isinstance(other.verb, str):
        return one.verb == other.verb
    soon = {one.stage, other.stage} == {Stage.UNDER_WAY, Stage.TO_COME}  # "is being held" is not "will wait"
    loose = " " in f"{one.verb.lemma}{other.verb.lemma}"  # "got to" may be reached as well as delivered
    return base(one.verb) == base(other.verb) or (not soon and not loose and alike(one.verb, other.verb))


def _told(one: Deed, other: Deed, here: tuple[Deed, ...], there: tuple[Deed, ...]) -> bool:
    return _told_there(other, here, there) or _told_there(one, there, here)


def _told_there(deed: Deed, others: tuple[Deed, ...], own: tuple[Deed, ...]) -> bool:
    """Whether the other text tells of the same at the same stage, too, or of something that only it has a verb for."""
    beside = [other for other in others if other.stage is deed.stage]
    alone = deed.stage in _FLAT and any(not any(_one_verb(other, one) for one in own) for other in beside)
    return alone or any(_one_verb(deed, other) for other in beside)


def _both_given_up(both: Pair, one: Deed) -> bool:
    return given_up_elsewhere(both.candidate if one.stage is Stage.GIVEN_UP else both.reference)
