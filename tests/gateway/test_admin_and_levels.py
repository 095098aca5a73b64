"""The admin interface, the breaker's way through a failure and back, levels, memory, drain and reload."""

import asyncio

import pytest
from measured import BYTE_PER_TOKEN
from served import SHORT, backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, hangs, running, says, streams

from gateway.backends.breaker import State
from gateway.clock import SystemClock
from gateway.config import Memory
from gateway.health import HealthState
from gateway.memory.shared_config import SharedLedgerConfig
from gateway.record import Level

GOOD = "Paris is the capital of France."
CLOCK = SystemClock()


async def test_the_admin_interface_needs_its_token():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        assert (await served.request("GET", "/admin/state")).status == 401
        assert (await served.request("GET", "/admin/state", Authorization="Bearer no")).status == 401
        state = await served.admin("GET", "state")
        assert state.json["backends"]["primary"]["breaker"]["state"] == "closed"
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), admin_token=None) as served:
        assert (await served.admin("GET", "state")).status == 404


@pytest.mark.slow
async def test_a_breaker_opens_after_three_failures_and_closes_by_the_gateways_own_probe():
    policy = policy_of(breaker={"open_s": 0.2})
    async with (
        running(answers({}, 500)) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy) as served,
    ):
        for _ in range(3):
            assert (await served.chat()).record["reasons"] == ["backend_error"]
        assert (await served.chat()).record["path"] == "secondary"
        assert len(bad.seen) == 3
        bad.script = says(GOOD)
        breaker = served.runtime.backends["primary"].breaker
        while breaker.state is not State.CLOSED:
            await CLOCK.sleep(0.01)
        assert bad.seen[-1]["max_tokens"] == 1
        served.runtime.health = HealthState()
        assert (await served.chat()).record == {"level": "healthy"}


async def test_a_breaker_forced_open_stays_open_until_it_is_closed():
    policy = policy_of(breaker={"open_s": 0.01})
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        assert (await served.admin("POST", "breaker", {"backend": "primary", "state": "open"})).status == 200
        await CLOCK.sleep(0.1)
        assert (await served.chat()).record["reasons"] == ["breaker_open"]
        await served.admin("POST", "breaker", {"backend": "primary", "state": "closed"})
        served.runtime.health = HealthState()
        assert (await served.chat()).record == {"level": "healthy"}
        wrong = await served.admin("POST", "breaker", {"backend": "nobody", "state": "open"})
        assert (wrong.status, wrong.json["error"]["param"]) == (400, "backend")


async def test_degraded_halves_max_tokens_and_asks_the_small_model_first():
    async with running(says(GOOD)) as big, running(says(GOOD)) as small:
        both = (backend(big, "big"), backend(small, "small"))
        async with gateway(*both, tick_s=60.0) as served:
            served.runtime.health = HealthState(level=Level.DEGRADED, since_s=CLOCK.now_s())
            answer = await served.chat("Is Paris the capital of France?", max_tokens=200)
            assert answer.record["path"] == "small"
            assert answer.record["reasons"] == ["health_level", "max_tokens_reduced"]
            assert answer.record["dropped"] == {"max_tokens": 100}
            assert small.seen[0]["max_tokens"] == 100
            assert big.seen == []


@pytest.mark.parametrize("stream", [False, True])
async def test_speculative_decoding_is_switched_off_in_the_request_while_the_level_is_not_healthy(stream):
    off = {"speculative.n_max": 0, "draft": False}  # llama.cpp's switch, and any other
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", speculative_off=off), tick_s=60.0) as served,
    ):
        await served.chat(stream=stream)
        assert not off.keys() & up.seen[-1].keys()
        served.runtime.health = HealthState(level=Level.DEGRADED, since_s=CLOCK.now_s())
        await served.chat(stream=stream)
        assert {name: up.seen[-1][name] for name in off} == off
        assert up.seen[-1]["messages"] == up.seen[0]["messages"]


@pytest.mark.parametrize(("at_critical", "status", "path"), [("answer", 200, "template"), ("refuse", 429, "refused")])
async def test_critical_takes_no_new_work(at_critical, status, path):
    policy = policy_of(paths={"at_critical": at_critical})
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy, tick_s=60.0) as served:
        served.runtime.health = HealthState(level=Level.CRITICAL, since_s=CLOCK.now_s())
        answer = await served.chat()
        assert (answer.status, answer.record["path"]) == (status, path)
        assert up.seen == []


MEMORY = Memory(kv_capacity_bytes=1000, shape=BYTE_PER_TOKEN)


async def test_a_full_ledger_sends_the_request_on_and_frees_it_again():
    policy = policy_of(ledger={"wait_s": 0.05})
    async with running(says(GOOD)) as up, running(says(GOOD)) as other:
        both = (backend(up, "primary", memory=MEMORY), backend(other, "secondary"))
        async with gateway(*both, policy=policy, tick_s=60.0) as served:  # else the level may rise before the request
            held = await served.admin("POST", "ledger", {"backend": "primary", "share": 0.9, "ttl_s": 30})
            assert held.status == 201
            answer = await served.chat()
            assert answer.record["reasons"] == ["memory_full"]
            assert up.seen == []
            assert (await served.admin("DELETE", f"ledger/{held.json['id']}")).json == {"released": True}
            served.runtime.health = HealthState()
            assert (await served.chat()).record == {"level": "healthy"}
            assert served.runtime.backends["primary"].ledger.snapshot().reserved_bytes == 0


