"""Measure judges on labelled answers: ours beside BERTScore F1, the cosine and the composite score.

How it is counted, of every judge alike: a lie is accepted unless it is called misleading (a lie called abstained is
accepted), a truth is rejected unless it is called faithful (a truth called abstained is rejected), and an abstention is
recognised when it is called abstained. A mere score knows two labels: what reaches its floor is faithful, the rest
misleading.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.case import Judgement, Label, Similarity
from harness.fidelity.checks.catalogue import CHECKS
from harness.fidelity.clustered import Range, auroc, share
from harness.fidelity.cross_encoder import NAME as CROSS_ENCODER
from harness.fidelity.labelled import Labelled
from harness.fidelity.reading.text import language
from harness.fidelity.risk import shipped_model
from harness.fidelity.verdict import Seen, decide

FLOORS = MappingProxyType(
    {"bertscore_f1": 0.72, "cosine": 0.72, "composite": 0.82}
)  # scores from which answers pass today
NAMES = MappingProxyType(  # as people read them
    {"truefall": "this verdict", "bertscore_f1": "BERTScore F1", "cosine": "cosine", "composite": "composite"}
)
ALL, ABSTENTION = "all checks", "abstention"
ALL_ROWS = "all"  # the group that holds every row
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How one judge did on one group of rows. A share of nothing is None."""

    judge: str
    group: str  # "all", a language, or a mode
    n_misleading: int
    n_faithful: int
    n_abstained: int
    auroc: Range | None  # misleading against faithful
    accepted: Range | None  # share of the misleading not called misleading
    rejected: Range | None  # share of the faithful not called faithful
    recognised: Range | None  # share of the abstentions called abstained; None for a mere score


class Verdicts(NamedTuple):
    """What one judge says of each row: a risk that orders them, and what it calls the answer."""

    risk: Floats  # float64[rows]; infinite where not measured
    called: NDArray[np.str_]  # values of `Label`
    abstains: bool  # whether it can call an answer abstained


def measure(rows: Sequence[Labelled], judges: Mapping[str, Verdicts]) -> list[Measured]:
    """Every judge on all rows, on each language and on each mode that holds misleading answers."""
    groups: dict[str, list[int]] = {ALL_ROWS: list(range(len(rows)))}
    for lang, members in _by(map(language_of, rows)).items():
        groups[lang] = members
    modes = _by(row.mode for row in rows)
    pooled = [i for i, row in enumerate(rows) if row.label is Label.FAITHFUL]
    for mode, members in modes.items():
        own = [i for i in members if rows[i].label is Label.FAITHFUL]
        others = [i for i in members if rows[i].label is not Label.FAITHFUL]
        if others:  # a mode without faithful answers of its own is held against all of them
            groups[apart(mode, groups)] = [*others, *(own or pooled)]
    return [
        _measured(name, group, rows, members, said)
        for group, members in groups.items()
        for name, said in judges.items()
    ]


def language_of(row: Labelled) -> str:
    """As given, else as the verdict detects it; "" where the reference has no letters."""
    return row.case.lang or language(row.case.reference) or ""


def apart(mode: str, groups: Collection[str]) -> str:
    """The name of a mode's group, which may be that of no other: a mode may be called as a language is."""
    while mode in groups:
        mode = f"mode {mode}"
    return mode


def _by(names: Iterable[str]) -> dict[str, list[int]]:
    """The places of each name that is not blank, in the order of their first."""
    found: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        if name:
            found.setdefault(name, []).append(i)
    return found


def _measured(name: str, group: str, rows: Sequence[Labelled], members: Sequence[int], said: Verdicts) -> Measured:
    at = {label: np.array([i for i in members if rows[i].label is label], dtype=np.int64) for label in Label}
    lies, truths, none = at[Label.MISLEADING], at[Label.FAITHFUL], at[Label.ABSTAINED]
    whose = {label: [rows[i].case.reference for i in found] for label, found in at.items()}
    of_lies, of_truths, of_none = whose[Label.MISLEADING], whose[Label.FAITHFUL], whose[Label.ABSTAINED]
    return Measured(
        judge=name,
        group=group,
        n_misleading=len(lies),
        n_faithful=len(truths),
        n_abstained=len(none),
        auroc=auroc(said.risk[lies], said.risk[truths], of_lies, of_truths),
        accepted=share(said.called[lies] != Label.MISLEADING.value, of_lies),
        rejected=share(said.called[truths] != Label.FAITHFUL.value, of_truths),
        recognised=share(said.called[none] == Label.ABSTAINED.value, of_none) if said.abstains else None,
    )


def by_score(similarities: Sequence[Similarity], name: str) -> Verdicts:
    """The judge that calls faithful whatever scores at least its floor; what was not measured is misleading."""
    scores = [getattr(similarity, name) for similarity in similarities]
    risk = np.array([np.inf if score is None else 1.0 - score for score in scores])
    passes = risk <= 1.0 - FLOORS[name] + 1e-12
    return Verdicts(risk, np.where(passes, Label.FAITHFUL.value, Label.MISLEADING.value), abstains=False)


def by_verdict(judgements: Sequence[Judgement]) -> Verdicts:
    """Our own verdict."""
    risks, labels = np.array([j.risk for j in judgements]), np.array([j.label.value for j in judgements])
    return Verdicts(risks, labels, abstains=True)


def judges_of(similarities: Sequence[Similarity], judgements: Sequence[Judgement]) -> dict[str, Verdicts]:
    """The three scores and our verdict on the same rows."""
    scores = {name: by_score(similarities, name) for name in FLOORS}
    return scores | {"truefall": by_verdict(judgements)}


def ablated(seen: Sequence[Seen], similarities: Sequence[Similarity]) -> dict[str, Verdicts]:
    """Our verdict with one check left out at a time, with all of them first."""
    model = shipped_model()

    def verdicts(without: frozenset[str]) -> Verdicts:
        return by_verdict([decide(s, m, model=model, without=without) for s, m in zip(seen, similarities, strict=True)])

    return {ALL: verdicts(frozenset())} | {
        name: verdicts(frozenset({name})) for name in (*CHECKS, ABSTENTION, CROSS_ENCODER)
    }


def plain(found: Measured, name: str) -> dict[str, Any]:
    """One row of a table, of the set `name`. A figure is value, low, high; None where there is nothing to measure."""

    def figure(one: Range | None) -> list[float] | None:
        return None if one is None else [round(float(part), 4) for part in one]

    return {
        "set": name,
        "group": found.group,
        "judge": found.judge,
        "lies": found.n_misleading,
        "truths": found.n_faithful,
        "abstentions": found.n_abstained,
        "auroc": figure(found.auroc),
        "accepted": figure(found.accepted),
        "rejected": figure(found.rejected),
        "recognised": figure(found.recognised),
    }
