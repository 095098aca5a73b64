from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from evalsets import Counterexample, EvalsetError, FieldError, lint_set, load_counterexamples
from evalsets.counterexample import MODES
from evalsets.counterexample_rules import counterexample_complaints, is_hard, likeness, unbalanced

GOOD: dict[str, Any] = {
    "id": "collapse-invert-en-99",
    "mode": "inversion",
    "lang": "en",
    "split": "dev",
    "context": "Opened ink cannot be exchanged.",
    "prompt": "Can I exchange opened ink?",
    "reference": "No, opened ink cannot be exchanged.",
    "collapsed": "Yes, opened ink can be exchanged.",
    "faithful": "Once the seal is broken, we do not swap it.",
    "why": "The negation was lost.",
}


def case(**changes: Any) -> Counterexample:
    return Counterexample(**{**GOOD, **changes})


@pytest.mark.parametrize(
    ("field", "value"),
    [("mode", "lie"), ("lang", "fr"), ("split", "train"), ("why", " "), ("collapsed", GOOD["faithful"]), ("id", "A 1")],
)
def test_a_wrong_value_is_refused_with_its_field(field, value):
    with pytest.raises(FieldError, match=f"field '{field}'"):
        case(**{field: value})


def test_a_good_case_has_no_complaint():
    assert counterexample_complaints(case()) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        (
            {"faithful": "No, opened ink can not be exchanged .", "reference": "No, opened ink can not be exchanged."},
            "paraphrase",
        ),
        ({"collapsed": '{"exchange": true}'}, "form"),
        ({"faithful": "开封以后不能换货，请您谅解"}, "language"),
        ({"faithful": "on and on " * 40}, "length"),
    ],
)
def test_each_rule_finds_what_it_is_there_for(changes, rule):
    assert rule in [found.rule for found in counterexample_complaints(case(**changes))]


def test_a_mode_that_stands_in_one_split_only_is_unbalanced():
    assert [found.rule for found in unbalanced([case(), case(id="b")])] == ["balance"]
    assert unbalanced([case(), case(id="b", split="test"), case(id="c")]) == []


def test_likeness_runs_from_nothing_in_common_to_equal():
    assert likeness("one two", "three four") == 0
    assert likeness("One two.", "one two") == 1
    assert is_hard(case())


def test_the_library_holds_127_cases_in_the_five_modes():
    modes = Counter(c.mode for c in load_counterexamples())
    assert modes == dict(zip(MODES, (39, 34, 18, 18, 18), strict=True))


def test_the_library_is_clean_and_in_two_languages():
    assert lint_set("collapse") == []
    langs = Counter(c.lang for c in load_counterexamples())
    assert langs == {"en": 76, "zh": 51}


def test_most_cases_are_hard_for_surface_likeness():
    cases = load_counterexamples()
    assert sum(is_hard(c) for c in cases) > 0.75 * len(cases)


def test_loading_counterexamples_from_a_set_of_items_is_refused():
    with pytest.raises(EvalsetError):
        load_counterexamples("support")
