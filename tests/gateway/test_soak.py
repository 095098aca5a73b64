"""Hours of mixed load with faults that come and go: memory stays flat, levels and breakers come back each time.

A rough spell is longer than `escalate_s`, so that out of memory leads to critical. A calm one is longer than the
longest request and the time that deaths by memory and slow answers count (`health.window_s`, 60 s by default and
4 s here) together, so that the level can come back in it.
All four layers are on (soak_traffic.py): exact token counts, the process's own memory behind ledger and guard, rules,
kept answers with their file, manifests that are written anew in each round, prompts that have to be cut. Each must have
been at work.
Off unless TRUEFALL_SOAK_S names its length in seconds: `TRUEFALL_SOAK_S=3600 pytest -s tests/gateway/test_soak.py`.
TRUEFALL_SOAK_LEAK, bytes that the test keeps of each request, shows that a leak would be seen.
"""

import asyncio
import gc
import json
import os
from collections import Counter
from random import Random
from typing import NamedTuple

import pytest
from memory_in_use import taken_mib, used_mib
from misbehaviour import whole
from served import backend, gateway, policy_of
from soak_diary import Diary, Spell
from soak_traffic import (
    CONTEXT_TOKENS,
    LAYERS,
    ORDER,
    Honest,
    Questions,
    answers_of,
    checked,
    names_of,
    question_for,
    write_manifests,
)
from test_storm import CALM, LIMITS
from upstream_stub import running

from gateway.clock import SystemClock
from gateway.config import Memory
from gateway.deferred.config import Deferred
from gateway.memory import KvShape, kv_bytes
from gateway.prompt.tokens import TokenCounter
from harness.models import prepare

SOAK_S = float(os.environ.get("TRUEFALL_SOAK_S", "0"))
CLIENTS = int(os.environ.get("TRUEFALL_SOAK_CLIENTS", "8"))
SEED = os.environ.get("TRUEFALL_SOAK_SEED", "1")
CALM_S, ROUGH_S = 16.0, 4.0  # faults come and go
LONGEST_S, FORGETS_S, ESCALATES_S = 5.0, 4.0, 1.0
LOOK_S = 0.05
LEAST_BY_MODELS = 0.95  # of the answers that begin and end while it is calm and the level healthy
LEAK_BYTES = int(os.environ.get("TRUEFALL_SOAK_LEAK", "0"))
MOST_MIB_PER_100_000 = 2.0  # requests, in the last half: 21 bytes of each
FILLED_S = 600.0  # a shorter run looks only at how kept answers, words and windows fill up to their bounds
NOISE_MIB = 2.0  # of memory in use from one reading to another
CLOCK = SystemClock()
KV_TOKENS, LIMIT_BYTES = 3000, 8 * 2**30  # what the primary's ledger holds, and what its process may take
pytestmark = [
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.skipif(SOAK_S <= 0, reason="opt in with TRUEFALL_SOAK_S, the length in seconds"),
]


class Reading(NamedTuple):
    """`taken_mib` is the process's memory, `used_mib` what is left when the allocator has given back what is free.

    A leak shows in both. Free memory between what is used stays taken, and grows for hours towards a plateau.
    """

    requests: int
    taken_mib: float
    used_mib: float


def reading(counts):
    return Reading(sum(counts.values()), taken_mib(), used_mib())


