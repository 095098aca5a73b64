"""One backend's ledger shared with other gateways: every promise is made in Redis first, or alone while it is gone."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

from gateway.clock import Clock
from gateway.errors import MemoryFull, NeverFits
from gateway.memory.leases import Answer, Leases, Unreachable
from gateway.memory.ledger import Ledger, Refusal, Reservation
from gateway.memory.shared_config import SharedLedgerConfig

_POLL_S = 0.025  # while the first in line waits: what another gateway released is seen this soon


class SharedLedger:
    """Wraps this process's `Ledger`, which knows what is held here and, as `foreign_bytes`, by the others.

    Within one gateway the line is first come, first served; between gateways whoever asks first after a release.
    A lease that ends in Redis although its reservation is still held (this gateway was too late to renew it) is
    registered again at the next renewal; until what others took meanwhile is released, the sum may exceed the capacity.
    """

    def __init__(
        self,
        ledger: Ledger,
        leases: Leases,
        config: SharedLedgerConfig,
        *,
        clock: Clock,
        tell: Callable[[str, str], None],
    ) -> None:
        self._ledger = ledger
        self._leases = leases
        self._config = config
        self._clock = clock
        self._tell = tell
        self._held: dict[Reservation, str] = {}
        self._gone: dict[str, float] = {}  # lease -> when it was released; Redis has not confirmed that yet
        self._line = asyncio.Lock()
        self._room = asyncio.Event()
        self._releasing: set[asyncio.Task[None]] = set()
        self.alone = False
        ledger.on_release = self._released

    async def reserve(self, bytes_: int, *, timeout_s: float) -> Reservation:
        """Wait in line for `bytes_`, at most `timeout_s`; raises NeverFits at once, MemoryFull after the wait."""
        self._require_fits(bytes_)
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s), self._line:
                while True:
                    self._room.clear()
                    taken = await self._take(bytes_)
                    if taken is not None:
                        return taken
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_POLL_S):
                            await self._room.wait()
        self._ledger.count_failure()
        raise MemoryFull(f"no room for {bytes_} bytes of KV cache within {timeout_s:g} s")

    async def take(self, bytes_: int) -> Reservation | Refusal:
        """Reserve now or not at all; never overtakes a request of this gateway that waits."""
        if bytes_ > self._ledger.capacity_bytes:
            self._ledger.count_failure()
            return Refusal.NEVER
        taken = None if self._line.locked() else await self._take(bytes_)
        if taken is None:
            self._ledger.count_failure()
            return Refusal.NOT_NOW
        return taken

    async def run(self) -> None:
        """Renew what is held, and come back when Redis does; until cancelled."""
        while True:
            await self._clock.sleep(self._config.retry_s if self.alone else self._config.lease_s / 3)
            await self._renew()

    async def close(self) -> None:
        """Let the releases that are under way reach Redis, so that nobody has to wait for the leases' end."""
        if self._releasing:
            await asyncio.wait(self._releasing, timeout=self._config.timeout_s)
        await self._leases.close()

    async def _renew(self) -> None:
        now_s = self._clock.now_s()
        # What was released longer ago than a lease lasts has ended by itself.
        self._gone = {lease: at_s for lease, at_s in self._gone.items() if at_s > now_s - self._config.lease_s}
        held = {lease: one.bytes_ for one, lease in self._held.items()}
        gone = tuple(self._gone)
        try:
            answer = await self._leases.renew(held, gone)
        except Unreachable as error:
            self._lost(error)
            return
        for lease in gone:
            self._gone.pop(lease, None)
        if self.alone:
            self.alone = False
            self._tell("ledger_shared_again", f"{answer.total_bytes} bytes are reserved by all")
        self._heard(answer)
        for lease in held.keys() - set(self._held.values()):
            self._release_soon(lease)  # released while the renewal was under way, which may have brought it back

    async def _take(self, bytes_: int) -> Reservation | None:
        if self.alone:
            return self._alone(bytes_)
        lease = uuid4().hex
        try:
            answer = await self._leases.take(lease, bytes_, capacity_bytes=self._ledger.capacity_bytes)
        except Unreachable as error:
            self._gone[lease] = self._clock.now_s()  # nobody knows whether it was taken
            self._lost(error)
            return self._alone(bytes_)
        except BaseException:
            self._release_soon(lease)
            raise
        self._heard(answer, taking=bytes_ if answer.taken else 0)
        taken = self._ledger.try_reserve(bytes_) if answer.taken else None
        if isinstance(taken, Reservation):
            taken.waited = True  # for Redis at least
            self._held[taken] = lease
            return taken
        if answer.taken:
            self._release_soon(lease)
        return None

    def _alone(self, bytes_: int) -> Reservation | None:
        """Without Redis: only a share of the capacity, because the other gateways may do the same."""
        allowed = self._config.share_alone * self._ledger.capacity_bytes
        if self._ledger.snapshot().reserved_bytes + bytes_ > allowed:
            return None
        taken = self._ledger.try_reserve(bytes_)
        if not isinstance(taken, Reservation):
            return None
        taken.waited = True  # for Redis, or in the line
        self._held[taken] = uuid4().hex  # registered when Redis is back
        return taken

    def _released(self, reservation: Reservation) -> None:
        lease = self._held.pop(reservation, None)
        self._room.set()
        if lease is not None:
            self._release_soon(lease)

    def _release_soon(self, lease: str) -> None:
        if self.alone:
            self._gone[lease] = self._clock.now_s()
            return
        task = asyncio.get_running_loop().create_task(self._release(lease))
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    async def _release(self, lease: str) -> None:
        try:
            self._heard(await self._leases.release(lease))
        except Unreachable as error:
            self._gone[lease] = self._clock.now_s()
            self._lost(error)

    def _heard(self, answer: Answer, *, taking: int = 0) -> None:
        """`taking`: bytes in the answer that this ledger does not hold yet."""
        if not self.alone:  # only a renewal ends that: it registers what was promised alone
            held = self._ledger.snapshot().reserved_bytes
            self._ledger.foreign_bytes = max(0, answer.total_bytes - taking - held)

    def _lost(self, error: Unreachable) -> None:
        if not self.alone:
            self.alone = True
            self._ledger.foreign_bytes = 0
            self._tell("ledger_alone", f"going on with {self._config.share_alone:.0%} of the capacity: {error}")

    def _require_fits(self, bytes_: int) -> None:
        if bytes_ > self._ledger.capacity_bytes:
            self._ledger.count_failure()
            raise NeverFits(
                f"{bytes_} bytes of KV cache asked for, the whole capacity is {self._ledger.capacity_bytes} bytes"
            )
