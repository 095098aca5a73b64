"""Many clients at once, backends that misbehave in every way, clients that leave: nothing breaks, leaks or lies."""

import asyncio
import json
from collections import defaultdict
from random import Random
from string import ascii_lowercase

import pytest
from measured import BYTE_PER_TOKEN
from misbehaviour import BAD, GOOD, nonce_of, whole
from served import backend, gateway, policy_of
from upstream_stub import running

from gateway.clock import SystemClock
from gateway.config import Memory

CLOCK = SystemClock()
CLIENTS, REQUESTS = 32, 6
LIMITS = {"default": {"connect_s": 5.0, "first_token_s": 0.4, "idle_s": 0.3, "total_s": 5.0}}
LEAVES = "leaves"
WARY = {"consecutive_failures": 3, "open_s": 0.1}
CALM = {"cool_down_s": 0.1, "dwell_s": 0.05, "probe_s": 0.05}
PATIENT = {"consecutive_failures": 1000, "min_calls": 9999}


class Chaotic:
    """A backend that plays a random kind per request, and remembers which."""

    def __init__(self, rng: Random, bad_share: float) -> None:
        self._rng = rng
        self.bad_share = bad_share
        self.played: dict[str, list[str]] = defaultdict(list)

    async def __call__(self, writer, body):
        kinds = BAD if self._rng.random() < self.bad_share else GOOD
        name = self._rng.choice(sorted(kinds))
        if body["messages"][-1]["content"] != "ping":
            self.played[nonce_of(body)].append(name)
        await kinds[name](body)(writer, body)


def check_json(answer, nonce):
    record = answer.record
    if answer.status == 200 and not record.get("abstained"):
        assert answer.text == whole(nonce)
    if answer.status == 429:
        assert int(answer.headers["Retry-After"]) >= 1
    return record, not record.get("abstained", False)


def check_stream(answer, nonce):
    events = answer.events
    if events[-1] != "[DONE]":  # it failed, and says so
        assert "error" in events[-1]
        assert events[-1]["degradation"]["level"] != "healthy"
        return events[-1]["degradation"], False
    record = answer.streamed_record
    if not record.get("abstained"):
        assert answer.streamed_text == whole(nonce)
    return record, not record.get("abstained", False)


def check_truth(record, answered, nonce, primary, secondary):
    """The record against what the backends really did."""
    plays = {"primary": primary.played[nonce], "secondary": secondary.played[nonce]}
    assert all(len(kinds) <= 1 for kinds in plays.values())  # each target at most once
    if record["level"] == "healthy":
        assert record == {"level": "healthy"}
        assert plays["primary"][0] in GOOD
        return
    assert record["reasons"]
    if answered and record["path"] in plays:
        assert plays[record["path"]][0] in GOOD
    for attempt in record.get("attempts", []):
        kinds = plays[attempt["path"]]
        if attempt["outcome"] in ("failed", "indeterminate") and attempt["reason"] != "timeout":  # a busy machine's
            assert kinds, attempt
            assert kinds[0] in BAD, (kinds, attempt)
        if attempt["outcome"] == "ok":
            assert kinds[0] in GOOD, (kinds, attempt)


async def client(rng, served, backends, seen):
    for _ in range(REQUESTS):
        nonce = "".join(rng.choices(ascii_lowercase, k=12))
        stream, leaves = rng.random() < 0.5, rng.random() < 0.15
        body = {"messages": [{"role": "user", "content": f"{nonce} What is the capital of France?"}], "stream": stream}
        call = asyncio.create_task(
            served.post("/v1/chat/completions", json.dumps({**body, "max_tokens": rng.randint(1, 200)}).encode())
        )
        if leaves:
            await CLOCK.sleep(rng.uniform(0.0, 0.1))
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            seen[LEAVES] += 1
            continue
        answer = await call
        assert answer.status in (200, 206, 429)
        streamed = stream and answer.headers["Content-Type"].startswith("text/event-stream")
        record, answered = (check_stream if streamed else check_json)(answer, nonce)
        check_truth(record, answered, nonce, *backends)
        seen[record["level"]] += 1


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "wary"), [(1, False), (2, True), (3, False)])
async def test_a_storm_breaks_leaks_and_hides_nothing(seed, wary):
    policy = policy_of(
        limits=LIMITS,
        deadline={"request_s": 10.0},
        breaker=WARY if wary else PATIENT,
        overload={"max_retry_after_s": 0.05},
        health={"p99_ms": 60_000.0, "oom_per_min": 9999.0, "ledger_high": 0.98, "ledger_critical": 0.99, **CALM},
    )
    memory = Memory(kv_capacity_bytes=2000, shape=BYTE_PER_TOKEN)
    scripts = Chaotic(Random(f"{seed}/primary"), 0.5), Chaotic(Random(f"{seed}/secondary"), 0.3)
    async with (
        running(scripts[0]) as one,
        running(scripts[1]) as two,
        gateway(
            backend(one, "primary", memory=memory, max_concurrent=12, max_queue=40),
            backend(two, "secondary", max_concurrent=12, max_queue=40, engine="openai", upstream_stream="always"),
            policy=policy,
        ) as served,
    ):
        before = len(asyncio.all_tasks())
        seen = defaultdict(int)
        await asyncio.gather(*[client(Random(f"{seed}/{number}"), served, scripts, seen) for number in range(CLIENTS)])
        assert sum(seen.values()) == CLIENTS * REQUESTS
        assert all(seen[kind] for kind in ("healthy", "degraded", "critical", LEAVES)), dict(seen)
        await until_quiet(served)
        for one_backend in served.runtime.backends.values():
            assert one_backend.lane.view()[:2] == (0, 0)
            assert one_backend.ledger is None or one_backend.ledger.snapshot().reserved_bytes == 0
            assert one_backend.ledger is None or one_backend.ledger.snapshot().waiting == 0
        assert len(served.runtime.session.connector._acquired) == 0  # no call to a backend is left open
        assert len(asyncio.all_tasks()) <= before + one.open_calls + two.open_calls + 2  # idle connections of the stub
        one.script = two.script = Chaotic(Random(seed), 0.0)
        for name in served.runtime.backends:
            await served.admin("POST", "breaker", {"backend": name, "state": "closed"})
        await CLOCK.sleep(0.1)  # until the last Retry-After is over
        async with asyncio.timeout(20):
            while served.runtime.health.level != "healthy":
                await CLOCK.sleep(0.02)
        nonce = "afterwards"
        answer = await served.chat(f"{nonce} What is the capital of France?")
        assert (answer.text, answer.record) == (whole(nonce), {"level": "healthy"})


async def until_quiet(served):
    async with asyncio.timeout(20):
        while served.runtime.in_flight or served.runtime.session.connector._acquired:
            await CLOCK.sleep(0.01)
