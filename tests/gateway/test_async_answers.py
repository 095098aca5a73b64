"""Answers that come later: accepted, polled for, kept across a restart, bounded, and honest when lost."""

import json
from collections import Counter

import msgspec
import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, hangs, running, says

from gateway.answers.cache_key import tenant_of
from gateway.answers.completion import now_unix_s
from gateway.clock import SystemClock
from gateway.deferred.config import MOST_LEASE_S, Deferred
from gateway.deferred.job import Asked, Status
from gateway.deferred.store import JobStore
from gateway.standing import Standing

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
TREE = policy_of(decision={"apply": "always"})
SLOW = Standing(confidence=1.0, latency_s=1.5, at_s=float("inf"))  # for ever just seen
POLLING = {"Prefer": "respond-async"}


def deferred(tmp_path, **fields):
    return Deferred(path=tmp_path / "async.db", **fields)


def slow(served):
    served.runtime.backends["primary"].standing = SLOW


async def ask(served, text="What is the capital?", headers=POLLING, **fields):
    body = {"messages": [{"role": "user", "content": text}], **fields}
    return await served.post("/v1/chat/completions", json.dumps(body).encode(), **headers)


async def fetched(served, accepted, **headers):
    while True:
        answer = await served.request("GET", accepted.headers["Location"], **headers)
        if answer.status != 202:
            return answer
        await CLOCK.sleep(0.02)


@pytest.mark.parametrize(("headers", "fields"), [(POLLING, {}), ({}, {"async": True})])
async def test_a_slow_target_and_a_willing_client_make_an_answer_for_later(tmp_path, headers, fields):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        accepted = await ask(served, headers={**headers, "X-Truefall-Trial": "t1"}, **fields)
        assert accepted.status == 202
        assert accepted.json["degradation"] | {"path": "async", "reasons": ["decision"]} == accepted.record
        answer = await fetched(served, accepted)
    assert (answer.status, answer.text, answer.record) == (200, GOOD, {"level": "healthy"})
    assert "async" not in up.seen[0]
    assert "x-truefall-trial: t1" in up.heads[0].lower()


@pytest.mark.parametrize("change", ["no opt-in", "stream", "fast", "off"])
async def test_otherwise_the_answer_comes_at_once(tmp_path, change):
    policy = policy_of() if change == "off" else TREE
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=policy, deferred=deferred(tmp_path)) as served,
    ):
        if change != "fast":
            slow(served)
        headers = {} if change == "no opt-in" else POLLING
        assert (await ask(served, headers=headers, stream=change == "stream")).status == 200


async def test_too_many_waiting_means_an_answer_at_once(tmp_path):
    patient = policy_of(decision={"apply": "always"}, limits={"default": {"first_token_s": 60.0, "total_s": 60.0}})
    async with (
        running(hangs()) as up,
        gateway(backend(up, "primary"), policy=patient, deferred=deferred(tmp_path, max_pending=1)) as served,
    ):
        slow(served)
        assert (await ask(served)).status == 202
        while not up.seen:
            await CLOCK.sleep(0.01)
        up.script = says(GOOD)
        assert (await ask(served)).text == GOOD


async def test_an_accepted_request_survives_a_restart(tmp_path):
    patient = policy_of(decision={"apply": "always"}, limits={"default": {"first_token_s": 60.0, "total_s": 60.0}})
    config = deferred(tmp_path)
    async with running(hangs()) as up:
        async with gateway(backend(up, "primary"), policy=patient, deferred=config) as served:
            slow(served)
            accepted = await ask(served)
            while not up.seen:
                await CLOCK.sleep(0.01)
        up.script = says(GOOD)
        async with gateway(backend(up, "primary"), policy=patient, deferred=config) as served:
            assert (await fetched(served, accepted)).text == GOOD


async def test_only_who_asked_may_fetch_or_delete(tmp_path):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        mine = {"X-Tenant-Id": "mine"}
        accepted = await ask(served, headers={**POLLING, **mine})
        assert (await served.request("GET", accepted.headers["Location"])).status == 404
        assert (await served.request("DELETE", accepted.headers["Location"])).status == 404
        assert (await fetched(served, accepted, **mine)).text == GOOD
        assert (await served.request("DELETE", accepted.headers["Location"], **mine)).status == 200
        assert (await served.request("GET", accepted.headers["Location"], **mine)).status == 404
        assert (await served.request("PUT", accepted.headers["Location"], **mine)).status == 405


