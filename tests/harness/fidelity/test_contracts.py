"""A contract is applied in its own dialect."""

import json
import subprocess
import sys
from typing import Any

import pytest

from harness.fidelity.case import Label
from tests.harness.fidelity.fidelity_judging import complaints, judged

DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 7))
BELOW_3 = {"$schema": DRAFT_4, "properties": {"a": {"maximum": 3, "exclusiveMaximum": True}}}
TEXTS = {"$schema": DRAFT_7, "properties": {"a": {"items": [{"type": "string"}]}}}


@pytest.mark.parametrize(
    ("contract", "keeps", "breaks"),
    [(BELOW_3, '{"a": 2}', '{"a": 3}'), (TEXTS, '{"a": ["x"]}', '{"a": [1]}')],
    ids=["draft 4", "draft 7"],
)
def test_a_contract_is_read_in_the_dialect_that_it_names(contract: dict[str, Any], keeps: str, breaks: str) -> None:
    assert not complaints(keeps, keeps, "contract", contract=contract)
    assert complaints(breaks, breaks, "contract", contract=contract)


@pytest.mark.parametrize("contract", [{"$ref": "#"}, {"$ref": "file:///etc/hostname"}])
def test_a_contract_that_cannot_be_applied_is_never_kept(contract: dict[str, Any]) -> None:
    (reason,) = complaints('{"a": 1}', '{"a": 1}', "contract", contract=contract)
    assert "cannot be applied" in reason


SLOW = {"type": "string", "pattern": "^(a+)+$"}
_SCORES = """
import json, sys
from harness.fidelity.case import Case, Similarity
from harness.fidelity.verdict import judge
rows = json.load(sys.stdin)
cases = [Case(id=str(i), reference=a, candidate=b, contract=c) for i, (a, b, c) in enumerate(rows)]
none = Similarity(bertscore_p=None, bertscore_r=None, bertscore_f1=None, cosine=None, composite=None)
print(json.dumps([(j.label, j.reasons) for j in judge(cases, [none] * len(cases))]))
"""


@pytest.mark.slow
def test_a_pattern_that_takes_for_ever_costs_its_own_row_only() -> None:
    endless, quick = json.dumps("a" * 40 + "!"), json.dumps("aaaa")
    rows = [(endless, endless, SLOW), (quick, quick, SLOW), ("It is open.", "It is open.", None)]
    done = subprocess.run(
        [sys.executable, "-c", _SCORES], input=json.dumps(rows), capture_output=True, text=True, timeout=120, check=True
    )
    (slow, reasons), (kept, _), (plain, _) = json.loads(done.stdout)
    assert (slow, kept, plain) == ("misleading", "faithful", "faithful")
    assert any("contract: not checked within 2 s" in reason and "simplify" in reason for reason in reasons)


def test_a_pattern_that_is_broken_is_told_with_its_place() -> None:
    contract = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"}}}
    assert not complaints('{"code": "AB1"}', '{"code": "AB1"}', "contract", contract=contract)
    (reason,) = complaints('{"code": "x"}', '{"code": "x"}', "contract", contract=contract)
    assert "$.code" in reason


STEPS = ["drain the tank", "loosen the valve", "refit the cover"]


@pytest.mark.parametrize("field", ["steps", "repairSteps", "instructions", "操作步骤", "ranking"])
def test_steps_in_another_order_are_found_for_certain(field: str) -> None:
    reference, turned = ({"kit": "B", field: one} for one in (STEPS, [STEPS[1], STEPS[0], STEPS[2]]))
    found = judged(json.dumps(reference), json.dumps(turned))
    assert found.label is Label.MISLEADING
    assert f"“loosen the valve” stands in “{field}” where the reference has “drain the tank”" in found.reasons[0]


def test_steps_in_another_order_are_found_at_any_depth_and_in_a_set() -> None:
    contract = {"properties": {"repair": {"properties": {"steps": {"uniqueItems": True}}}}}
    pair = [json.dumps({"repair": {"steps": one}}) for one in (STEPS, STEPS[::-1])]
    assert judged(*pair, contract=contract).label is Label.MISLEADING
    lists = [json.dumps([{"id": 1, "steps": one}]) for one in (STEPS, STEPS[::-1])]
    assert judged(*lists).label is Label.MISLEADING


def test_steps_in_their_order_may_be_worded_otherwise() -> None:
    reworded = ["drain the whole tank", "loosen the valve", "refit the cover again"]
    pair = [json.dumps({"steps": one}) for one in (STEPS, reworded)]
    assert not complaints(*pair, "contract")


def test_another_order_of_any_other_list_is_told_and_of_a_set_is_nothing() -> None:
    pair = [json.dumps({"amenities": one}) for one in (["sauna", "pool", "gym"], ["gym", "pool", "sauna"])]
    found = judged(*pair)
    assert found.label is Label.FAITHFUL
    assert "another order" in found.reasons[0]
    as_a_set = {"properties": {"amenities": {"uniqueItems": True}}}
    assert not complaints(*pair, "contract", contract=as_a_set)


def test_brackets_of_json_are_no_signs_of_code_and_those_in_its_texts_are() -> None:
    assert not complaints('{"open": ["monday", "friday"]}', '{"open": ["friday", "monday"]}', "identifiers")
    assert complaints('{"code": "take rows[2:] of it"}', '{"code": "take rows[:2] of it"}', "identifiers")
