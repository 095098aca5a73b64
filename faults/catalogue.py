"""Every fault by its name, its reading from text, and what is said about it."""

import dataclasses
import difflib
import inspect
import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from faults import ballast, components, http_outage, ledger_pressure, memory, memory_spike, network, outage, tokens
from faults.errors import BadFault
from faults.fault import Fault
from faults.parameter import Meaning, meaning_of, read

CATALOGUE: Mapping[str, type[Fault]] = MappingProxyType(
    {
        "latency": network.Latency,
        "bandwidth": network.Bandwidth,
        "timeout": network.Timeout,
        "reset_peer": network.ResetPeer,
        "slicer": network.Slicer,
        "limit_data": network.LimitData,
        "slow_close": network.SlowClose,
        "proxy_down": outage.ProxyDown,
        "flapping": outage.Flapping,
        "kill": outage.Kill,
        "hang": outage.Hang,
        "http_status": http_outage.HttpStatus,
        "backpressure": http_outage.Backpressure,
        "garbage_body": http_outage.GarbageBody,
        "html_body": http_outage.HtmlBody,
        "half_json": http_outage.HalfJson,
        "empty_choices": http_outage.EmptyChoices,
        "null_content": http_outage.NullContent,
        "error_object": http_outage.ErrorObject,
        "cut_stream": http_outage.CutStream,
        "stall": http_outage.Stall,
        "hang_before_headers": http_outage.HangBeforeHeaders,
        "slow_first_token": http_outage.SlowFirstToken,
        "slow_start": http_outage.SlowStart,
        "split_utf8": http_outage.SplitUtf8,
        "broken_utf8": http_outage.BrokenUtf8,
        "wrong_content_type": http_outage.WrongContentType,
        "huge_answer": http_outage.HugeAnswer,
        "token_drop_prompt": tokens.PromptTokenDrop,
        "token_drop_answer": tokens.AnswerTokenDrop,
        "synonyms_prompt": tokens.PromptSynonyms,
        "synonyms_answer": tokens.AnswerSynonyms,
        "blur": tokens.Blur,
        "truncate_answer": tokens.TruncateAnswer,
        "reorder_prompt": tokens.PromptReorder,
        "reorder_answer": tokens.AnswerReorder,
        "duplicate_prompt": tokens.PromptDuplicate,
        "duplicate_answer": tokens.AnswerDuplicate,
        "language_prompt": tokens.PromptLanguage,
        "language_answer": tokens.AnswerLanguage,
        "mojibake_prompt": tokens.PromptMojibake,
        "mojibake_answer": tokens.AnswerMojibake,
        "stale_answer": tokens.StaleAnswer,
        "oom_pressure": memory.OomPressure,
        "memory_spike": memory_spike.MemorySpike,
        "address_space_limit": memory.AddressSpaceLimit,
        "cgroup_limit": memory.CgroupLimit,
        "cuda_ballast": ballast.CudaBallast,
        "memory_fraction": components.MemoryFraction,
        "ledger_pressure": ledger_pressure.LedgerPressure,
        "decode_errors": components.DecodeErrors,
        "attention_errors": components.AttentionErrors,
        "slow_validator": components.SlowValidator,
        "damaged_weights": components.DamagedWeights,
    }
)


def find(name: str) -> type[Fault]:
    """Raises BadFault, with names that are near."""
    try:
        return CATALOGUE[name]
    except KeyError:
        near = difflib.get_close_matches(name, CATALOGUE, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`truefall faults list` shows them all"
        raise BadFault(f"unknown fault {name!r}; {hint}") from None


def build(name: str, params: Mapping[str, Any] | None = None) -> Fault:
    """The fault with these parameters; values may be text. Raises BadFault naming fault, parameter, value and bound."""
    kind = find(name)
    fields = {field.name: field for field in dataclasses.fields(typing.cast(Any, kind))}
    hints = typing.get_type_hints(kind)
    given = dict(params or {})
    for param in given:
        if param not in fields:
            near = difflib.get_close_matches(param, fields, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(fields) or 'no parameters'}"
            raise BadFault(f"{name}: unknown parameter {param!r}; {hint}")
    missing = [
        field.name for field in fields.values() if field.default is dataclasses.MISSING and field.name not in given
    ]
    if missing:
        raise BadFault(f"{name}: {', '.join(missing)} must be given, as {name}:{missing[0]}=…")
    values = {param: read(name, param, hints[param], value) for param, value in given.items()}
    return typing.cast(Fault, typing.cast(Any, kind)(**values))


def parse(text: str) -> Fault:
    """`name` or `name:param=value,param=value`. Raises BadFault.

    >>> parse("latency:mean_ms=500").mean_ms
    500
    """
    name, _, rest = text.strip().partition(":")
    params: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in rest.split(","))):
        param, equals, value = part.partition("=")
        if not equals:
            raise BadFault(f"{text!r}: {part!r} is not param=value")
        if param.strip() in params:
            raise BadFault(f"{text!r}: {param.strip()} is given twice")
        params[param.strip()] = value.strip()
    return build(name.strip(), params)


def summary(name: str) -> str:
    """The first sentence about a fault."""
    return inspect.getdoc(find(name)).splitlines()[0]  # type: ignore[union-attr]


class Parameter(typing.NamedTuple):
    """One parameter as people see it."""

    name: str
    type: str
    default: str
    meaning: Meaning


def parameters(name: str) -> list[Parameter]:
    kind = typing.cast(Any, find(name))
    hints = typing.get_type_hints(kind)
    return [
        Parameter(field.name, _type_name(hints[field.name]), _default(field), meaning_of(field))
        for field in dataclasses.fields(kind)
    ]


def _type_name(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(map(str, typing.get_args(hint)))
    return str(hint.__name__) if isinstance(hint, type) else str(hint).replace(" | None", " or none")


def _default(field: "dataclasses.Field[Any]") -> str:
    return "required" if field.default is dataclasses.MISSING else str(field.default).replace("None", "none") or "none"
