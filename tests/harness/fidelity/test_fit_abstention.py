"""What tells an abstention can be fitted anew, and nothing else changes with it."""

from pathlib import Path

import pytest

from harness.fidelity.case import Case, Label
from harness.fidelity.cross_encoder import LARGE, adapter_of, probabilities, with_adapter
from harness.fidelity.fit_abstention import EVERY, chosen, fit, looked_at, write_head
from harness.fidelity.labelled import Labelled

REFERENCE = "The hire car has to be returned with a full tank by Friday."


def row(candidate: str, label: Label, split: str = "") -> Labelled:
    case = Case(id=candidate, reference=REFERENCE, candidate=candidate, degraded=True)
    return Labelled(case=case, label=label, split=split)


def test_test_rows_are_not_learned_from() -> None:
    plain = [row(f"Keep it until day {i}.", Label.MISLEADING) for i in range(2 * EVERY)]
    sorry = row("Sorry, not now.", Label.ABSTAINED)
    split = [row(f"{name} row", Label.ABSTAINED, name) for name in ("train", "dev", "test")]
    assert chosen([*plain, sorry, *split]) == [sorry, plain[0], plain[EVERY], *split[:2]]


@pytest.mark.slow
@pytest.mark.models
def test_an_abstention_in_a_new_wording_is_learned_and_what_tells_a_lie_stays(tmp_path: Path) -> None:
    reader = with_adapter(LARGE, adapter_of(LARGE))
    new = row("Cars are a riddle to the likes of me, so the desk downstairs is where to ask.", Label.ABSTAINED, "train")
    lies = [row("Keep the car until Sunday.", Label.MISLEADING), row("An empty tank will do.", Label.MISLEADING)]
    pairs = [(one.case.reference, one.case.candidate) for one in (new, *lies)]
    before = probabilities(reader, pairs)
    fit(*looked_at(reader, [new, *lies]), reader)
    write_head(adapter_of(LARGE), tmp_path / "new", reader)
    after = probabilities(with_adapter(LARGE, tmp_path / "new"), pairs)
    told = [(one, other) for one, other in zip(before, after, strict=True) if one is not None and other is not None]
    assert len(told) == len(pairs)
    assert told[0][1][1] > max(0.5, told[0][0][1])
    assert max(other[1] for _, other in told[1:]) < 0.5
    assert [other[0] for _, other in told] == pytest.approx([one[0] for one, _ in told], abs=2e-3)
