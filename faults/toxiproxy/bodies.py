"""What clients send, read strictly: JSON in, checked values out, or the error that the client gets."""

import json
from collections.abc import Container, Mapping
from typing import NamedTuple, NoReturn

from faults.errors import BadFault
from faults.toxiproxy.chain import Direction, Toxic
from faults.toxiproxy.collection import Wanted
from faults.toxiproxy.errors import ApiError, bad_body, invalid_stream, invalid_type, missing_field, toxic_exists
from faults.toxiproxy.toxics import EFFECTS, Effect, read_effect

DEFAULT_LISTEN = "127.0.0.1:0"
LONGEST_TTL_MS = 86_400_000  # a day
TOXIC_FIELDS = ("name", "type", "stream", "toxicity", "attributes", "ttl_ms")


def read_json(body: bytes) -> object:
    if not body.strip():
        raise bad_body("EOF")
    try:
        return json.loads(body, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise bad_body(f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise bad_body("nested too deeply") from None
    except ValueError as error:
        raise bad_body(str(error)) from None


def read_proxy(given: object) -> Wanted:
    """A proxy to create."""
    fields = _object(given, "a proxy")
    wanted = _wanted(fields, Wanted(name="", listen=DEFAULT_LISTEN, upstream="", enabled=True))
    for field in ("name", "upstream"):
        if not getattr(wanted, field):
            raise missing_field(field)
    return wanted


def read_proxy_change(given: object, before: Wanted) -> Wanted:
    """A proxy's new addresses and state; what is not given stays, the name always does."""
    fields = {key: value for key, value in _object(given, "a proxy").items() if key != "name"}
    wanted = _wanted(fields, before)
    if not wanted.upstream:
        raise missing_field("upstream")
    return wanted


def read_population(given: object) -> list[Wanted]:
    """The proxies of /populate, every one of them checked."""
    if not isinstance(given, list):
        raise bad_body(f"must be an array of proxies, got {_kind(given)}")
    wanted = []
    for number, entry in enumerate(given, start=1):
        try:
            wanted.append(read_proxy(entry))
        except ApiError as error:
            raise ApiError(f"{error.text} at proxy {number}", error.status) from None
    return wanted


def read_toxic(given: object, *, taken: Container[str]) -> Toxic:
    """A toxic to create; `taken` holds the names of its proxy's toxics. The checks stand in the order of the API."""
    fields = _object(given, "a toxic")
    kind, stream = _text(fields, "type", ""), _text(fields, "stream", "downstream")
    name = _text(fields, "name", "") or f"{kind}_{stream}"
    toxicity, attributes = _number(fields, "toxicity", 1.0), _attributes(fields)
    try:
        direction = Direction(stream.lower())
    except ValueError:
        raise invalid_stream() from None
    if kind not in EFFECTS:
        raise invalid_type()
    if name in taken:
        raise toxic_exists()
    return Toxic(
        name=name,
        stream=direction,
        effect=_effect(EFFECTS[kind], attributes),
        toxicity=_share(toxicity),
        ttl_ms=_ttl_ms(fields, TOXIC_FIELDS),
    )


class ToxicChange(NamedTuple):
    effect: Effect
    toxicity: float
    ttl_ms: int | None


def read_toxic_change(given: object, before: Toxic) -> ToxicChange:
    """New attributes, toxicity and time to live; what is not given stays, and so do name, type and stream."""
    fields = _object(given, "a toxic")
    toxicity, attributes = _number(fields, "toxicity", before.toxicity), _attributes(fields)
    effect = _effect(type(before.effect), attributes, before.effect)
    return ToxicChange(effect, _share(toxicity), _ttl_ms(fields, TOXIC_FIELDS))


def _wanted(fields: Mapping[str, object], before: Wanted) -> Wanted:
    enabled = fields.get("enabled")
    if enabled is not None and not isinstance(enabled, bool):
        raise bad_body(f"enabled must be true or false, got {_kind(enabled)}")
    return Wanted(
        name=_text(fields, "name", before.name),
        listen=_text(fields, "listen", before.listen),
        upstream=_text(fields, "upstream", before.upstream),
        enabled=before.enabled if enabled is None else enabled,
        ttl_ms=_ttl_ms(fields),
    )


def _effect(kind: type[Effect], attributes: Mapping[str, object], before: Effect | None = None) -> Effect:
    try:
        return read_effect(kind, attributes, before)
    except BadFault as error:
        raise bad_body(str(error)) from None


def _object(given: object, what: str) -> dict[str, object]:
    """Field names are read without regard to case, as the API's clients may expect."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise bad_body(f"{what} must be an object, got {_kind(given)}")
    return {name.lower(): value for name, value in given.items()}


def _attributes(fields: Mapping[str, object]) -> Mapping[str, object]:
    given = fields.get("attributes")
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise bad_body(f"attributes must be an object, got {_kind(given)}")
    return given


def _text(fields: Mapping[str, object], name: str, default: str) -> str:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise bad_body(f"{name} must be a string, got {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad_body(f"{name} holds half a surrogate pair") from None
    return value


def _number(fields: Mapping[str, object], name: str, default: float) -> float:
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_body(f"{name} must be a number, got {_kind(value)}")
    return value


def _share(toxicity: float) -> float:
    if not 0 <= toxicity <= 1:
        raise bad_body(f"toxicity must be from 0 to 1, got {toxicity}")
    return float(toxicity)


def _ttl_ms(fields: Mapping[str, object], known: Container[str] | None = None) -> int | None:
    """The time to live. With `known`, other fields are refused: a mistyped one would be a fault that is not there."""
    if known is not None:
        for name in fields:
            if name not in known:
                raise bad_body(f"a toxic has no field {name!r}; known are: {', '.join(TOXIC_FIELDS)}")
    value = fields.get("ttl_ms")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LONGEST_TTL_MS:
        raise bad_body(f"ttl_ms must be a whole number from 1 to {LONGEST_TTL_MS} ms, got {value!r}")
    return value


def _kind(value: object) -> str:
    """What JSON calls it."""
    if isinstance(value, bool):
        return "a boolean"
    return {str: "a string", int: "a number", float: "a number", list: "an array", dict: "an object"}.get(
        type(value), "null"
    )


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