async def test_a_held_reservation_ends_with_its_time_to_live():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary", memory=MEMORY)) as served:
        held = await served.admin("POST", "ledger", {"backend": "primary", "bytes": 1000, "ttl_s": 0.05})
        assert held.status == 201
        async with asyncio.timeout(20):
            while served.runtime.backends["primary"].ledger.occupancy > 0.0:
                await CLOCK.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["answered", "failed", "timed out", "client gone", "stream cut"])
async def test_a_reservation_is_released_once_however_the_request_ends(ending):
    scripts = {
        "answered": says(GOOD),
        "failed": answers({}, 500),
        "timed out": hangs(),
        "client gone": hangs(),
        "stream cut": streams(chunk("word ")),
    }
    policy = policy_of(limits=SHORT) if ending == "timed out" else policy_of()
    async with running(scripts[ending]) as up, gateway(backend(up, "primary", memory=MEMORY), policy=policy) as served:
        ledger = served.runtime.backends["primary"].ledger
        task = asyncio.create_task(served.chat(stream=ending == "stream cut"))
        if ending == "client gone":
            while ledger.snapshot().reserved_bytes == 0:
                await CLOCK.sleep(0.005)
            assert ledger.snapshot().reserved_bytes > 512
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for _ in range(40):
            if ledger.snapshot().reserved_bytes == 0:
                break
            await CLOCK.sleep(0.005)
        assert ledger.snapshot().reserved_bytes == 0


@pytest.mark.slow
async def test_draining_finishes_what_runs_and_refuses_the_rest():
    async def slow(writer, body):
        await CLOCK.sleep(0.2)
        await answers(completion(GOOD))(writer, body)

    async with running(slow) as up, gateway(backend(up, "primary")) as served:
        running_one = asyncio.create_task(served.chat())
        while served.runtime.in_flight == 0:
            await CLOCK.sleep(0.005)
        await served.admin("POST", "drain")
        refused = await served.chat()
        assert (refused.status, refused.record["reasons"]) == (429, ["draining"])
        assert (await served.request("GET", "/readyz")).status == 503
        assert (await running_one).text == GOOD
        await served.admin("POST", "drain", {"draining": False})
        assert (await served.chat()).status == 200
        assert (await served.request("GET", "/readyz")).status == 200


async def test_metrics_tell_of_degraded_answers_and_of_the_breaker():
    async with running(answers({}, 500)) as up, gateway(backend(up, "primary")) as served:
        await served.chat()
        text = (await served.request("GET", "/metrics")).body.decode()
        assert "degraded_request_ratio 1.0" in text
        assert "fallback_template_hit_rate 1.0" in text
        assert 'truefall_degrade_reasons_total{reason="backend_error"} 1.0' in text
        assert 'truefall_breaker_state{backend="primary"} 0.0' in text


async def test_unknown_paths_and_methods_are_told_apart():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        assert (await served.request("GET", "/v1/nothing")).status == 404
        wrong = await served.request("GET", "/v1/chat/completions")
        assert (wrong.status, wrong.headers["Allow"]) == (405, "POST")
        assert (await served.request("GET", "/healthz")).json == {"status": "ok"}


async def test_a_long_prompt_that_memory_refuses_is_cut_to_the_pressure_limit():
    policy = policy_of(truncation={"pressure_tokens": 300})
    text = " ".join(f"Sentence {index} says nothing." for index in range(300))
    async with (
        running(says("Nothing.")) as up,
        gateway(backend(up, "primary", memory=MEMORY), policy=policy) as served,
    ):
        answer = await served.chat(f"{text}\n\nWhat do they say?", max_tokens=100)
        assert answer.record["path"] == "primary"
        assert answer.record["reasons"] == ["prompt_truncated"]
        assert answer.record["dropped"]["prompt_tokens"] > 2000
        assert up.seen[0]["messages"][0]["content"].endswith("What do they say?")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_mistake_of_the_gateways_own_is_no_500_and_leaves_its_frames_in_the_log(stream):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        served.runtime.pipeline.backends = {"primary": None}
        answer = await served.chat(stream=stream)
        record = answer.streamed_record if stream else answer.record
        assert (answer.status, record["reasons"]) == (206, ["internal_error"])
        served.runtime.log.flush()
        assert "in _by_model" in served.runtime.log._out.getvalue()


async def test_a_shared_ledger_that_was_never_there_costs_no_answer(tmp_path):
    pytest.importorskip("redis")
    memory = Memory(kv_capacity_bytes=2000, shape=BYTE_PER_TOKEN)
    nowhere = SharedLedgerConfig(url=f"unix://{tmp_path}/nobody.sock")
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", memory=memory), shared_ledger=nowhere) as served,
    ):
        assert (await served.chat()).record == {"level": "healthy"}
        assert (await served.request("GET", "/readyz")).json["ledgers"] == {"primary": "alone"}
        metrics = (await served.request("GET", "/metrics")).body.decode()
        assert 'truefall_ledger_alone{backend="primary"} 1.0' in metrics
        held = await served.admin("POST", "ledger", {"backend": "primary", "share": 0.5, "ttl_s": 5})
        assert held.status == 201


@pytest.mark.parametrize(("window_s", "oom_per_min", "p99_ms"), [(60.0, 2.0, 900.0), (4.0, 15.0, 100.0)])
async def test_deaths_by_memory_and_latencies_count_for_the_policys_window_and_as_a_rate(window_s, oom_per_min, p99_ms):
    policy = policy_of(health={"window_s": window_s})
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        now_s = served.runtime.clock.now_s()
        served.runtime.out_of_memory.extend([now_s - 30.0, now_s])
        served.runtime.latencies.extend([(now_s - 30.0, 0.9), (now_s, 0.1)])
        facts = served.runtime.facts()
    assert facts.oom_per_min == pytest.approx(oom_per_min)
    assert facts.p99_ms == pytest.approx(p99_ms)
