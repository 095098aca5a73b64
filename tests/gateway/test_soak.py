"""Hours of mixed load with faults that come and go: memory stays flat, levels and breakers come back.

Off unless TRUEFALL_SOAK_S names its length in seconds: `TRUEFALL_SOAK_S=3600 pytest -s tests/gateway/test_soak.py`.
TRUEFALL_SOAK_LEAK, bytes that the test keeps of each request, shows that a leak would be seen.
"""

import asyncio
import ctypes
import gc
import json
import os
from random import Random
from typing import NamedTuple

import psutil
import pytest
from measured import BYTE_PER_TOKEN
from misbehaviour import whole
from served import backend, gateway, policy_of
from test_storm import CALM, LIMITS, Chaotic, check_json, check_stream
from upstream_stub import running

from gateway.clock import SystemClock
from gateway.config import Memory
from gateway.deferred.config import Deferred

SOAK_S = float(os.environ.get("TRUEFALL_SOAK_S", "0"))
CLIENTS = int(os.environ.get("TRUEFALL_SOAK_CLIENTS", "8"))
SEED = os.environ.get("TRUEFALL_SOAK_SEED", "1")
CALM_S, ROUGH_S = 6.0, 4.0  # faults come and go
LEAK_BYTES = int(os.environ.get("TRUEFALL_SOAK_LEAK", "0"))
MOST_MIB_PER_100_000 = 2.0  # requests, in the last half: 21 bytes of each
NOISE_MIB = 2.0  # of memory in use from one reading to another
CLOCK = SystemClock()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SOAK_S <= 0, reason="opt in with TRUEFALL_SOAK_S, the length in seconds"),
]


class Reading(NamedTuple):
    """`taken_mib` is the process's memory, `used_mib` what is left when the allocator has given back what is free.

    A leak shows in both. Free memory between what is used stays taken, and grows for hours towards a plateau.
    """

    requests: int
    taken_mib: float
    used_mib: float


def rss_mib():
    return psutil.Process().memory_info().rss / 2**20


