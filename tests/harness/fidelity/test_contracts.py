"""A contract is applied in its own dialect."""

from typing import Any

import pytest

from tests.harness.fidelity.fidelity_judging import complaints

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
