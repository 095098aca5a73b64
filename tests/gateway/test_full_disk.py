"""The disk fills up under the queue: what was accepted is answered all the same, and on disk once there is room."""

import asyncio
import resource
from contextlib import contextmanager

import pytest
from served import backend, gateway, policy_of
from test_answers_without_a_model import EXTRACT, GATED
from test_async_answers import ASKED, Wall, ask, fetched, series, slow, store
from upstream_stub import answers, running, says

from gateway.clock import SystemClock
from gateway.config import Answers
from gateway.deferred.config import Deferred
from gateway.deferred.job import Status, StoreError
from gateway.review import Held, ReviewError, ReviewQueue
from gateway.review import Status as ReviewStatus

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


HELD = Held(path="p", task="t", delta=0.4, entropy=0.5, question="q", answer="a" * 5000, stands_for=None)


def queue_in(tmp_path):
    return ReviewQueue(tmp_path / "review.db", max_bytes=1_000_000, now_unix_s=lambda: 1.0)


def test_a_review_queue_on_a_full_disk_takes_nothing_new_and_keeps_what_it_has(tmp_path):
    queue = queue_in(tmp_path)
    first, second = queue.put(HELD), queue.put(HELD)
    with full_disk():
        with pytest.raises(ReviewError, match=r"review\.db"):
            queue.put(HELD)
        with pytest.raises(ReviewError, match=r"review\.db"):
            queue.settle(first, ReviewStatus.ACCEPTED)
        assert [one.id for one in queue.entries()] == [first, second]
    assert queue.settle(first, ReviewStatus.ACCEPTED).status is ReviewStatus.ACCEPTED  # half a decision left nothing
    third = queue.put(HELD)
    assert [(one.id, one.answer) for one in queue.entries()] == [(second, HELD.answer), (third, HELD.answer)]


def test_a_review_queue_that_never_had_room_begins_once_there_is_some(tmp_path):
    queue = queue_in(tmp_path)
    with full_disk(), pytest.raises(ReviewError):
        queue.put(HELD)
    identity = queue.put(HELD)
    assert [one.id for one in queue.entries()] == [identity]


async def test_a_full_disk_under_the_review_queue_costs_the_entry_and_not_the_answer(tmp_path):
    db = tmp_path / "review.db"
    held = {**GATED, "paths": {**GATED["paths"], "stream_failover": "hold"}}
    policy = policy_of(**held, breaker={"consecutive_failures": 99})
    async with (
        running(answers({}, 500)) as bad,
        running(says("Moon.")) as good,
        gateway(
            backend(bad, "primary"),
            backend(good, "secondary"),
            policy=policy,
            answers=Answers(review_db=db),
        ) as served,
    ):
        before = (await served.chat(EXTRACT)).record["review"]
        with full_disk():
            told = [await served.chat(EXTRACT), await served.chat(EXTRACT, stream=True)]
            lost = await series(served)
        after = (await served.chat(EXTRACT)).record["review"]
        served.runtime.log.flush()
        assert served.runtime.log._out.getvalue().count('"review_lost"') == 2
    records = [told[0].record, told[1].streamed_record]
    assert [(one.status, record["path"]) for one, record in zip(told, records, strict=True)] == [(200, "template")] * 2
    assert not any("review" in record for record in records)
    assert lost["truefall_review_lost_total"] == 2
    assert [one.id for one in queue_in(tmp_path).entries()] == [before, after]
