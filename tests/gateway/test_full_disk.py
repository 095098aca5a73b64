"""The disk fills up under the queue: what was accepted is answered all the same, and on disk once there is room."""

import asyncio
import resource
from contextlib import contextmanager

import pytest
from served import backend, gateway, policy_of
from test_async_answers import ASKED, Wall, ask, fetched, series, slow, store
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.deferred.config import Deferred
from gateway.deferred.job import Status, StoreError

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
PATIENT = policy_of(decision={"apply": "always"}, limits={"default": {"first_token_s": 60.0, "total_s": 60.0}})


@contextmanager
def full_disk():
    """No file of this process grows, or is changed, any more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Gate:
    """A backend that answers once it is opened."""

    def __init__(self):
        self.open = asyncio.Event()

    async def __call__(self, writer, body):
        await self.open.wait()
        await says(GOOD)(writer, body)


async def test_all_that_was_accepted_is_answered_while_the_disk_is_full_and_kept_when_it_is_freed(tmp_path):
    gate, config = Gate(), Deferred(path=tmp_path / "async.db")
    async with running(gate) as up, gateway(backend(up, "primary"), policy=PATIENT, deferred=config) as served:
        slow(served)
        accepted = [await ask(served, f"Question {number}?") for number in range(4)]
        assert [one.status for one in accepted] == [202] * 4
        while not up.seen:
            await CLOCK.sleep(0.01)
        with full_disk():
            gate.open.set()
            async with asyncio.timeout(15):
                answers = [await fetched(served, one) for one in accepted]
            slow(served)
            refused = await ask(served)  # nothing more is promised
            during = await series(served)
        assert [(one.status, one.text) for one in answers] == [(200, GOOD)] * 4
        assert (refused.status, refused.text) == (200, GOOD)
        assert during['truefall_async_jobs{status="done"}'] == 4
        assert during['truefall_async_jobs{status="queued"}'] == during['truefall_async_jobs{status="running"}'] == 0
        assert during["truefall_async_unsaved"] == 4
        assert b"Paris" not in config.path.read_bytes()
        async with asyncio.timeout(15):
            while config.path.read_bytes().count(GOOD.encode()) < 4:
                await CLOCK.sleep(0.05)
        assert [(await fetched(served, one)).text for one in accepted] == [GOOD] * 4
        after = await series(served)
        assert (after['truefall_async_total{what="finished"}'], after["truefall_async_unsaved"]) == (4, 0)
        served.runtime.log.flush()
        told = served.runtime.log._out.getvalue()
        assert (told.count('"async_unsaved"'), told.count('"async_saved"')) == (1, 1)
        assert len(up.seen) == 5  # nobody was asked twice
        slow(served)
        assert (await ask(served)).status == 202  # there is room again


def test_without_room_no_job_is_taken_twice_and_none_is_lost(tmp_path):
    wall = Wall()
    jobs = store(tmp_path, wall)
    first, second, third = (jobs.put(ASKED, tenant="t") for _ in range(3))
    assert jobs.claim(lease_s=10).id == first
    with full_disk():
        wall.time_s += 20  # the lease could not be renewed, and yet somebody is at it
        assert jobs.claim(lease_s=10).id == second
        jobs.finish(second, status=200, answer=b'{"n": 2}')
        assert jobs.claim(lease_s=10).id == third
        assert jobs.claim(lease_s=10) is None
        assert jobs.unsaved == 1
        assert jobs.find(second, tenant="t")[2:] == (b'{"n": 2}', 200)
        assert jobs.find(second, tenant="another") is None
        with pytest.raises(StoreError):
            jobs.put(ASKED, tenant="t")
        jobs.finish(first, status=200, answer=b'{"n": 1}')
    restarted = store(tmp_path, wall)
    assert restarted.find(second, tenant="t").status is Status.QUEUED  # what only memory held is asked again
    assert jobs.claim(lease_s=10) is None
    assert {restarted.find(one, tenant="t").status for one in (first, second)} == {Status.DONE}
    jobs.give_back(third)
    assert jobs.claim(lease_s=10).id == third


def test_answers_that_never_reach_the_disk_are_forgotten_in_time(tmp_path):
    wall = Wall()
    jobs = store(tmp_path, wall)
    identity = jobs.put(ASKED, tenant="t")
    jobs.claim(lease_s=10)
    with full_disk():
        jobs.finish(identity, status=200, answer=b"{}")
        wall.time_s += 101
        with pytest.raises(StoreError):
            jobs.tidy()
        assert jobs.find(identity, tenant="t").answer is None
    jobs.tidy()
    assert jobs.find(identity, tenant="t") is None
