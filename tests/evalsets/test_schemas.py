"""A schema is read in its own dialect, from what stands in it."""

from typing import Any

import pytest

from evalsets.errors import SchemaFaultError
from evalsets.schemas import require_schema, validator_of

DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 7))
BELOW_3 = {"$schema": DRAFT_4, "properties": {"a": {"maximum": 3, "exclusiveMaximum": True}}}
TEXTS = {"$schema": DRAFT_7, "properties": {"a": {"items": [{"type": "string"}]}}}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"b": {"$ref": "#/$defs/node"}}}}}
QUOTED = {key: value for key in ("const", "default") for value in [{"$ref": "#/nope"}]} | {
    key: [{"$ref": "#/nope"}] for key in ("enum", "examples")
}
BY_ID = {
    "$id": "http://truefall.invalid/a",
    "$defs": {"b": {"$id": "b", "$defs": {"c": {"type": "null"}}, "properties": {"p": {"$ref": "#/$defs/c"}}}},
    "$ref": "b",
}


@pytest.mark.parametrize(
    "schema", [BELOW_3, TEXTS, TREE, {"$ref": DRAFT_7}, {"properties": {"$ref": {}}}, {}, QUOTED, BY_ID]
)
def test_a_schema_that_points_into_itself_or_to_a_dialect_is_sound(schema: dict[str, Any]) -> None:
    require_schema(schema)


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/x", "file:///etc/hostname", "#/nope", "#nope", "other.json"])
def test_nothing_is_fetched_for_a_schema(target: str) -> None:
    with pytest.raises(SchemaFaultError, match="points to nothing in it"):
        require_schema({"items": [{"not": {"$ref": target}}]} | {"$schema": DRAFT_7})


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["x"], "$ref": "#/required/a"},
        {"minimum": 1, "$ref": "#/minimum/x"},
        {"minimum": 1, "$ref": "#/minimum"},
        {"$ref": "http://[::1"},
        {"$ref": "#/x", "x": {"$ref": "#/nope"}},
        {"$ref": "#/x", "x": {"type": "nothing"}},
        {"$schema": 7},
    ],
    ids=str,
)
def test_a_schema_that_points_to_no_schema_is_refused_with_a_reason(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaFaultError, match=r"points to (?:nothing|what is no schema)|'nothing' is not|no text"):
        require_schema(schema)


def test_what_is_found_by_the_nearest_id_is_applied() -> None:
    assert validator_of(BY_ID).is_valid({"p": None})
    assert not validator_of(BY_ID).is_valid({"p": 1})
