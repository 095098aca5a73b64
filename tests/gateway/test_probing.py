"""The gateway's own probes where a breaker is open: few, obedient to `Retry-After`, and no judges of a key."""

import json

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, running, says

from gateway.backends.probing import Pace
from gateway.clock import SystemClock
from gateway.supervise import tend

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
FAILS = answers({"error": "broken"}, 500)
POLICY = policy_of(breaker={"consecutive_failures": 1, "open_s": 60.0})


async def opened(served, up, script):
    """Open the breaker, let `script` answer from now on, and make a probe due."""
    up.script = FAILS
    await served.chat()
    assert served.runtime.backends["primary"].breaker.state == "open"
    up.script = script
    served.runtime.backends["primary"].breaker.hurry()


async def tended(served, up, *, times=20):
    """How many probes that came to."""
    before = len(up.seen)
    for _ in range(times):
        await tend(served.runtime, served.runtime.backends["primary"])
    return len(up.seen) - before


def logged(served):
    served.runtime.log.flush()
    return served.runtime.log._out.getvalue()


def held(up, **fields):
    """A gateway that never tends by itself."""
    more = {name: fields.pop(name) for name in ("environ", "forward_headers") if name in fields}
    return gateway(backend(up, "primary", **fields), policy=POLICY, tick_s=3600.0, **more)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_probe_that_is_told_when_to_come_back_comes_no_sooner_and_nor_do_requests(status):
    async with running(FAILS) as up, held(up) as served:
        await opened(served, up, answers({}, status, "Retry-After: 600"))
        assert await tended(served, up) == 1
        seen = len(up.seen)
        answer = await served.chat()
        assert (answer.status, len(up.seen)) == (429, seen)
        assert 500 < int(answer.headers["Retry-After"]) <= 600
        assert served.runtime.backends["primary"].breaker.state == "half_open"


async def test_what_a_request_was_told_counts_for_the_probes_too():
    async with running(FAILS) as up, held(up) as served:
        await opened(served, up, answers({}, 429, "Retry-After: 600"))
        await served.chat()
        assert await tended(served, up) == 0


async def test_a_probe_that_names_no_time_does_not_shorten_what_was_asked_for_before():
    async with running(FAILS) as up, held(up) as served:
        await opened(served, up, answers({}, 429))
        primary = served.runtime.backends["primary"]
        primary.leave_alone(600.0, now_s=CLOCK.now_s(), most_s=0.0)  # it may be asked again, but did not take it back
        asked_until_s = primary.asked_until_s
        assert await tended(served, up) == 1
        assert primary.asked_until_s >= asked_until_s
        assert primary.away_until_s > CLOCK.now_s()


async def test_a_request_that_is_told_no_time_does_not_shorten_it_either():
    async with running(answers({}, 429)) as up, held(up) as served:
        primary = served.runtime.backends["primary"]
        primary.leave_alone(600.0, now_s=CLOCK.now_s(), most_s=0.0)
        asked_until_s = primary.asked_until_s
        await served.chat()
        assert len(up.seen) == 1
        assert primary.asked_until_s >= asked_until_s


@pytest.mark.parametrize("script", [answers({}, 403), answers({}, 501), answers({}, 429)])
async def test_probes_that_tell_nothing_are_no_storm(script):
    async with running(FAILS) as up, held(up) as served:
        await opened(served, up, script)
        assert await tended(served, up) == 1


async def test_a_backend_that_is_well_again_is_found_by_the_next_probe():
    async with running(FAILS) as up, held(up) as served:
        await opened(served, up, says(GOOD))
        assert await tended(served, up) == 1
        assert served.runtime.backends["primary"].breaker.state == "closed"


@pytest.mark.parametrize("status", [401, 402, 403])
@pytest.mark.parametrize("stream", ["auto", "always"])
async def test_a_probe_without_the_clients_key_lets_a_request_that_has_one_find_out(status, stream):
    async def keyed(writer, body):
        bare = "authorization:" not in up.heads[-1].lower()
        await (answers({"error": {"message": "no key"}}, status) if bare else says(GOOD))(writer, body)

    async with (
        running(FAILS) as up,
        held(up, forward_headers=("Authorization",), upstream_stream=stream) as served,
    ):
        await opened(served, up, keyed)
        assert await tended(served, up) == 1
        breaker = served.runtime.backends["primary"].breaker
        assert breaker.state == "half_open"
        assert '"probe_failed"' in logged(served)
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
        answer = await served.post("/v1/chat/completions", body, Authorization="Bearer mine")
        assert answer.record == {"level": "healthy"}
        assert breaker.state == "closed"


@pytest.mark.parametrize("forwarded", [("authorization",), ("x-truefall-trial",)])
async def test_the_gateways_own_key_that_is_refused_is_a_failure_and_told(forwarded):
    async with (
        running(FAILS) as up,
        held(up, api_key_env="KEY", environ={"KEY": "old"}, forward_headers=forwarded) as served,
    ):
        await opened(served, up, answers({"error": {"message": "bad key"}}, 401))
        assert await tended(served, up) == 1
        assert served.runtime.backends["primary"].breaker.state == "open"
        assert "primary answered 401: it refuses the gateway's key, or wants one: set api_key_env" in logged(served)


def test_probes_that_tell_nothing_come_ever_later_up_to_eight_times_as_late():
    pace, now_s = Pace(), 100.0
    waited = []
    for _ in range(6):
        assert pace.is_due(now_s)
        pace.waits(now_s, open_s=2.0, asked_s=0.0)
        waited.append(next(later for later in (2, 4, 8, 16, 32) if pace.is_due(now_s + later)))
        now_s += waited[-1]
    assert waited == [2, 4, 8, 16, 16, 16]
    pace.waits(now_s, open_s=2.0, asked_s=500.0)
    assert not pace.is_due(now_s + 499.0)
    pace.begins()
    assert pace.is_due(now_s)
    pace.waits(now_s, open_s=2.0, asked_s=0.0)
    assert pace.is_due(now_s + 2.0)
