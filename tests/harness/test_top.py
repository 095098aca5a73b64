"""`truefall top`: figures between two looks, the picture, and a gateway that is away."""

import asyncio
import io
import json
import math

import pytest
from aiohttp import ClientSession, web
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import generate_latest
from rich.console import Console

from gateway.record import HEALTHY, DegradationRecord, Level, Reason
from gateway.telemetry import Metrics
from harness.cli import main
from harness.top.reading import Reading, Unreachable, fetch, parse_metrics, path_rates, quantile_ms, rates
from harness.top.view import picture

STATE = {
    "policy": {"name": "night", "version": 3},
    "draining": False,
    "backends": {"primary": {"breaker": {"opens_again_in_s": 7.4}}},
    "drift": {
        "features": {"latency_ms": {"kl": 0.41, "over": 3, "under": 0, "alert": True}},
        "causes": [{"reason": "timeout"}],
    },
    "manifests": {
        "refused": "m.yaml:8: no",
        "all": [
            {
                "name": "slow-shop",
                "active": True,
                "target": "shop",
                "endpoint": None,
                "percentage": 15.0,
                "fallback": "template",
                "conditions": ["p99_latency_ms > 1200 over 60s"],
            }
        ],
    },
}


def served(metrics, path, took_s, count=1, record=HEALTHY):
    for _ in range(count):
        metrics.answered(record, status=200, stream=False, took_s=took_s, path=path)


def reading(metrics, at_s, state=None):
    metrics.set_ratios()
    return Reading(at_s=at_s, samples=parse_metrics(generate_latest(metrics.registry).decode()), state=state)


def shown(before, now, **about):
    console = Console(file=io.StringIO(), width=110, force_terminal=False)
    console.print(picture(before, now, url="http://gw", **about))
    return console.file.getvalue()


@pytest.fixture
def two():
    """Ten seconds in which primary answered 30 times within 80 ms and secondary 10 times within 1.5 s."""
    metrics = Metrics()
    served(metrics, "primary", 0.08, 5)
    metrics.breaker.labels("primary").set(2)
    metrics.occupancy.labels("primary").set(0.87)
    metrics.set_level(Level.DEGRADED)
    before = reading(metrics, 100.0)
    served(metrics, "primary", 0.08, 30)
    slow = DegradationRecord(level=Level.DEGRADED, path="secondary", reasons=(Reason.TIMEOUT,))
    served(metrics, "secondary", 1.5, 10, slow)
    return before, reading(metrics, 110.0, STATE)


def test_rates_and_percentiles_are_of_the_time_between_the_two_looks(two):
    first, second = path_rates(*two)
    assert (first.path, first.per_s, first.share) == ("primary", 3.0, 0.75)
    assert (second.path, second.per_s) == ("secondary", 1.0)
    assert 50 <= first.p95_ms <= 100
    assert 1000 <= second.p50_ms <= 2000
    assert rates(*two, "truefall_degrade_reasons_total", "reason") == {"timeout": 1.0}
    assert quantile_ms(two[0], two[0], 0.5) is None


def test_a_gateway_that_began_anew_counts_from_nothing(two):
    before, _ = two
    fresh = Metrics()
    served(fresh, "primary", 0.08, 2)
    assert path_rates(before, reading(fresh, 110.0))[0].per_s == 0.2


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(0.001, 200), min_size=1, max_size=50), st.floats(0.01, 1))
def test_a_percentile_lies_in_the_bucket_of_the_true_one(times, share):
    metrics = Metrics()
    empty = reading(metrics, 0.0)
    for took_s in times:
        served(metrics, "primary", took_s)
    now = reading(metrics, 1.0)
    found = quantile_ms(empty, now, share) / 1000
    bounds = [0.0, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0]
    true = sorted(times)[max(0, math.ceil(share * len(times)) - 1)]
    assert found >= max(bound for bound in bounds if bound < true) - 1e-9
    assert found <= min([bound for bound in bounds if bound >= true] or [bounds[-1]]) + 1e-9


def test_the_picture_says_the_level_the_paths_the_breaker_the_ledger_and_the_manifests(two):
    text = shown(*two)
    for words in ("DEGRADED", "4.0 answers/s", "primary", "75%", "open 7s", "87%", "timeout", "night v3"):
        assert words in text
    assert "latency_ms has drifted: divergence 0.41; causes: timeout" in text
    for words in ("slow-shop", "p99_latency_ms > 1200 over 60s", "newest manifests refused: m.yaml:8: no"):
        assert words in text


def test_the_picture_says_what_it_cannot_know(two):
    before, _ = two
    text = shown(before, before, trouble="http://gw does not answer")
    assert "no traffic" in text
    assert "no admin token" in text
    assert "http://gw does not answer; this is what it said last" in text


@pytest.mark.parametrize("text", ["<html>", "some_metric 1\n", "truefall_level{ 1\n", ""])
def test_what_is_no_gateway_is_told_apart(text):
    with pytest.raises(Unreachable, match="/metrics"):
        parse_metrics(text)


async def test_it_looks_over_real_sockets_and_without_a_token_sees_no_state():
    metrics = Metrics()

    async def tell(request):
        return web.Response(body=generate_latest(metrics.registry), content_type="text/plain")

    async def state(request):
        good = request.headers.get("Authorization") == "Bearer t"
        return web.json_response(json.loads(json.dumps(STATE)), status=200 if good else 401)

    app = web.Application()
    app.router.add_get("/metrics", tell)
    app.router.add_get("/admin/state", state)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with ClientSession() as session:
        assert (await fetch(session, url, token="t", now_s=0.0)).backends() == ["primary"]
        for token in (None, "wrong"):
            assert (await fetch(session, url, token=token, now_s=0.0)).state is None
        with pytest.raises(Unreachable, match="/metrics"):
            await fetch(session, f"{url}/nothing", token=None, now_s=0.0)
    assert await asyncio.to_thread(main, ["top", url, "--once", "--every", "0.1"]) == 0
    await runner.cleanup()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://127.0.0.1:9", "--once"], "truefall top: http://127.0.0.1:9 does not answer"),
        (["gateway"], "truefall top: url is 'gateway', must begin with http:// or https://"),
        (["http://h", "--every", "0"], "truefall top: --every is 0.0, must be at least 0.1 s"),
        (["http://h", "--window", "nan"], "truefall top: --window is nan, must be at least 0.1 s"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert main(["top", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1
