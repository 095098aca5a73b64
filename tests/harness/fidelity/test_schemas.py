"""A contract is applied in its own dialect, from what stands in it."""

from typing import Any

import pytest

from harness.fidelity.schemas import SchemaFaultError, require_schema
from tests.harness.fidelity.fidelity_judging import complaints

DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 7))
BELOW_3 = {"$schema": DRAFT_4, "properties": {"a": {"maximum": 3, "exclusiveMaximum": True}}}
TEXTS = {"$schema": DRAFT_7, "properties": {"a": {"items": [{"type": "string"}]}}}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"b": {"$ref": "#/$defs/node"}}}}}


@pytest.mark.parametrize(
    ("contract", "keeps", "breaks"),
    [(BELOW_3, '{"a": 2}', '{"a": 3}'), (TEXTS, '{"a": ["x"]}', '{"a": [1]}')],
    ids=["draft 4", "draft 7"],
)
def test_a_contract_is_read_in_the_dialect_that_it_names(contract: dict[str, Any], keeps: str, breaks: str) -> None:
    assert not complaints(keeps, keeps, "contract", contract=contract)
    assert complaints(breaks, breaks, "contract", contract=contract)


@pytest.mark.parametrize("schema", [BELOW_3, TEXTS, TREE, {"$ref": DRAFT_7}, {"properties": {"$ref": {}}}, {}])
def test_a_schema_that_points_into_itself_or_to_a_dialect_is_sound(schema: dict[str, Any]) -> None:
    require_schema(schema)


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/x", "file:///etc/hostname", "#/nope", "#nope", "other.json"])
def test_nothing_is_fetched_for_a_schema(target: str) -> None:
    with pytest.raises(SchemaFaultError, match="points to nothing in it"):
        require_schema({"items": [{"not": {"$ref": target}}]} | {"$schema": DRAFT_7})


@pytest.mark.parametrize("contract", [{"$ref": "#"}, {"$ref": "file:///etc/hostname"}])
def test_a_contract_that_cannot_be_applied_is_never_kept(contract: dict[str, Any]) -> None:
    (reason,) = complaints('{"a": 1}', '{"a": 1}', "contract", contract=contract)
    assert "cannot be applied" in reason
