"""Labelled answers made by the generator of perturbations, apart from the hand-written ones.

`generated` measures the verdict on references with one change, `generated_fresh` on references that no other set has,
`generated_rewordings` on honest rewordings with one change. Nothing that ships was fitted to any of them; what was
looked at, and what came of it, docs/design/verdict.md tells.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from harness.fidelity.case import Case, Label
from harness.fidelity.labelled import Labelled
from harness.fidelity.perturb_lies import lies
from harness.fidelity.perturb_text import Perturbed
from harness.fidelity.perturb_truths import paraphrases

NAME, FRESH, REWORDED = "generated", "generated_fresh", "generated_rewordings"
SEED, FRESH_SEED = 11, 230
REWORDING = "rewording"  # the kind of what was not changed
_LOST = frozenset({"truncation", "clause"})


def generated(rows: Sequence[Labelled], split: str, seed: int = SEED) -> Iterator[Labelled]:
    """A lie and a rewording of every kind that each distinct reference of `rows` allows. Deterministic."""
    rng = Random(seed)
    references = dict.fromkeys((row.case.reference, row.case.lang) for row in rows)
    for number, (reference, lang) in enumerate(references):
        made = [(one, Label.MISLEADING) for one in lies(reference, rng, lang)]
        made += [(one, Label.FAITHFUL) for one in paraphrases(reference, lang)]
        for one, label in made:
            case = Case(
                id=f"{split}-{number:03}-{label}-{one.kind}", reference=reference, candidate=one.text, lang=lang
            )
            yield Labelled(case=case, label=label, mode=one.kind, split=split)


def rewordings(rows: Sequence[Labelled], split: str, seed: int = SEED) -> Iterator[Labelled]:
    """Each honest rewording of `rows`, and a lie of every kind that its own words allow. Deterministic."""
    rng = Random(seed)
    for number, row in enumerate(rows):
        if not _is_reworded(row):
            continue
        made = [(one.kind, one.text, Label.MISLEADING) for one in _lies_of(row, rng)]
        for kind, text, label in ((REWORDING, row.case.candidate, Label.FAITHFUL), *made):
            case = replace(row.case, id=f"{split}-{number:04}-{kind}", candidate=text)
            yield Labelled(case=case, label=label, mode=kind, split=split)


def _is_reworded(row: Labelled) -> bool:
    return row.label is Label.FAITHFUL and row.case.candidate.strip() != row.case.reference.strip()


def _lies_of(row: Labelled, rng: Random) -> list[Perturbed]:
    """Of an honest rewording's own words; what is only cut or lacks a clause may have been said twice."""
    made = lies(row.case.candidate.strip(), rng, row.case.lang)
    return [one for one in made if one.kind not in _LOST and one.text.strip() != row.case.reference.strip()]


def references(path: Path) -> list[Labelled]:
    """Lines of id, lang and reference, each as a faithful answer to itself."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    cases = [
        Case(id=row["id"], lang=row["lang"], reference=row["reference"], candidate=row["reference"]) for row in rows
    ]
    return [Labelled(case=case, label=Label.FAITHFUL) for case in cases]