async def test_a_backend_that_fails_gives_the_degraded_answer_later(tmp_path):
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path, deadline_s=0.4)) as served,
    ):
        slow(served)
        answer = await fetched(served, await ask(served))
    assert (answer.status, answer.record["path"]) == (200, "template")
    assert answer.headers["x-degradation-level"] == "critical"


async def test_a_client_mistake_that_the_backend_finds_is_told_later(tmp_path):
    async with (
        running(answers({"error": {"message": "bad stop"}}, 400)) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        assert (await fetched(served, await ask(served))).status == 400


class Wall:
    def __init__(self):
        self.time_s = 1000.0

    def __call__(self):
        return self.time_s


@pytest.mark.parametrize(
    ("script", "what", "deadline_s"), [(says(GOOD), "finished", 60.0), (answers({}, 500), "failed", 0.4)]
)
async def test_the_metrics_say_what_became_of_it(tmp_path, script, what, deadline_s):
    async with (
        running(script) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path, deadline_s=deadline_s)) as served,
    ):
        slow(served)
        before = await series(served)
        await fetched(served, await ask(served))
        while (after := await series(served))[f'truefall_async_total{{what="{what}"}}'] == 0:
            await CLOCK.sleep(0.01)
    assert before['truefall_async_total{what="accepted"}'] == before['truefall_async_jobs{status="done"}'] == 0
    ends = {one: after[f'truefall_async_total{{what="{one}"}}'] for one in ("finished", "failed", "lost", "expired")}
    assert ends == {**dict.fromkeys(ends, 0), what: 1}
    assert after['truefall_async_total{what="accepted"}'] == after['truefall_async_jobs{status="done"}'] == 1


async def test_the_metrics_show_how_long_the_oldest_has_waited(tmp_path):
    wall = Wall()
    wall.time_s = now_unix_s() - 60
    config = Deferred(path=tmp_path / "jobs.db")
    asked = Asked(body={"messages": [{"role": "user", "content": "hello"}]}, caller=("", "", ""), forward={})
    store(tmp_path, wall).put(asked, tenant="t")
    patient = policy_of(decision={"apply": "always"}, limits={"default": {"first_token_s": 60.0, "total_s": 60.0}})
    async with running(hangs()) as up, gateway(backend(up, "primary"), policy=patient, deferred=config) as served:
        now = await series(served)
    assert now['truefall_async_jobs{status="queued"}'] + now['truefall_async_jobs{status="running"}'] == 1
    assert 55 < now["truefall_async_oldest_seconds"] < 120


async def series(served):
    text = (await served.request("GET", "/metrics")).body.decode()
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def store(tmp_path, wall, ended=lambda what, count: None, **limits):
    made = JobStore(
        tmp_path / "jobs.db",
        **{"max_pending": 5, "max_bytes": 1 << 20, "ttl_s": 100.0, **limits},
        now_unix_s=wall,
        ended=ended,
    )
    made.prepare()
    return made


ASKED = Asked(body={"messages": []}, caller=("", "", ""), forward={})


def test_a_job_whose_gateway_died_is_tried_once_more_and_then_lost(tmp_path):
    wall = Wall()
    jobs = store(tmp_path, wall)
    identity = jobs.put(ASKED, tenant="t")
    assert jobs.claim(lease_s=10).id == identity
    assert store(tmp_path, wall).claim(lease_s=10) is None  # somebody is at it
    wall.time_s += 11
    assert jobs.claim(lease_s=10) is None  # it is at it still
    assert store(tmp_path, wall).claim(lease_s=10).id == identity  # it died, as far as another gateway can know
    wall.time_s += 11
    assert store(tmp_path, wall).claim(lease_s=10) is None
    assert jobs.find(identity, tenant="t").status is Status.LOST


def test_gateways_that_share_the_file_may_have_leases_of_their_own(tmp_path):
    wall = Wall()
    identity = store(tmp_path, wall).put(ASKED, tenant="t")
    renewing, old = store(tmp_path, wall), store(tmp_path, wall)
    assert renewing.claim(lease_s=MOST_LEASE_S).id == identity
    assert old.claim(lease_s=1) is None
    renewing.renew(identity, lease_s=MOST_LEASE_S)
    assert old.claim(lease_s=1) is None
    assert old.find(identity, tenant="t").status is Status.RUNNING


@pytest.mark.parametrize("lease_s", ["0.9", "600.1"])
def test_a_lease_has_bounds(lease_s):
    with pytest.raises(msgspec.ValidationError, match="lease_s"):
        msgspec.toml.decode(f"lease_s = {lease_s}", type=Deferred)


