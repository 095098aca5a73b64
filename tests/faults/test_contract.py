"""The contract of every fault: it fires, it says so, and it is gone however its block ends."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from pathlib import Path
from random import Random

import msgspec
import pytest
from fault_stack import CLEAN, TOKEN, TOKEN_ENV, FaultStack, healthy, start_stack, traffic

from faults.catalogue import CATALOGUE, parameters, parse
from faults.clock import SystemClock
from faults.errors import NotApplicable, UndoFailed
from faults.fault import Fault, Firing, Target
from faults.http_call import call
from faults.journal import Journal, sweep
from faults.undo import GONE

pytestmark = pytest.mark.slow

# Parameters that make each fault show quickly in the test traffic.
QUICK = {
    "latency": "mean_ms=5",
    "bandwidth": "rate_kb_s=100",
    "timeout": "timeout_ms=5",
    "slicer": "delay_us=10",
    "limit_data": "limit_bytes=100",
    "slow_close": "delay_ms=5",
    "flapping": "down_s=5,up_s=0.02",
    "stall": "delay_s=0.02",
    "hang_before_headers": "delay_s=0.02",
    "slow_first_token": "delay_s=0.02",
    "huge_answer": "size_bytes=10000",
    "slow_start": "delay_s=0.02",
    "memory_spike": "headroom_bytes=209715200",
    "token_drop_prompt": "rate=0.5",
    "token_drop_answer": "rate=0.5",
    "synonyms_prompt": "rate=1",
    "synonyms_answer": "rate=1",
    "truncate_answer": "keep=3",
    "reorder_prompt": "rate=1",
    "reorder_answer": "rate=1",
    "language_answer": "rate=1",
    "mojibake_answer": "rate=1",
    "ledger_pressure": "held_bytes=1000",
    "decode_errors": "rate=1",
    "attention_errors": "rate=1",
    "slow_validator": "delay_ms=5",
}
LACKING = ("cgroup_limit", "cuda_ballast", "memory_fraction")
NOT_HERE = (*LACKING, "memory_spike")  # the last comes and goes: test_memory_spike.py
HERE = [name for name in CATALOGUE if name not in NOT_HERE]
KILLING = ("kill", "damaged_weights")
MET_BY_BEING_ON = (*KILLING, "ledger_pressure")  # no request is needed
NEVER_ANSWERS_S = 0.3  # how long a stopped backend is waited for


def limit_s(name: str) -> float:
    """How long a request may take under this fault; long, so that a busy machine changes no outcome."""
    return NEVER_ANSWERS_S if name == "hang" else 30.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultStack]:
    stack = start_stack(tmp_path_factory.mktemp("stack"))
    yield stack
    stack.stop()


@pytest.fixture
def target(stack: FaultStack, tmp_path: Path) -> Target:
    assert stack.state() == CLEAN
    return stack.target(tmp_path / "journal")


def quick(name: str) -> Fault:
    return parse(f"{name}:{QUICK.get(name, '')}")


def inject(name: str, target: Target, seed: str = "1") -> AbstractAsyncContextManager[Firing]:
    return quick(name).inject(target, clock=SystemClock(), rng=Random(f"{seed}/{name}"))


def records(target: Target) -> list[Path]:
    assert target.journal is not None
    return list(target.journal.glob("*"))


async def assert_undone(stack: FaultStack, target: Target) -> None:
    assert records(target) == []
    assert stack.state() == CLEAN
    assert await healthy(stack)


@pytest.mark.parametrize("name", HERE)
async def test_a_fault_fires_and_is_undone_when_its_block_returns(stack: FaultStack, target: Target, name: str) -> None:
    async with inject(name, target) as firing:
        assert len(records(target)) == 1
        await traffic(stack, limit_s(name))
    assert firing.fired, firing.evidence
    assert firing.evidence
    await assert_undone(stack, target)


class Boom(Exception):
    pass


@pytest.mark.parametrize("name", HERE)
async def test_a_fault_is_undone_when_its_block_raises(stack: FaultStack, target: Target, name: str) -> None:
    with pytest.raises(Boom):
        async with inject(name, target):
            raise Boom
    await assert_undone(stack, target)


@pytest.mark.parametrize("name", HERE)
async def test_a_fault_is_undone_when_its_block_is_cancelled(stack: FaultStack, target: Target, name: str) -> None:
    on = asyncio.Event()

    async def block() -> None:
        async with inject(name, target):
            on.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(block())
    await on.wait()
    task.cancel()
    asyncio.get_running_loop().call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    await assert_undone(stack, target)


@pytest.mark.parametrize("name", HERE)
async def test_two_equal_faults_overlap_without_nesting(stack: FaultStack, target: Target, name: str) -> None:
    first, second = inject(name, target), inject(name, target, seed="2")
    await first.__aenter__()
    other = await second.__aenter__()
    await first.__aexit__(None, None, None)
    assert stack.state() != CLEAN, "the second fault went with the first"
    await traffic(stack, limit_s(name))
    await second.__aexit__(None, None, None)
    assert other.fired, other.evidence
    await assert_undone(stack, target)


NEIGHBOURS = ["latency", "proxy_down", "address_space_limit", "blur", "decode_errors", "ledger_pressure", "hang"]


@pytest.mark.parametrize("neighbours", [NEIGHBOURS, *([name] for name in KILLING)], ids=lambda n: n[0])
@pytest.mark.parametrize("name", KILLING)
async def test_a_fault_that_ends_the_process_and_its_neighbours_may_end_in_any_order(
    stack: FaultStack, target: Target, name: str, neighbours: list[str]
) -> None:
    for ends_first in (True, False):
        others = [inject(neighbour, target, seed="2") for neighbour in neighbours]
        for other in others:
            await other.__aenter__()
        last = inject(name, target)
        firing = await last.__aenter__()
        for block in (last, *others) if ends_first else (*others, last):
            await block.__aexit__(None, None, None)
        assert firing.fired or neighbours == ["kill"], firing.evidence  # what is down does not start on other weights
        await assert_undone(stack, target)


async def test_what_is_killed_stays_down_until_the_last_who_wants_it_down_ends(
    stack: FaultStack, target: Target
) -> None:
    kill, damage = inject("kill", target), inject("damaged_weights", target)
    await kill.__aenter__()
    await damage.__aenter__()
    assert not stack.state()["running"]
    await damage.__aexit__(None, None, None)
    assert not stack.state()["running"]
    await kill.__aexit__(None, None, None)
    await assert_undone(stack, target)


@pytest.mark.parametrize("name", ["hang", "address_space_limit", "proxy_down", "latency"])
async def test_a_fault_is_undone_although_the_backend_was_killed_and_started_again(
    stack: FaultStack, target: Target, name: str
) -> None:
    async with AsyncExitStack() as outer:
        await outer.enter_async_context(inject(name, target))
        async with inject("kill", target) as firing:
            pass
        assert firing.fired
    await assert_undone(stack, target)


HARNESS = """
import asyncio, json, signal, sys
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from faults.clock import SystemClock
from faults.catalogue import parse
from faults.fault import Target
from faults.revival import Revival