def growth(readings):
    """Of the memory in use from the middle to the end, by the best line: MiB, and MiB per 100,000 requests."""
    last = readings[len(readings) // 2 :]
    middle = sum(one.requests for one in last) / len(last)
    spread = sum((one.requests - middle) ** 2 for one in last)
    slope = sum((one.requests - middle) * one.used_mib for one in last) / max(spread, 1.0)
    return slope * (last[-1].requests - last[0].requests), slope * 100_000


def path_of(answer, record):
    if answer.status in (202, 429):
        return {202: "later", 429: "refused"}[answer.status]
    return "primary" if record["level"] == "healthy" else record["path"] or "failed stream"


async def keep_asking(questions, served, ends_s, diary, leaked):
    rng = questions.rng
    while CLOCK.now_s() < ends_s:
        question = questions.next()
        spell, level = diary.spells[-1], served.runtime.health.level
        call = asyncio.create_task(served.post("/v1/chat/completions", question.raw, **question.headers))
        if rng.random() < 0.05:
            await CLOCK.sleep(rng.uniform(0, 0.05))
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            continue
        answer = await call
        assert answer.status in (200, 202, 206, 429)
        record = checked(question, answer, diary.layers) if answer.status != 202 else None
        diary.wrote(spell, str(level), path_of(answer, record))
        diary.statuses[answer.status] += 1
        if LEAK_BYTES:
            leaked.append(bytearray(LEAK_BYTES))
        await CLOCK.sleep(rng.uniform(0, 0.02))


async def weather(rng, scripts, served, diary, ends_s):
    """Calm and rough spells in turn, each calm one as long as the others; what is left of the time is calm."""
    while CLOCK.now_s() < ends_s:
        last = CLOCK.now_s() + CALM_S + ROUGH_S + CALM_S > ends_s
        write_manifests(served.runtime.config.manifests.path, len(diary.spells))
        await spell_of(0.0, ends_s if last else CLOCK.now_s() + CALM_S, scripts, served, diary)
        if not last:
            await spell_of(rng.uniform(0.2, 0.9), CLOCK.now_s() + ROUGH_S, scripts, served, diary)


async def spell_of(bad_share, until_s, scripts, served, diary):
    spell = Spell(bad_share, CLOCK.now_s())
    diary.spells.append(spell)
    for script in scripts:
        script.bad_share = bad_share
    while CLOCK.now_s() < until_s:
        await CLOCK.sleep(LOOK_S)
        spell.look(str(served.runtime.health.level))
    if spell.calm:
        assert spell.last == "healthy", f"after {CALM_S:g} s of calm: {served.runtime.facts()}"
        assert all(one.breaker.state == "closed" for one in served.runtime.backends.values())
    elif bad_share:
        assert spell.levels != {"healthy"}, "the faults changed nothing"


async def measure(ends_s, counts, readings):
    """At each tenth of the time, and at the start."""
    began_s = ends_s - SOAK_S
    for tenth in range(11):
        await CLOCK.sleep(max(0.0, began_s + tenth * SOAK_S / 10 - CLOCK.now_s()))
        readings.append(reading(counts))


@pytest.fixture(scope="module")
def model_dir():
    """A real tokenizer, chat template and config."""
    return prepare(["smollm2-135m-instruct"])[0].path


@pytest.fixture(scope="module")
def frozen(model_dir):
    """What the imports made is not looked at in each collection: that would hold up everybody."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def memory_of(model_dir):
    """Of the test's own process, in which clients, gateway and backends are together."""
    shape = KvShape.from_config(json.loads((model_dir / "config.json").read_text()))
    room_bytes = kv_bytes(shape, KV_TOKENS)
    return Memory(probe="process", pid=os.getpid(), limit_bytes=LIMIT_BYTES, kv_capacity_bytes=room_bytes)


@pytest.mark.usefixtures("frozen")
async def test_memory_stays_flat_and_the_level_comes_back_after_every_rough_spell(tmp_path, model_dir):
    counter = TokenCounter.load(model_dir)
    scripts = [Honest(Random(f"{SEED}/{name}"), counter) for name in ("primary", "secondary")]
    policy = policy_of(
        paths={"order": ORDER},
        limits=LIMITS,
        deadline={"request_s": LONGEST_S},
        breaker={"consecutive_failures": 3, "open_s": 0.5},
        overload={"max_retry_after_s": 0.1},
        health={**CALM, "oom_per_min": 5.0, "window_s": FORGETS_S, "escalate_s": ESCALATES_S},
        validation={"max_answer_bytes": 100_000},
        decision={"apply": "always", "most_latency_ms": 100.0, "forget_s": 2.0, "sla_s": 60.0},
        cache={"max_entries": 100},
    )
    answers, manifests = answers_of(tmp_path)
    async with (
        running(scripts[0]) as one,
        running(scripts[1]) as two,
        gateway(
            backend(one, "primary", model_dir=model_dir, context_tokens=CONTEXT_TOKENS, memory=memory_of(model_dir)),
            backend(two, "secondary", upstream_stream="always"),
            policy=policy,
            answers=answers,
            manifests=manifests,
            deferred=Deferred(path=tmp_path / "async.db", ttl_s=5.0, max_pending=20, deadline_s=2.0),
        ) as served,
    ):
        log = served.runtime.log._out  # in memory here
        diary, readings, leaked, names = Diary(), [], [], names_of(SEED)
        ends_s = CLOCK.now_s() + SOAK_S
        async with asyncio.TaskGroup() as group:
            group.create_task(weather(Random(SEED), scripts, served, diary, ends_s))
            group.create_task(measure(ends_s, diary.statuses, readings))
            group.create_task(forget((one, two), log, ends_s))
            await CLOCK.sleep(0)  # the first spell begins
            for number in range(CLIENTS):
                questions = Questions(Random(f"{SEED}/{number}"), names)
                group.create_task(keep_asking(questions, served, ends_s, diary, leaked))
        assert served.runtime.in_flight == 0
        assert served.runtime.backends["primary"].ledger.snapshot().reserved_bytes == 0
        print(f"\n{diary.statuses.total()} requests {dict(diary.statuses)} in {SOAK_S:g} s")
        print(diary.told())
        print(f"answers that show a layer at work: {dict(diary.layers)}")
        answer = await served.chat("afterwards What is the capital of France?")
        assert (answer.text, answer.record) == (whole("afterwards"), {"level": "healthy"})
        for script in scripts:
            script.bad_share = 0.0
        await require_layers(served, diary)
    assert (tmp_path / "cache.bin").stat().st_size > 0
    grown_mib, per_100_000 = growth(readings)
    print("MiB taken: " + " ".join(f"{one.taken_mib:.1f}" for one in readings))
    print("MiB used:  " + " ".join(f"{one.used_mib:.1f}" for one in readings))
    print(f"in use, last half: {grown_mib:+.1f} MiB, {per_100_000:+.1f} per 100,000 requests")
    assert diary.share_by_models("calm", "healthy", "degraded", "critical") > 0.5  # the way back included
    assert diary.share_by_models("calm", "healthy") >= LEAST_BY_MODELS
    planned = int((SOAK_S - CALM_S) / (CALM_S + ROUGH_S))
    assert sum(not spell.calm for spell in diary.spells) >= int(0.9 * planned)  # a busy machine makes a spell longer
    assert any("critical" in spell.levels for spell in diary.spells)
    if SOAK_S >= FILLED_S:
        assert grown_mib < NOISE_MIB or per_100_000 < MOST_MIB_PER_100_000


async def require_layers(served, diary):
    """Each layer is on to the end, and at work."""
    now = (await served.admin("GET", "state")).json
    newest = max(number for number, spell in enumerate(diary.spells) if spell.calm)  # they are written before calm
    assert {one["name"] for one in now["manifests"]["all"]} == {f"canary-{newest}", "never-here"}
    assert now["backends"]["primary"]["ledger"]["capacity_bytes"] > 0
    assert 0 < now["backends"]["primary"]["memory"]["free_bytes"] < LIMIT_BYTES
    for wanted in LAYERS:
        async with asyncio.timeout(30):
            while not await shows(wanted, served):
                await CLOCK.sleep(0.2)  # for keeping an answer there has to be time left over


async def shows(wanted, served):
    """Whether the layer answers, or says in the record what it did."""
    question = question_for(wanted)
    if wanted == "cache":
        await served.post("/v1/chat/completions", question.raw)
    await move(served, "open" if wanted in ("cache", "rules") else "closed")
    answer = await served.post("/v1/chat/completions", question.raw, **question.headers)
    await move(served, "closed")
    layers = Counter()
    checked(question, answer, layers)
    return set(layers) == {wanted}


async def move(served, to):
    """The breaker of every backend."""
    for name in served.runtime.backends:
        await served.admin("POST", "breaker", {"backend": name, "state": to})


async def forget(upstreams, log, ends_s):
    """The test's own notes must not grow."""
    while CLOCK.now_s() < ends_s:
        await CLOCK.sleep(1.0)
        log.seek(0)
        log.truncate()
        for upstream in upstreams:
            upstream.seen.clear()
            upstream.heads.clear()