@pytest.mark.parametrize("jump_s", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_keeps_no_job_back_and_doubles_none(tmp_path, jump_s):
    wall = Wall()
    wall.time_s = 1e6
    jobs = store(tmp_path, wall, ttl_s=1e6)
    first, second = (jobs.put(ASKED, tenant="t") for _ in range(2))
    assert jobs.claim(lease_s=10).id == first
    wall.time_s += jump_s
    assert jobs.claim(lease_s=10).id == second
    assert jobs.claim(lease_s=10) is None  # it is at both
    jobs.finish(second, status=200, answer=b"{}")
    assert jobs.find(second, tenant="t").status is Status.DONE
    assert jobs.find(second, tenant="t").age_s >= 0
    assert store(tmp_path, wall, ttl_s=1e6).claim(lease_s=10).id == first  # the other one died


def test_jobs_of_a_clock_that_was_ahead_are_forgotten_in_time_and_not_before(tmp_path):
    wall = Wall()
    wall.time_s = 1e6 + 30 * 86_400
    jobs = store(tmp_path, wall, ttl_s=100.0)
    done, waiting = (jobs.put(ASKED, tenant="t") for _ in range(2))
    assert jobs.claim(lease_s=10).id == done
    jobs.finish(done, status=200, answer=b"{}")
    wall.time_s = 1e6
    jobs.tidy()
    wall.time_s += 90
    jobs.tidy()
    assert [jobs.find(one, tenant="t").status for one in (done, waiting)] == [Status.DONE, Status.QUEUED]
    assert jobs.find(done, tenant="t").age_s == 90.0
    assert jobs.standing().oldest_s == 90.0
    wall.time_s += 11
    jobs.tidy()
    assert jobs.find(done, tenant="t") is None
    assert jobs.find(waiting, tenant="t") is None


def test_jobs_are_bounded_ordered_and_forgotten(tmp_path):
    wall = Wall()
    jobs = store(tmp_path, wall, max_pending=2)
    first, second = jobs.put(ASKED, tenant="t"), jobs.put(ASKED, tenant="t")
    assert jobs.put(ASKED, tenant="t") is None
    assert [jobs.claim(lease_s=10).id for _ in range(2)] == [first, second]
    jobs.finish(first, status=200, answer=b"{}")
    wall.time_s += 5
    assert jobs.standing() == ({"queued": 0, "running": 1, "done": 1, "lost": 0}, 5.0)
    wall.time_s += 101
    jobs.tidy()
    assert jobs.find(first, tenant="t") is None
    assert jobs.standing() == (dict.fromkeys(Status, 0), 0.0)


def test_jobs_that_end_by_themselves_are_told_once(tmp_path):
    wall, told = Wall(), Counter()
    jobs = store(tmp_path, wall, ended=lambda what, count: told.update({str(what): count}))
    answered, lost, _waiting = (jobs.put(ASKED, tenant="t") for _ in range(3))
    jobs.claim(lease_s=10)
    jobs.finish(answered, status=200, answer=b"{}")
    for _ in range(5):
        store(tmp_path, wall, ended=lambda what, count: told.update({str(what): count})).claim(lease_s=1)
        wall.time_s += 2
    assert jobs.find(lost, tenant="t").status is Status.LOST
    assert told["lost"] == 2  # the third one, too
    jobs.put(ASKED, tenant="t")
    wall.time_s += 101
    jobs.tidy()
    jobs.tidy()
    assert (told["lost"], told["expired"]) == (2, 1)  # neither answers that nobody fetched nor lost ones expire


def test_the_request_is_not_kept_once_it_is_answered(tmp_path):
    jobs = store(tmp_path, Wall())
    secret = Asked(
        body={"messages": [{"role": "user", "content": "a very private matter"}]}, caller=("",) * 3, forward={}
    )
    identity = jobs.put(secret, tenant="t")
    assert b"private matter" in (tmp_path / "jobs.db").read_bytes()
    jobs.finish(identity, status=200, answer=b"{}")
    assert b"private matter" not in (tmp_path / "jobs.db").read_bytes()
    assert (tmp_path / "jobs.db").stat().st_mode & 0o077 == 0


async def test_the_answer_of_a_lost_job_says_so(tmp_path):
    wall = Wall()
    wall.time_s = now_unix_s() - 60
    jobs = store(tmp_path, wall)
    identity = jobs.put(ASKED, tenant=tenant_of([], ()))
    for _ in range(3):
        store(tmp_path, wall).claim(lease_s=1)
        wall.time_s += 2
    config = Deferred(path=tmp_path / "jobs.db")
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=TREE, deferred=config) as served:
        answer = await served.request("GET", f"/v1/async/{identity}")
    assert (answer.status, answer.record["reasons"]) == (206, ["async_lost"])
