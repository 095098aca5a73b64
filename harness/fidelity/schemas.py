"""The JSON Schema of a contract, applied in its own dialect and never fetched from anywhere."""

from collections.abc import Iterator, Mapping
from typing import Any


class SchemaFaultError(Exception):
    """A schema that cannot be applied; its text says why."""


def require_schema(schema: Mapping[str, Any]) -> None:
    """Raises SchemaFaultError for one that is none in its dialect, or points to what is not in it."""
    from jsonschema import SchemaError
    from referencing.exceptions import NoSuchResource, Unresolvable

    validator = validator_of(schema)
    try:
        type(validator).check_schema(schema)
    except SchemaError as error:
        raise SchemaFaultError(error.message) from None
    resolver = _registry().resolver_with_root(_resource(schema))
    for target in _targets(schema):
        try:
            resolver.lookup(target)
        except (Unresolvable, NoSuchResource):
            raise SchemaFaultError(f"$ref {target!r} points to nothing in it, and nothing is fetched") from None


def validator_of(schema: Mapping[str, Any]) -> Any:
    """A validator of the dialect that `$schema` names, 2020-12 where it names none that is known."""
    import jsonschema
    from jsonschema.validators import validator_for

    return validator_for(schema, default=jsonschema.Draft202012Validator)(schema, registry=_registry())


def _registry() -> Any:
    from jsonschema_specifications import REGISTRY

    return REGISTRY


def _resource(schema: Mapping[str, Any]) -> Any:
    from referencing.jsonschema import DRAFT202012, specification_with

    dialect = specification_with(str(schema.get("$schema", "")), default=DRAFT202012)
    return dialect.create_resource(schema)


def _targets(value: object) -> Iterator[str]:
    """What `$ref` points to, wherever one stands."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            target = one.get("$ref")
            if isinstance(target, str):
                yield target
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
