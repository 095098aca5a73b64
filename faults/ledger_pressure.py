"""Reservations held in the gateway's memory ledger, as if long requests were running.

The gateway has one ledger for each backend; the target's name is the name that the gateway knows the backend by.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from faults.errors import FaultError, NotApplicable, UndoFailed
from faults.fault import Firing, Sleeper, Target
from faults.http_call import call
from faults.parameter import check_bounds, means


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPressure:
    """Hold `held_bytes` of the gateway's ledger; it lets go by itself after `ttl_s`, so no crash leaves it on."""

    name: ClassVar[str] = "ledger_pressure"
    held_bytes: int = field(metadata=means("what is reserved, bytes", low=1))
    ttl_s: float = field(default=600.0, metadata=means("the gateway releases it after this, s", low=1, high=3600))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        if target.gateway_url is None or target.gateway_token is None:
            raise NotApplicable(f"{target.name}: the gateway's /admin cannot be reached (gateway_url, gateway_token)")
        ledger = f"{target.gateway_url.rstrip('/')}/admin/ledger"
        headers = {"Authorization": f"Bearer {target.gateway_token}"}
        firing = Firing()
        held = _reserve(ledger, headers, {"backend": target.name, "bytes": self.held_bytes, "ttl_s": self.ttl_s})
        try:
            firing.touched = 1
            firing.evidence.append(f"{self.held_bytes} bytes reserved in the ledger ({held})")
            yield firing
        finally:
            _release(f"{ledger}/{held}", headers)


def _reserve(ledger: str, headers: dict[str, str], wanted: dict[str, object]) -> str:
    try:
        reply = call("POST", ledger, wanted, headers)
    except OSError as error:
        raise FaultError(f"{ledger}: the gateway does not answer: {error}") from error
    held = reply.value.get("id") if isinstance(reply.value, dict) else None
    if reply.status == 404 or "no ledger" in reply.text:
        raise NotApplicable(f"{ledger}: this gateway has no ledger to press on")
    if reply.status >= 300 or held is None:
        raise FaultError(f"{ledger}: nothing was reserved: status {reply.status}: {reply.text[:200]}")
    return str(held)


def _release(reservation: str, headers: dict[str, str]) -> None:
    try:
        reply = call("DELETE", reservation, None, headers)
    except ConnectionRefusedError:
        return  # the gateway is gone, and its ledger with it
    except OSError as error:
        raise UndoFailed(f"{reservation}: {error}; it ends by its time to live") from error
    if reply.status >= 300 and reply.status != 404:
        raise UndoFailed(f"{reservation}: status {reply.status}: {reply.text[:200]}; it ends by its time to live")
