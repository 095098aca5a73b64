"""A shared ledger whose Redis client loses cancellations: no deadline of ours may depend on it."""

import asyncio

import pytest
from deaf_redis import DeafRedis

from gateway.clock import SystemClock
from gateway.errors import MemoryFull
from gateway.memory.leases import Leases, Unreachable
from gateway.memory.ledger import Ledger
from gateway.memory.shared import SharedLedger
from gateway.memory.shared_config import SharedLedgerConfig

CLOCK = SystemClock()


def ledger_over(redis, *, timeout_s=0.25):
    config = SharedLedgerConfig(url="unix:///nowhere", timeout_s=timeout_s, lease_s=4 * timeout_s)
    leases = Leases(redis, prefix="test", backend="one", lease_s=config.lease_s, timeout_s=config.timeout_s)
    return SharedLedger(Ledger(100, CLOCK), leases, config, clock=CLOCK, tell=lambda *_: None)


async def test_a_wait_for_memory_ends_in_time_though_the_client_loses_cancellations():
    redis = DeafRedis(reserved_bytes=100, call_s=0.03)
    shared = ledger_over(redis)
    waiting = asyncio.create_task(shared.reserve(60, timeout_s=0.01))
    _, late = await asyncio.wait({waiting}, timeout=0.2)
    redis.call_s = 0.0
    waiting.cancel()
    assert not late
    with pytest.raises(MemoryFull):
        await waiting
    await shared.close()


async def test_a_cancelled_renewal_ends_at_once_though_the_client_loses_cancellations():
    redis = DeafRedis(reserved_bytes=0, call_s=0.2)
    shared = ledger_over(redis, timeout_s=0.01)
    running = asyncio.create_task(shared.run())
    while not redis.running:
        await CLOCK.sleep(0.002)
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=0.1)
    while not running.done() or redis.running:
        running.cancel()
        await CLOCK.sleep(0.002)
    assert done


async def test_a_call_that_outlasts_the_limit_is_given_up_though_it_cannot_be_cancelled():
    redis = DeafRedis(reserved_bytes=0, call_s=0.1)
    leases = Leases(redis, prefix="test", backend="one", lease_s=1.0, timeout_s=0.02)
    with pytest.raises(Unreachable, match="no answer within"):
        await leases.take("a", 1, capacity_bytes=10)
    while redis.running:
        await CLOCK.sleep(0.002)
