"""The output contract: the answer's text is JSON, satisfies the schema, and its fields hold something."""

# ruff: noqa: E501 (patterns stay whole)

import atexit
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from evalsets.schemas import validator_of
from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.text import read

if TYPE_CHECKING:
    from gateway.answers.schema_process import SchemaProcess

NAME = "contract"
STARTS = 5  # tries to have the process for it, which a busy machine may not start in time
WITHIN_S = 2.0  # for a contract that may take for ever, such as one with a regular expression
_HOLLOW = re.compile(
    r"\s*(?:n/?a|none|null|unknown|tbd|todo|string|text|value|\.{3}|…|-+|无|暂无|未知|待定)?\s*\.?\s*", re.I
)
_STEPS = re.compile(  # at the end of a field's name: what is done, or stands, one after the other
    r"(?:steps?|instructions?|procedures?|sequence|stages?|phases?|directions|route|itinerary|agenda|timeline|ranking|ranked|ordered|in_order|workflow|priorities|queue|步骤|流程|顺序|次序|排名|排序|路线|行程|阶段|操作)$",
    re.I,
)
PERHAPS_ORDERED = 0.3  # severity of another order in a list that need not have one
_FENCE = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")


def check(both: Pair) -> list[Finding]:
    text, reference = both.case.candidate.strip(), both.case.reference.strip()
    wanted, unreadable = _parsed(reference)
    if both.case.contract is None and (unreadable or not isinstance(wanted, dict | list)):
        return []
    value, broken = _parsed(text)
    if broken:
        return [Finding(check=NAME, severity=1.0, reason=f"the answer is not the JSON asked for: {broken}")]
    found = [Finding(check=NAME, severity=1.0, reason=r) for r in _violations(value, both.case.contract)]
    if unreadable:
        wanted = None
    found += [Finding(check=NAME, severity=0.9, reason=r) for r in _hollow(value, wanted, "")]
    if wanted is not None and not found:
        found += [Finding(check=NAME, severity=1.0, reason=r) for r in _changed(value, wanted, "")]
        found = found or list(_reordered(value, wanted, both.case.contract, ""))
    return found


def _parsed(text: str) -> tuple[object, str]:
    try:
        return json.loads(_FENCE.sub("", text)), ""
    except (ValueError, RecursionError) as error:
        return None, str(error).split(":")[0] or "too deep"


def _violations(value: object, schema: dict[str, object] | None) -> Iterator[str]:
    if schema is None:
        return
    try:
        quick = _quick(schema, value)
        if not quick and not _ends(schema, value):
            yield f"not checked within {WITHIN_S:g} s, so not known to be kept; simplify its patterns"
            return
        found = validator_of(schema).iter_errors(value)
        errors = sorted(found, key=str) if quick else list(islice(found, 1))  # as far as was seen to end
    except Exception as fault:  # whatever a validator raises of a schema that is none
        yield f"the contract cannot be applied to the answer ({type(fault).__name__}), so nothing shows that it is kept"
        return
    for error in errors[:3]:
        yield f"the answer breaks its contract at {error.json_path}: {error.message[:160]}"


def _quick(schema: dict[str, object], value: object) -> bool:
    """Whether nothing in the schema can take long: no pattern, no reference, nothing huge."""
    from gateway.answers.schema import is_risky

    return not is_risky(json.dumps(schema).encode(), len(json.dumps(value)))


def _ends(schema: dict[str, object], value: object) -> bool:
    """Whether the check comes to an end in time, tried in a process that can be ended."""
    from gateway.answers.schema_process import Job, Verdict

    process, nothing = _process(), Job(schema={}, check_value=True)
    try:
        if not any(isinstance(process.ask(nothing, within_s=WITHIN_S), Verdict) for _ in range(STARTS)):
            return False  # it does not even start
        return isinstance(process.ask(Job(schema=schema, value=value, check_value=True), within_s=WITHIN_S), Verdict)
    except (ValueError, OverflowError, TypeError, RecursionError, msgspec.MsgspecError):
        return False  # what cannot be handed over: half a surrogate pair, a number beyond 64 bits


@cache
def _process() -> "SchemaProcess":
    from gateway.answers.schema_process import SchemaProcess

    process = SchemaProcess()
    atexit.register(process.close)
    return process


