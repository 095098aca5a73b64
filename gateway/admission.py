"""Admission by memory: the guard, the watermark and the ledger, before a request goes to a backend."""

from typing import NamedTuple

from gateway.backends.backend import Backend
from gateway.backends.client import Take
from gateway.errors import MemoryFull, NeverFits
from gateway.memory.guard import Decision
from gateway.memory.in_use import InUse
from gateway.memory.ledger import Refusal, Reservation
from gateway.shape import Shaped, Shaper
from gateway.turns import longest_wait_s
from gateway.work import Work


class Room(NamedTuple):
    """Memory that was promised. `ample`: so much is left that nobody needs to know how much of it is in use yet."""

    reservation: Reservation
    ample: bool


async def reserved(work: Work, backend: Backend, shaped: Shaped, shaper: Shaper) -> tuple[Shaped, Room]:
    """Memory for the whole prompt, or else for one cut to the policy's pressure limit. Raises MemoryFull, NeverFits."""
    wait_s = min(work.policy.ledger.wait_s, longest_wait_s(work))
    try:
        return shaped, await _reserve(work, backend, shaped, wait_s=wait_s)
    except (MemoryFull, NeverFits):
        pressure = work.policy.truncation.pressure_tokens
        if shaped.prompt_tokens <= pressure:
            raise
    shorter = await shaper.shape(work, backend, limit_tokens=pressure)
    return shorter, await _reserve(work, backend, shorter, wait_s=0.0)


async def _reserve(work: Work, backend: Backend, shaped: Shaped, *, wait_s: float) -> Room:
    promises = backend.promises
    if promises is None:
        raise MemoryFull("no ledger")
    asked = backend.kv_bytes(shaped.prompt_tokens, shaped.max_tokens)
    decision = _require_room(work, backend, shaped, asked)
    taken = await (promises.reserve(asked, timeout_s=wait_s) if wait_s > 0 else promises.take(asked))
    if isinstance(taken, Refusal):
        raise MemoryFull(f"no room for {asked} bytes of KV cache")
    if taken.waited:
        try:
            decision = _require_room(work, backend, shaped, asked, own=taken)  # the memory is another one by now
        except BaseException:
            taken.release()
            raise
    ample = decision is None or backend.ledger is None or decision.is_ample(backend.ledger.reserved_bytes)
    return Room(taken, ample)


def _require_room(
    work: Work, backend: Backend, shaped: Shaped, asked: int, *, own: Reservation | None = None
) -> Decision | None:
    """The guard and the watermark, but for what `own` holds; None where there is no guard. Raises MemoryFull."""
    ledger, marks = backend.ledger, work.policy.ledger
    occupancy = ledger.occupancy_beside(own) if ledger is not None else 0.0
    decision = None
    if backend.guard is not None:
        decision = backend.guard.admits(asked, own=own)
        if not decision.admitted:
            raise MemoryFull(decision.reason)
        occupancy = max(occupancy, decision.used_share)
    if shaped.prompt_tokens >= marks.long_tokens and occupancy > marks.watermark:
        raise MemoryFull(f"{shaped.prompt_tokens} tokens are long while the memory stands at {occupancy:.2f}")
    return decision


def streams(backend: Backend, room: Room | None) -> bool:
    """Whether to ask for a stream where the client wants none."""
    short = room is not None and not room.ample
    return backend.config.streams_always or (short and backend.config.streams_in_need)


def marking(backend: Backend, shaped: Shaped, room: Room | None, take: Take) -> Take:
    """`take` itself, unless a guard wants to know what of the reservation is in use by now."""
    if room is None or backend.guard is None or backend.shape is None:
        return take
    prompt_tokens, max_tokens = shaped.prompt_tokens, shaped.max_tokens
    return InUse(take, room.reservation, backend.shape, prompt_tokens=prompt_tokens, max_tokens=max_tokens).take
