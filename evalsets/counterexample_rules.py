"""What can be wrong with a counterexample although it loads: too easy, not paired, wrong language, unbalanced."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from evalsets.counterexample import Counterexample
from evalsets.item_rules import Complaint
from evalsets.wording import words, wrong_language

_MOST_ALIKE = 0.9  # a faithful answer more alike the reference than this tests nothing
_MOST_WORDS = 90


def counterexample_complaints(case: Counterexample) -> list[Complaint]:
    """Every rule that this one counterexample breaks."""
    rules = (_paired_form, _paraphrase, _language, _lengths)
    return [found for rule in rules for found in rule(case)]


def unbalanced(cases: Sequence[Counterexample]) -> list[Complaint]:
    """Cells of mode and language whose dev and test halves differ by more than one."""
    counts = Counter((case.mode, case.lang, case.split) for case in cases)
    cells = sorted({(case.mode, case.lang) for case in cases})
    halves = [(cell, counts[(*cell, "dev")], counts[(*cell, "test")]) for cell in cells]
    return [
        Complaint("balance", f"{mode} in {lang}: {dev} in dev, {test} in test; they may differ by one")
        for (mode, lang), dev, test in halves
        if abs(dev - test) > 1
    ]


def likeness(one: str, other: str) -> float:
    """How alike two texts are on the surface, in [0, 1]: matching words in order over all words."""
    return SequenceMatcher(None, words(one), words(other), autojunk=False).ratio()


def is_hard(case: Counterexample) -> bool:
    """Whether the collapsed answer is at least as alike the reference as the faithful one is."""
    return likeness(case.reference, case.collapsed) >= likeness(case.reference, case.faithful)


def _paired_form(case: Counterexample) -> Iterator[Complaint]:
    forms = {name: _is_json(getattr(case, name)) for name in ("reference", "collapsed", "faithful")}
    if len(set(forms.values())) > 1:
        yield Complaint("form", f"some answers are JSON and some are not: {forms}")


def _paraphrase(case: Counterexample) -> Iterator[Complaint]:
    alike = likeness(case.reference, case.faithful)
    if alike > _MOST_ALIKE and not _is_json(case.reference):
        yield Complaint("paraphrase", f"the faithful answer is {alike:.2f} alike the reference; at most {_MOST_ALIKE}")


def _language(case: Counterexample) -> Iterator[Complaint]:
    for name in ("reference", "collapsed", "faithful"):
        wrong = wrong_language(getattr(case, name), case.lang)
        if wrong and not _is_json(case.reference):
            yield Complaint("language", f"{name}: {wrong}")


def _lengths(case: Counterexample) -> Iterator[Complaint]:
    for name in ("context", "prompt", "reference", "collapsed", "faithful", "why"):
        count = len(words(getattr(case, name)))
        if not 1 <= count <= _MOST_WORDS:
            yield Complaint("length", f"{name} has {count} words (Chinese: characters); allowed 1 to {_MOST_WORDS}")


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False
