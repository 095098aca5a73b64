"""Labelled answers made by the generator of perturbations, apart from the hand-written ones: the set `generated`.

It measures the verdict and tests it. Nothing that ships was fitted to it: the fit commands were given hand-written
rows alone, and read this set only where its name is among their arguments. Its table was looked at, though, and a rule
came of that (docs/design/verdict.md); `generated_fresh` is made of references that no other set has, with another seed.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness.fidelity.case import Case, Label
from harness.fidelity.labelled import Labelled
from harness.fidelity.perturb_lies import lies
from harness.fidelity.perturb_truths import paraphrases

NAME, FRESH = "generated", "generated_fresh"
SEED, FRESH_SEED = 11, 230


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


def references(path: Path) -> list[Labelled]:
    """Lines of id, lang and reference, each as a faithful answer to itself."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    cases = [
        Case(id=row["id"], lang=row["lang"], reference=row["reference"], candidate=row["reference"]) for row in rows
    ]
    return [Labelled(case=case, label=Label.FAITHFUL) for case in cases]
