"""Memory that is taken once a request was admitted: it comes with a request, fails allocations, and goes again."""

import asyncio
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from fault_stack import CLEAN, FaultStack, healthy, send, start_stack
from test_contract import harness_of

from faults.clock import SystemClock
from faults.errors import NotApplicable
from faults.fault import Target
from faults.journal import sweep
from faults.memory import AddressSpaceLimit, address_space_bytes
from faults.memory_spike import MemorySpike, begun

pytestmark = pytest.mark.slow
SPIKE = MemorySpike(headroom_bytes=200 * 2**20, hold_s=5.0)  # room for threads of the stub, not for what it is asked
ENDLESS = "wait 60000 ms"  # the client leaves before


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultStack]:
    stack = start_stack(tmp_path_factory.mktemp("stack"))
    yield stack
    stack.stop()


async def long_request(stack: FaultStack) -> str:
    """Send one that takes memory once memory was taken from the backend; the reply."""
    prompt = "until 500000000 are left. allocate 900000000"
    return await send(stack, trial="long", stream=False, prompt=prompt, limit_s=60.0)


async def test_a_spike_comes_with_a_request_proves_itself_and_goes_with_it(stack: FaultStack, tmp_path: Path) -> None:
    target = stack.target(tmp_path / "journal")
    idle_bytes = address_space_bytes(stack.pid())
    async with SPIKE.inject(target, clock=SystemClock(), rng=Random(1)) as firing:
        assert stack.state() == CLEAN, "memory was taken before any request"
        assert "Internal Server Error" in await long_request(stack)
        while stack.state() != CLEAN:
            await SystemClock().sleep(0.01)
    assert firing.fired, firing.evidence
    limits = {line.rsplit(" ", 2)[-2] for line in firing.evidence if "limited to" in line}
    assert limits == {str(idle_bytes + SPIKE.headroom_bytes)}, "what a request had got by then was added"
    assert await healthy(stack)


async def test_a_spike_is_undone_when_its_block_is_cancelled_while_it_holds(stack: FaultStack, tmp_path: Path) -> None:
    target = stack.target(tmp_path / "journal")
    struck = asyncio.Event()

    async def block() -> None:
        async with SPIKE.inject(target, clock=SystemClock(), rng=Random(1)):
            sending = asyncio.create_task(send(stack, trial="t", stream=False, prompt=ENDLESS, limit_s=60.0))
            while stack.state() == CLEAN:
                await SystemClock().sleep(0.01)
            struck.set()
            await sending

    task = asyncio.create_task(block())
    await struck.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stack.state() == CLEAN
    assert list((tmp_path / "journal").glob("*")) == []


async def test_a_spike_is_undone_when_its_block_raises_while_a_neighbour_is_on(
    stack: FaultStack, tmp_path: Path
) -> None:
    target = stack.target(tmp_path / "journal")
    neighbour = AddressSpaceLimit(headroom_bytes=2**30)
    fired = []

    async def block() -> None:
        async with (
            neighbour.inject(target, clock=SystemClock(), rng=Random(1)),
            SPIKE.inject(target, clock=SystemClock(), rng=Random(1)) as firing,
        ):
            await long_request(stack)
            while not firing.fired:
                await SystemClock().sleep(0.01)
            fired.append(firing)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await block()
    assert fired
    assert stack.state() == CLEAN
    assert list((tmp_path / "journal").glob("*")) == []


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_a_harness_that_ends_while_it_holds_the_memory_leaves_at_most_what_a_sweep_undoes(
    stack: FaultStack, tmp_path: Path, end: signal.Signals
) -> None:
    target = stack.target(tmp_path / "journal")
    assert target.journal is not None
    harness = harness_of(stack, target, ["memory_spike"])
    sending = asyncio.create_task(send(stack, trial="t", stream=False, prompt=ENDLESS, limit_s=60.0))
    while stack.state() == CLEAN:
        assert not sending.done(), "memory was never taken"
        await SystemClock().sleep(0.01)
    harness.send_signal(end)
    harness.wait(timeout=30)
    if harness.stdout is not None:
        harness.stdout.close()
    left = sweep(target.journal)
    assert len(left) == (1 if end is signal.SIGKILL else 0)
    assert stack.state() == CLEAN
    sending.cancel()
    assert await healthy(stack)


async def test_without_requests_nothing_fires(stack: FaultStack, tmp_path: Path) -> None:
    target = stack.target(tmp_path / "journal")
    before = begun(target)
    async with SPIKE.inject(target, clock=SystemClock(), rng=Random(1)) as firing:
        await SystemClock().sleep(0.1)
    assert begun(target) == before
    assert not firing.fired


async def test_on_a_gpu_the_backend_may_be_somebody_elses_process(stack: FaultStack, tmp_path: Path) -> None:
    target = replace(stack.target(tmp_path / "journal"), device="cuda", pid=lambda: None)
    async with SPIKE.inject(target, clock=SystemClock(), rng=Random(1)) as firing:
        pass
    assert not firing.fired


async def test_a_target_that_cannot_tell_its_requests_is_refused() -> None:
    with pytest.raises(NotApplicable, match="no semantic proxy"):
        async with SPIKE.inject(Target(name="bare", url="http://127.0.0.1:9"), clock=SystemClock(), rng=Random(1)):
            pass
