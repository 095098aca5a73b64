"""Setting a fault in the semantic proxy for the length of a block, and reading back what it touched."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any
from uuid import uuid4

from faults.errors import BadFault, FaultError, NotApplicable
from faults.fault import Firing, Target
from faults.http_call import call
from faults.journal import Journal
from faults.undo import SemanticOn

TTL_S = 3600.0  # the proxy drops the fault by itself after this
SHOWN = 20  # evidence lines of one firing


def control_url(target: Target) -> str:
    """Raises NotApplicable when the target has no semantic proxy in front of it."""
    if target.semantic_url is None:
        raise NotApplicable(f"{target.name}: there is no semantic proxy in front of it (semantic_url)")
    return target.semantic_url.rstrip("/").removesuffix("/__fault__")


@asynccontextmanager
async def semantic_fault(target: Target, kind: str, fault: Any, rng: Random) -> AsyncIterator[Firing]:
    """Set one fault, with the fields of the dataclass `fault`; the firing counts the requests it touched."""
    url = control_url(target)
    firing = Firing()
    seed = rng.getrandbits(48)
    undo = SemanticOn(url=url, fault_id=f"{kind}-{uuid4().hex[:12]}")
    with Journal.of(target).undoing(target.name, undo):
        spec = {"kind": kind, "seed": seed, "ttl_s": TTL_S, **dataclasses.asdict(fault)}
        if not target.reach.everything:
            spec["reach"] = dataclasses.asdict(target.reach)
        try:
            reply = call("PUT", undo.resource, {name: value for name, value in spec.items() if value is not None})
        except OSError as error:
            raise FaultError(f"{target.name}: the semantic proxy at {url} does not answer: {error}") from error
        if reply.status != 200:
            raise BadFault(f"{kind}: {reply.text[:300]}")
        try:
            yield firing
        finally:
            _prove(firing, undo)


def _prove(firing: Firing, undo: SemanticOn) -> None:
    try:
        state = call("GET", undo.resource).value or {}
    except OSError as error:
        firing.evidence.append(f"{undo.fault_id}: not proved: {error}")
        return
    firing.touched = int(state.get("touched", 0))
    if state.get("expired") or "touched" not in state:
        firing.evidence.append(f"{undo.fault_id}: was gone before the block ended")
    firing.evidence.append(f"{state.get('kind')}: touched {firing.touched} of {state.get('seen', 0)} requests")
    rows = state.get("evidence", [])
    firing.evidence.extend(_line(row) for row in rows[:SHOWN])
    if len(rows) > SHOWN:
        firing.evidence.append(f"… and {len(rows) - SHOWN} requests more")


def _line(row: dict[str, Any]) -> str:
    edits = [f"{edit['was']!r} → {edit['now']!r}" for edit in row["edits"][:5] if "was" in edit and "now" in edit]
    shown = ", ".join(edit[:120] for edit in edits)
    return f"request {row['key']}: {row['count']} × {row['kind']}" + (f": {shown}" if shown else "")


def relayed(target: Target) -> dict[str, int] | None:
    """Requests so far that the semantic proxy relayed, and those it could not; None: there is no such proxy."""
    if target.semantic_url is None:
        return None
    try:
        counts = (call("GET", f"{control_url(target)}/__fault__").value or {}).get("relayed")
    except OSError:
        return None
    return counts if isinstance(counts, dict) else None
