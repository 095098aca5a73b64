"""The JSON Schema of a contract, applied in its own dialect and never fetched from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalsets.errors import SchemaFaultError


def require_schema(schema: Mapping[str, Any]) -> None:
    """Raises SchemaFaultError for one that is none in its dialect, or points to what is no schema in it."""
    from jsonschema import SchemaError

    if not isinstance(schema.get("$schema", ""), str):
        raise SchemaFaultError("$schema is no text")
    dialect = type(validator_of(schema))
    try:
        dialect.check_schema(schema)
        for target in _targets(schema):
            dialect.check_schema(target)
    except SchemaError as error:
        raise SchemaFaultError(error.message) from None
    except RecursionError:
        raise SchemaFaultError("it is too deep") from None


def validator_of(schema: Mapping[str, Any]) -> Any:
    """A validator of the dialect that `$schema` names, 2020-12 where it names none that is known."""
    import jsonschema
    from jsonschema.validators import validator_for

    return validator_for(schema, default=jsonschema.Draft202012Validator)(schema, registry=_registry())


def _registry() -> Any:
    from jsonschema_specifications import REGISTRY

    return REGISTRY


def _targets(schema: Mapping[str, Any]) -> Iterator[object]:
    """What each `$ref` points to, in the schemas pointed to as well; what a `const` or an `enum` holds is none."""
    from referencing.jsonschema import DRAFT202012, specification_with

    dialect = specification_with(str(schema.get("$schema", "")), default=DRAFT202012)
    root = dialect.create_resource(schema)
    waiting, seen = [(root, _registry().resolver_with_root(root))], set()
    while waiting:
        resource, resolver = waiting.pop()
        if id(resource.contents) in seen:
            continue
        seen.add(id(resource.contents))
        waiting += [(inner, resolver.in_subresource(inner)) for inner in resource.subresources()]
        target = resource.contents.get("$ref") if isinstance(resource.contents, Mapping) else None
        if isinstance(target, str):
            found = _found(resolver, target)
            if id(found.contents) not in seen:
                yield found.contents
                waiting.append((dialect.create_resource(found.contents), found.resolver))


def _found(resolver: Any, target: str) -> Any:
    """Raises SchemaFaultError where `target` is nothing, or no schema."""
    try:
        found = resolver.lookup(target)
    except Exception:  # whatever a pointer raises on its way: through a number, by a word into a list, no URI at all
        raise SchemaFaultError(f"$ref {target!r} points to nothing in it, and nothing is fetched") from None
    if not isinstance(found.contents, Mapping | bool):
        raise SchemaFaultError(f"$ref {target!r} points to what is no schema")
    return found