def _hollow(value: object, wanted: object, path: str) -> Iterator[str]:
    """Fields that are there and say nothing, where the reference says something (or nothing is known of it)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _hollow(inner, wanted.get(key) if isinstance(wanted, dict) else None, f"{path}.{key}".strip("."))
        if isinstance(wanted, dict):
            for key in sorted(wanted.keys() - value.keys()):
                yield f"the field “{path}.{key}” is missing".replace("“.", "“")
        return
    empty = value is None or value == [] or (isinstance(value, str) and _HOLLOW.fullmatch(value) is not None)
    was_empty = wanted is None or wanted == [] or (isinstance(wanted, str) and _HOLLOW.fullmatch(wanted) is not None)
    if empty and isinstance(value, str | None | list) and not (was_empty and wanted == value):
        if value in (None, []) and wanted in (None, []):
            return
        yield f"the field “{path or 'answer'}” is there and says nothing"


def _changed(value: object, wanted: object, path: str) -> Iterator[str]:
    """Values that are not those of the reference; texts may be worded otherwise, lists may be in another order."""
    if isinstance(wanted, dict) and isinstance(value, dict):
        for key in sorted(wanted.keys() & value.keys()):
            yield from _changed(value[key], wanted[key], f"{path}.{key}".strip("."))
    elif isinstance(wanted, list) and isinstance(value, list):
        for one in wanted:
            if not any(not list(_changed(other, one, path)) for other in value):
                yield f"“{one}” is missing in “{path}”"
    elif isinstance(wanted, str) and isinstance(value, str):
        if not _worded_alike(wanted, value):
            yield f"“{path}” is “{value[:40]}” and not “{wanted[:40]}”"
    elif type(wanted) is not type(value) and not {type(wanted), type(value)} <= {int, float}:
        yield f"“{path}” is of another type"
    elif wanted != value:
        yield f"“{path}” is {value} and not {wanted}"


def _reordered(value: object, wanted: object, schema: object, path: str) -> Iterator[Finding]:
    """Lists with the entries of the reference in another order: wrong where they are steps, told where they may be.

    A list of anything else that the contract calls a set (`uniqueItems`) has no order.
    """
    if isinstance(wanted, dict) and isinstance(value, dict):
        for key in sorted(wanted.keys() & value.keys()):
            inner = _part(_part(schema, "properties"), key)
            yield from _reordered(value[key], wanted[key], inner, f"{path}.{key}".strip("."))
    elif isinstance(wanted, list) and isinstance(value, list) and len(wanted) == len(value):
        places = _places(value, wanted, path)
        for one, at in zip(wanted, places, strict=False):
            yield from _reordered(value[at], one, _part(schema, "items"), path)
        steps = _STEPS.search(path)
        if places != sorted(places) and (steps or _part(schema, "uniqueItems") is not True):
            late = next(i for i, at in enumerate(places) if at != i)
            reason = f"“{value[late]}” stands in “{path or 'answer'}” where the reference has “{wanted[late]}”"
            yield Finding(check=NAME, severity=1.0 if steps else PERHAPS_ORDERED, reason=f"{reason}: another order")


def _places(value: list[object], wanted: list[object], path: str) -> list[int]:
    """Where the entries of the reference stand in the answer, each of them at a place of its own; [] where one does not.

    An entry stays in its place where what is there says the same.
    """
    free, places = list(range(len(value))), []
    stays = [not list(_changed(other, one, path)) for one, other in zip(wanted, value, strict=True)]
    if all(stays):
        return free
    for one in wanted:
        equal = [at for at in free if value[at] == one]
        at = next((at for at in equal or free if not list(_changed(value[at], one, path))), None)
        if at is None:
            return []
        places.append(at)
        free.remove(at)
    return places


def _part(schema: object, key: str) -> object:
    return schema.get(key) if isinstance(schema, dict) else None


def _worded_alike(one: str, other: str) -> bool:
    if one.strip().casefold() == other.strip().casefold():
        return True
    words = read(one).content
    others = read(other).content
    shared = sum(any(alike(word, w) for w in others) for word in words)
    return bool(words) and len(one) > 12 and shared >= 0.5 * len(words)
