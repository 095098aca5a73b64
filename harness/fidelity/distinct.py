"""Judge equal cases once: under many faults a fallback gives many requests the same answer."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.fidelity.case import Case, Judgement, Similarity

Judge = Callable[[Sequence[Case], Sequence[Similarity]], list[Judgement]]


def judge_distinct(judge: Judge, cases: Sequence[Case], similarities: Sequence[Similarity]) -> list[Judgement]:
    """What `judge` says of each case, in order; cases that differ only in their id share one judgement."""
    keys = [key_of(case) for case in cases]
    first = {key: index for index, key in reversed(list(enumerate(keys)))}
    chosen = sorted(first.values())
    judged = judge([cases[i] for i in chosen], [similarities[i] for i in chosen])
    by_key = {keys[i]: judgement for i, judgement in zip(chosen, judged, strict=True)}
    return [replace(by_key[key], id=case.id) for key, case in zip(keys, cases, strict=True)]


def key_of(case: Case) -> tuple[object, ...]:
    """Everything but the id."""
    texts = (case.reference, case.candidate, case.prompt, case.context, case.lang)
    contract = json.dumps(case.contract, sort_keys=True)
    return (*texts, case.must_keep, case.must_not, contract, case.degraded)
