from __future__ import annotations

import pytest

from evalsets.errors import FileError
from evalsets.item_rules import complaints
from evalsets.lint import lint_set, renew_card

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def rules(item) -> list[str]:
    return [found.rule for found in complaints(item)]


def test_a_good_item_has_no_complaint(make_item):
    assert complaints(make_item()) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"must_keep": []}, "must-keep"),
        ({"reference": "No, that is not possible for opened ones."}, "must-keep"),
        ({"reference": "They cannot be returned, only within 30 days."}, "must-not"),
        ({"contract": {"type": "object"}}, "contract"),
        ({"contract": {"type": "object"}, "reference": '["cannot be returned"]'}, "contract"),
        (
            {"contract": {"$schema": DRAFT_7, "type": "array", "items": [{"type": "null"}]}, "reference": '["x"]'},
            "contract",
        ),
        ({"contract": {"type": "array", "$ref": "#"}, "reference": '["cannot be returned"]'}, "contract"),
        ({"context": ""}, "grounding"),
        ({"context": "Boxes are made of card and come from a small mill in the hills near by."}, "grounding"),
        ({"lang": "zh"}, "language"),
        ({"reference": "打开过的盒子不能退 cannot be returned"}, "language"),
        ({"context": "Opened boxes cannot be returned."}, "length"),
        ({"tags": ["long-context"]}, "length"),
        ({"prompt": "Return?"}, "length"),
        ({"source": " "}, "source"),
        ({"licence": ""}, "licence"),
        ({"licence": "my own"}, "licence"),
    ],
)
def test_each_rule_finds_what_it_is_there_for(make_item, changes, rule):
    assert rule in rules(make_item(**changes))


@pytest.mark.parametrize("tag", ["inference", "unanswerable"])
def test_what_is_inferred_need_not_stand_in_the_context(make_item, tag):
    context = "Boxes are made of card and come from a small mill in the hills near by."
    assert rules(make_item(context=context, tags=[tag])) == []


def test_an_order_number_alone_has_no_language(make_item):
    context = "Your orders are MY-30417, which is on its way, and a second one that was delivered last week."
    answer = {"context": context, "reference": "MY-30417", "must_keep": ["MY-30417"]}
    assert rules(make_item(lang="zh", **answer)) == []


def test_two_items_that_ask_the_same_are_found_whatever_their_case(write, values):
    path = write(values, {**values, "id": "other", "prompt": values["prompt"].upper()})
    renew_card(path)
    assert [(p.line, p.id, p.rule) for p in lint_set(path)] == [(2, "other", "duplicate")]


def test_a_file_that_changed_since_its_card_is_found_and_the_card_can_be_renewed(write, values):
    path = write(values)
    assert [p.rule for p in lint_set(path)] == ["card"]
    renew_card(path)
    assert lint_set(path) == []
    write({**values, "id": "renamed"})
    assert [p.rule for p in lint_set(path)] == ["card"]
    renew_card(path)
    assert lint_set(path) == []


def test_renewing_a_card_keeps_the_prose(write, values):
    path = write(values)
    card = renew_card(path)
    card.write_text("# Mine\n\nBefore.\n" + card.read_text() + "After.\n")
    renew_card(path)
    text = card.read_text()
    assert text.startswith("# Mine\n\nBefore.\n")
    assert text.endswith("After.\n")


def test_a_card_without_a_place_for_the_facts_is_left_alone(write, values):
    path = write(values)
    (path.parent / "CARD.md").write_text("# Mine\n")
    with pytest.raises(FileError, match="no place for the facts"):
        renew_card(path)


def test_a_file_that_does_not_load_is_an_error_not_a_problem(write):
    with pytest.raises(FileError, match="line 1: bad JSON"):
        lint_set(write("{"))
