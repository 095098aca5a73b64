"""How full the backends' memory is, as far as the gateway's level looks at it."""

from collections.abc import Collection
from typing import NamedTuple

from gateway.backends.backend import Backend
from gateway.backends.breaker import State
from gateway.health import HealthMarks


class Fullness(NamedTuple):
    """Any one full backend counts, so the shares are those of the fullest; None: none is measured."""

    device_memory_share: float | None
    ledger_occupancy: float
    room: bool  # some backend that may be asked is not full: new work has somewhere to go


def fullness(backends: Collection[Backend], marks: HealthMarks) -> Fullness:
    """Read every probe once. A memory that cannot be read is no full one: its backend died, and its breaker says so."""
    shares: list[float] = []
    ledgers: list[float] = []
    room = False
    for backend in backends:
        share = backend.guard.used_share() if backend.guard is not None else None
        occupancy = backend.ledger.occupancy if backend.ledger is not None else 0.0
        if share is not None:
            shares.append(share)
        ledgers.append(occupancy)
        blind = backend.guard is not None and share is None
        full = occupancy > marks.ledger_critical or (share or 0.0) > marks.device_memory_share
        room = room or not (blind or full or backend.breaker.state is State.OPEN)
    return Fullness(max(shares, default=None), max(ledgers, default=0.0), room)