def give_back_free():
    """To the system, where the C library can (glibc); elsewhere what is taken counts as used."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def reading(counts):
    gc.collect()
    taken_mib = rss_mib()
    give_back_free()
    return Reading(sum(counts.values()), taken_mib, rss_mib())


def growth(readings):
    """Of the memory in use from the middle to the end, by the best line: MiB, and MiB per 100,000 requests."""
    last = readings[len(readings) // 2 :]
    middle = sum(one.requests for one in last) / len(last)
    spread = sum((one.requests - middle) ** 2 for one in last)
    slope = sum((one.requests - middle) * one.used_mib for one in last) / max(spread, 1.0)
    return slope * (last[-1].requests - last[0].requests), slope * 100_000


async def keep_asking(rng, served, ends_s, counts, leaked):
    while CLOCK.now_s() < ends_s:
        nonce = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=12))
        stream = rng.random() < 0.4
        body = {"messages": [{"role": "user", "content": f"{nonce} {'Tell me more. ' * rng.randint(0, 40)}"}]}
        raw = json.dumps({**body, "stream": stream, "max_tokens": rng.randint(1, 100)}).encode()
        headers = {"Prefer": "respond-async"} if rng.random() < 0.1 else {}
        call = asyncio.create_task(served.post("/v1/chat/completions", raw, **headers))
        if rng.random() < 0.05:
            await CLOCK.sleep(rng.uniform(0, 0.05))
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            continue
        answer = await call
        assert answer.status in (200, 202, 206, 429)
        if answer.status != 202:
            streamed = stream and answer.headers["Content-Type"].startswith("text/event-stream")
            (check_stream if streamed else check_json)(answer, nonce)
        counts[answer.status] = counts.get(answer.status, 0) + 1
        if LEAK_BYTES:
            leaked.append(bytearray(LEAK_BYTES))
        await CLOCK.sleep(rng.uniform(0, 0.02))


async def weather(rng, scripts, ends_s):
    """Calm and rough spells in turn; the last quarter of the time is calm."""
    while CLOCK.now_s() < ends_s:
        for script in scripts:
            script.bad_share = 0.0
        await CLOCK.sleep(min(CALM_S, max(0.0, ends_s - CLOCK.now_s())))
        if CLOCK.now_s() < ends_s:
            for script in scripts:
                script.bad_share = rng.uniform(0.1, 0.9)
            await CLOCK.sleep(min(ROUGH_S, max(0.0, ends_s - CLOCK.now_s())))
    for script in scripts:
        script.bad_share = 0.0


async def measure(ends_s, counts, readings):
    """At each tenth of the time, and at the start."""
    began_s = ends_s - SOAK_S
    for tenth in range(11):
        await CLOCK.sleep(max(0.0, began_s + tenth * SOAK_S / 10 - CLOCK.now_s()))
        readings.append(reading(counts))


async def test_memory_stays_flat_and_everything_comes_back(tmp_path):
    scripts = [Chaotic(Random(f"{SEED}/{name}"), 0.0) for name in ("primary", "secondary")]
    policy = policy_of(
        limits=LIMITS,
        breaker={"consecutive_failures": 3, "open_s": 0.5},
        overload={"max_retry_after_s": 0.1},
        health={**CALM, "oom_per_min": 5.0},
        decision={"apply": "always", "most_latency_ms": 100.0, "forget_s": 2.0},
    )
    async with (
        running(scripts[0]) as one,
        running(scripts[1]) as two,
        gateway(
            backend(one, "primary", memory=Memory(kv_capacity_bytes=3000, shape=BYTE_PER_TOKEN)),
            backend(two, "secondary", upstream_stream="always"),
            policy=policy,
            deferred=Deferred(path=tmp_path / "async.db", ttl_s=5.0, max_pending=20),
        ) as served,
    ):
        log = served.runtime.log._out  # in memory here
        began_s, counts, readings, leaked = CLOCK.now_s(), {}, [], []
        ends_s = began_s + SOAK_S
        asking = [keep_asking(Random(f"{SEED}/{n}"), served, ends_s, counts, leaked) for n in range(CLIENTS)]
        rough_until_s = began_s + 0.75 * SOAK_S
        await asyncio.gather(
            *asking,
            weather(Random(SEED), scripts, rough_until_s),
            measure(ends_s, counts, readings),
            forget(scripts, (one, two), log, ends_s),
        )
        async with asyncio.timeout(90):
            while served.runtime.health.level != "healthy" or any(
                backend_.breaker.state != "closed" for backend_ in served.runtime.backends.values()
            ):
                await CLOCK.sleep(0.05)
        assert served.runtime.in_flight == 0
        assert served.runtime.backends["primary"].ledger.snapshot().reserved_bytes == 0
        answer = await served.chat("afterwards What is the capital of France?")
        assert (answer.text, answer.record) == (whole("afterwards"), {"level": "healthy"})
    grown_mib, per_100_000 = growth(readings)
    print(f"\n{sum(counts.values())} requests {counts} in {SOAK_S:g} s")
    print("MiB taken: " + " ".join(f"{one.taken_mib:.1f}" for one in readings))
    print("MiB used:  " + " ".join(f"{one.used_mib:.1f}" for one in readings))
    print(f"in use, last half: {grown_mib:+.1f} MiB, {per_100_000:+.1f} per 100,000 requests")
    assert grown_mib < NOISE_MIB or per_100_000 < MOST_MIB_PER_100_000


async def forget(scripts, upstreams, log, ends_s):
    """The test's own notes must not grow."""
    while CLOCK.now_s() < ends_s:
        await CLOCK.sleep(1.0)
        log.seek(0)
        log.truncate()
        for script in scripts:
            script.played.clear()
        for upstream in upstreams:
            upstream.seen.clear()
            upstream.heads.clear()
