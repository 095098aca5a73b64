"""Any one full backend degrades the level; only where none has room, new work is refused."""

from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from measured import GOOD, Cgroup
from served import backend, gateway
from upstream_stub import running, says

from gateway.health import HealthMarks, HealthState, step, triggers
from gateway.memory.config import Memory
from gateway.record import Level

MARKS = HealthMarks(escalate_s=0.0, dwell_s=0.0)


@asynccontextmanager
async def two(tmp_path, *, measured=("primary", "secondary")):
    """Two backends, and the memory of each that is measured."""
    groups = {name: Cgroup(tmp_path / name) for name in measured}
    async with AsyncExitStack() as stack:
        ups = [await stack.enter_async_context(running(says(GOOD))) for _ in range(2)]
        backends = [
            backend(up, name, memory=groups[name].memory() if name in groups else Memory())
            for up, name in zip(ups, ("primary", "secondary"), strict=True)
        ]
        served = await stack.enter_async_context(gateway(*backends, tick_s=60.0))
        yield served, groups


def level_of(runtime):
    """Where the level settles while nothing changes."""
    state = HealthState()
    for moment in range(4):
        state = step(state, runtime.facts(), float(moment), MARKS)
    return state.level


async def test_one_full_device_of_two_degrades_and_both_are_critical(tmp_path):
    async with two(tmp_path) as (served, groups):
        assert triggers(served.runtime.facts(), MARKS) == ()
        groups["secondary"].use(960)
        facts = served.runtime.facts()
        assert (facts.device_memory_share, facts.room) == (0.96, True)
        assert triggers(facts, MARKS) == ("device_memory_share",)
        assert level_of(served.runtime) is Level.DEGRADED
        groups["primary"].use(970)
        assert level_of(served.runtime) is Level.CRITICAL


async def test_one_full_ledger_of_two_degrades_and_both_are_critical(tmp_path):
    async with two(tmp_path) as (served, _):
        ledgers = [one.ledger for one in served.runtime.backends.values()]
        ledgers[0].try_reserve(960)
        facts = served.runtime.facts()
        assert (facts.ledger_occupancy, facts.room) == (0.96, True)
        assert level_of(served.runtime) is Level.DEGRADED
        ledgers[1].try_reserve(960)
        assert level_of(served.runtime) is Level.CRITICAL


async def test_a_dead_backend_is_no_full_one_and_no_room_either(tmp_path):
    async with two(tmp_path) as (served, groups):
        groups["primary"].die()
        facts = served.runtime.facts()
        assert (triggers(facts, MARKS), facts.device_memory_share, facts.room) == ((), 0.0, True)
        assert level_of(served.runtime) is Level.HEALTHY
        groups["secondary"].use(960)
        assert not served.runtime.facts().room
        groups["secondary"].die()
        facts = served.runtime.facts()
        assert (triggers(facts, MARKS), facts.device_memory_share) == ((), None)


@pytest.mark.parametrize(("state", "level"), [("closed", Level.DEGRADED), ("open", Level.CRITICAL)])
async def test_a_backend_without_measured_memory_is_room_while_its_breaker_lets_it_be_asked(tmp_path, state, level):
    async with two(tmp_path, measured=("primary",)) as (served, groups):
        groups["primary"].use(960)
        await served.admin("POST", "breaker", {"backend": "secondary", "state": state})
        assert level_of(served.runtime) is level