async def main(faults, handles):
    paths = {name: Path(handles.pop(name)) for name in ("journal", "log", "control")}
    revival = Revival(**handles.pop("revival"))
    target = Target(
        **handles, **paths, pid=lambda: revival.running and revival.running.pid, revival=revival,
        restart=lambda: asyncio.to_thread(revival.revive),
    )
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    async with AsyncExitStack() as on:
        for fault in faults:
            await on.enter_async_context(parse(fault).inject(target, clock=SystemClock(), rng=Random(1)))
        print("on", flush=True)
        await asyncio.Event().wait()

asyncio.run(main(json.loads(sys.argv[1]), json.loads(sys.argv[2])))
"""
ALONE = ("hang", "proxy_down", "latency", "blur", "kill", "damaged_weights", "ledger_pressure")
TOGETHER = [name for name in HERE if name not in ALONE]


def harness_of(stack: FaultStack, target: Target, names: list[str]) -> "subprocess.Popen[bytes]":
    """A process that has these faults on, once it has said so."""
    handles = {
        "name": target.name,
        "url": target.url,
        "revival": msgspec.to_builtins(stack.revival),
        "gateway_url": target.gateway_url,
        "gateway_token": target.gateway_token,
        "gateway_token_env": target.gateway_token_env,
        "log": str(target.log),
        "toxiproxy_url": target.toxiproxy_url,
        "toxiproxy_proxy": target.toxiproxy_proxy,
        "semantic_url": target.semantic_url,
        "control": str(target.control),
        "journal": str(target.journal),
    }
    faults = [f"{name}:{QUICK.get(name, '')}" for name in names]
    argv = [sys.executable, "-c", HARNESS, json.dumps(faults), json.dumps(handles)]
    harness = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert harness.stdout is not None
    assert harness.stdout.readline() == b"on\n"
    return harness


SINGLY_AND_TOGETHER = [*([name] for name in ALONE), TOGETHER]


@pytest.mark.parametrize("names", SINGLY_AND_TOGETHER, ids=lambda n: n[0])
def test_a_harness_that_is_told_to_end_undoes_everything_by_itself(
    stack: FaultStack, target: Target, names: list[str]
) -> None:
    assert target.journal is not None
    with harness_of(stack, target, names) as harness:
        assert stack.state() != CLEAN
        harness.terminate()
        harness.wait(timeout=60)
    assert stack.state() == CLEAN
    assert sweep(target.journal) == [], "something was left to a sweep"
    asyncio.run(still_healthy(stack))


@pytest.mark.parametrize("names", SINGLY_AND_TOGETHER, ids=lambda n: n[0])
def test_what_a_killed_harness_left_on_is_undone_by_a_sweep(
    stack: FaultStack, target: Target, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert target.journal is not None
    monkeypatch.setenv(TOKEN_ENV, TOKEN)
    with harness_of(stack, target, names) as harness:
        assert sweep(target.journal) == [], "the fault of a living harness was swept"
        harness.kill()
    assert stack.state() != CLEAN
    assert len(sweep(target.journal)) == len(names)
    assert sweep(target.journal) == []
    assert stack.state() == CLEAN
    asyncio.run(still_healthy(stack))


async def still_healthy(stack: FaultStack) -> None:
    assert await healthy(stack)


PARAMETERS = {name: {parameter.name for parameter in parameters(name)} for name in HERE}
RATED = [name for name in HERE if {"rate", "toxicity"} & PARAMETERS[name]]


@pytest.mark.parametrize("name", RATED)
async def test_at_rate_0_a_fault_does_nothing_at_all(stack: FaultStack, target: Target, name: str) -> None:
    untouched = await traffic(stack)
    dial = "rate" if "rate" in PARAMETERS[name] else "toxicity"
    still = parse(f"{name}:{dial}=0" + (",mean_ms=9" if name == "latency" else ""))
    async with still.inject(target, clock=SystemClock(), rng=Random(1)) as firing:
        assert await traffic(stack) == untouched
    assert not firing.fired


@pytest.mark.parametrize("name", [name for name in RATED if "rate" in PARAMETERS[name]])
async def test_the_same_seed_gives_the_same_faults_at_the_same_requests(
    stack: FaultStack, target: Target, name: str
) -> None:
    half = parse(f"{name}:rate=0.5" + (",delay_s=0.01" if "delay_s" in QUICK.get(name, "") else ""))
    runs = []
    for _ in range(2):
        async with half.inject(target, clock=SystemClock(), rng=Random(5)) as firing:
            replies = await traffic(stack)
        runs.append((replies, firing.touched, firing.evidence))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", LACKING)
async def test_what_this_machine_lacks_is_said_and_nothing_is_changed(
    stack: FaultStack, target: Target, name: str
) -> None:
    with pytest.raises(NotApplicable, match=r"primary|cgroup"):
        async with inject(name, target):
            pass
    await assert_undone(stack, target)


@pytest.mark.parametrize("name", HERE)
async def test_a_target_without_the_handle_is_not_applicable(target: Target, name: str) -> None:
    bare = Target(name="bare", url=target.url, journal=target.journal)
    with pytest.raises(NotApplicable, match="bare"):
        async with inject(name, bare):
            pass
    assert records(target) == []


async def test_a_fault_that_met_no_request_has_not_fired(stack: FaultStack, target: Target) -> None:
    for name in HERE:
        if name in MET_BY_BEING_ON:
            continue
        async with inject(name, target) as firing:
            pass
        assert not firing.fired, name


async def test_an_undo_runs_twice_without_harm(stack: FaultStack, target: Target) -> None:
    for name in ("latency", "proxy_down", "hang", "address_space_limit", "blur"):
        journal = Journal.of(target)
        async with inject(name, target):
            (entry,) = journal.entries()
            journal.settle(entry)
            assert stack.state() == CLEAN
        journal.settle(entry)
        await assert_undone(stack, target)


async def test_damaged_weights_are_a_copy_and_the_sound_ones_come_back(stack: FaultStack, target: Target) -> None:
    sound = weights(stack)
    file = stack.folder / "model" / "model.safetensors"
    before = file.read_bytes()
    damaged = []
    for _ in range(2):
        async with inject("damaged_weights", target) as firing:
            damaged.append(weights(stack))
            assert file.read_bytes() == before
        assert firing.fired, firing.evidence
        assert weights(stack) == sound
        await assert_undone(stack, target)
    assert damaged[0] != sound
    assert damaged[0] == damaged[1], "the same seed flips the same bits"


async def test_of_two_damages_the_newer_one_is_loaded_and_the_other_when_that_ends(
    stack: FaultStack, target: Target
) -> None:
    sound = weights(stack)
    older, newer = inject("damaged_weights", target), inject("damaged_weights", target, seed="2")
    await older.__aenter__()
    of_older = weights(stack)
    await newer.__aenter__()
    assert weights(stack) not in (sound, of_older)
    await newer.__aexit__(None, None, None)
    assert weights(stack) == of_older
    await older.__aexit__(None, None, None)
    assert weights(stack) == sound
    await assert_undone(stack, target)


async def test_damaged_weights_are_undone_although_the_engine_died_of_them(stack: FaultStack, target: Target) -> None:
    sound = weights(stack)
    async with inject("damaged_weights", target):
        stack.revival.end()
    assert weights(stack) == sound
    await assert_undone(stack, target)


@pytest.mark.parametrize("name", KILLING)
async def test_a_fault_is_undone_that_is_cancelled_while_it_begins(
    stack: FaultStack, target: Target, name: str
) -> None:
    sound, before = weights(stack), stack.pid()

    async def block() -> None:
        async with inject(name, target):
            raise AssertionError("it began before it was cancelled")

    task = asyncio.create_task(block())
    while stack.pid() == before:
        await asyncio.sleep(0)  # noqa: TID251  (until the process is being ended)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert weights(stack) == sound
    await assert_undone(stack, target)


def test_what_a_sweep_may_not_release_in_a_ledger_is_said_and_ends_by_itself(
    stack: FaultStack, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert target.journal is not None
    monkeypatch.setitem(QUICK, "ledger_pressure", "held_bytes=1000,ttl_s=1.5")
    monkeypatch.delenv(TOKEN_ENV, raising=False)
    with harness_of(stack, target, ["ledger_pressure"]) as harness:
        harness.kill()
    with pytest.raises(UndoFailed, match=rf"401; set {TOKEN_ENV} to the admin token, or wait: it ends by itself in"):
        sweep(target.journal)
    assert stack.state() != CLEAN
    while stack.state() != CLEAN:
        threading.Event().wait(0.05)
    while records(target):
        with suppress(UndoFailed):
            assert [outcome for _, outcome in sweep(target.journal)] == [GONE]
    asyncio.run(still_healthy(stack))


def weights(stack: FaultStack) -> str:
    return str(call("GET", f"http://127.0.0.1:{stack.port}/weights").value["weights"])
