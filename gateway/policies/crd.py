"""The CustomResourceDefinition, made from the manifest's types: one schema for files and for the API server."""

from typing import Any

import msgspec

from gateway.policies.manifest import GROUP, KIND, PLURAL, VERSION, Spec

_COPIED = ("type", "description", "default", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength")
_COLUMNS = (
    ("Target", "string", ".spec.targetService"),
    ("Endpoint", "string", ".spec.endpoint"),
    ("Percent", "number", ".spec.trafficPercentage"),
    ("Fallback", "string", ".spec.fallback"),
    ("Age", "date", ".metadata.creationTimestamp"),
)


def crd() -> dict[str, Any]:
    """The object that `kubectl apply` takes."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": KIND, "plural": PLURAL, "singular": KIND.lower(), "shortNames": ["dgp"]},
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _object_schema()},
                    "additionalPrinterColumns": [
                        {"name": name, "type": kind, "jsonPath": path} for name, kind, path in _COLUMNS
                    ],
                }
            ],
        },
    }


def _object_schema() -> dict[str, Any]:
    schema = msgspec.json.schema(Spec)
    return {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(schema, schema.get("$defs", {})),
        },
    }


def structural(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema as Kubernetes' structural subset: no references, no null types, a type on every node."""
    if "$ref" in schema:
        return structural(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" in schema:
        (inner,) = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return structural(
            {**inner, **{key: value for key, value in schema.items() if key == "description"}}, definitions
        )
    found = {key: schema[key] for key in _COPIED if key in schema}
    if schema["type"] == "array":
        found |= {key: schema[key] for key in ("minItems", "maxItems") if key in schema}
        found["items"] = structural(schema["items"], definitions)
    if schema["type"] == "object":
        found["properties"] = {name: structural(one, definitions) for name, one in schema["properties"].items()}
        if schema.get("required"):
            found["required"] = schema["required"]
    if found.get("default", "") is None:
        del found["default"]
    return found
