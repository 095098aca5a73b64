"""Reservations held in the gateway's memory ledger, as if long requests were running.

The gateway has one ledger for each backend; the target's name is the name that the gateway knows the backend by.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import ClassVar

import msgspec

from faults.errors import FaultError, NotApplicable, UndoFailed
from faults.fault import Firing, Sleeper, Target
from faults.http_call import TIMEOUT_S, call
from faults.journal import Journal
from faults.parameter import check_bounds, means
from faults.undo import LedgerHeld

MARGIN_S = 0.5  # what clocks and timers may be late by


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
        journal = Journal.of(target)
        asked = LedgerHeld(
            ledger=ledger,
            reservation="",
            token_env=target.gateway_token_env,
            ends_s=self._ends_s() + TIMEOUT_S,  # its answer may take so long
        )
        entry = journal.write(target.name, asked)
        wanted = {"backend": target.name, "bytes": self.held_bytes, "ttl_s": self.ttl_s}
        try:
            held = _reserve(ledger, headers, wanted)
        except RefusedError as error:
            journal.strike(entry)
            raise error.reason from None
        entry = journal.rewrite(entry, msgspec.structs.replace(asked, reservation=held, ends_s=self._ends_s()))
        try:
            yield Firing(touched=1, evidence=[f"{self.held_bytes} bytes reserved in the ledger ({held})"])
        finally:
            _release(f"{ledger}/{held}", headers)
            journal.strike(entry)

    def _ends_s(self) -> float:
        """When a reservation that is made now is released by the gateway, in seconds since 1970."""
        return datetime.now(UTC).timestamp() + self.ttl_s + MARGIN_S


class RefusedError(Exception):
    """Nothing was reserved, for certain."""

    def __init__(self, reason: FaultError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _reserve(ledger: str, headers: dict[str, str], wanted: dict[str, object]) -> str:
    """Raises RefusedError, or FaultError when it is not known whether something was reserved."""
    try:
        reply = call("POST", ledger, wanted, headers)
    except ConnectionRefusedError as error:
        raise RefusedError(FaultError(f"{ledger}: the gateway does not answer: {error}")) from error
    except OSError as error:
        raise FaultError(f"{ledger}: the gateway does not answer: {error}") from error
    held = reply.value.get("id") if isinstance(reply.value, dict) else None
    if reply.status == 404 or "no ledger" in reply.text:
        raise RefusedError(NotApplicable(f"{ledger}: this gateway has no ledger to press on"))
    if reply.status >= 300 or held is None:
        raise RefusedError(FaultError(f"{ledger}: nothing was reserved: status {reply.status}: {reply.text[:200]}"))
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
