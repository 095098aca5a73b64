"""The storm's own check: true records pass it, and each kind of lie is seen."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from misbehaviour import BAD, FORMAT, GOOD, TOOL
from storm_truth import REASONS, REFUSED, Play, check_headers, check_truth

SENT = {"max_tokens": 20, "stream": True}


@dataclass
class Asked:
    """A request with a tool and a schema."""

    body: dict[str, Any] = field(default_factory=lambda: {"max_tokens": 20, "tools": [TOOL], "response_format": FORMAT})


def tried(path, reason=None, outcome="failed"):
    return {"path": path, "outcome": outcome if reason else "ok", **({"reason": reason} if reason else {})}


FALLBACK = (
    {
        "level": "degraded",
        "path": "secondary",
        "reasons": ["backend_error", "max_tokens_reduced"],
        "model_served": "secondary-model",
        "attempts": [tried("primary", "backend_error"), tried("secondary")],
        "dropped": {"max_tokens": 5},
        "notice": "by secondary-model",
    },
    [Play("primary", "500", SENT), Play("secondary", "good", {**SENT, "max_tokens": 15})],
)
BROKEN = (
    {
        "level": "critical",
        "path": "primary",
        "reasons": ["stream_cut"],
        "model_served": "primary-model",
        "attempts": [tried("primary", "stream_cut", "indeterminate")],
        "abstained": True,
    },
    [Play("primary", "cut", SENT)],
)
TEMPLATE = (
    {
        "level": "critical",
        "path": "template",
        "reasons": ["out_of_memory", "queue_full", "connection_failed"],
        "attempts": [
            tried("primary", "out_of_memory"),
            tried("secondary", "queue_full", "refused"),
            tried("third", "connection_failed", "indeterminate"),
        ],
        "dropped": {"tools": True, "schema": True},
        "abstained": True,
        "notice": "none",
    },
    [Play("primary", "out of memory", SENT), Play("third", "dies", SENT)],
)
REFUSAL = (
    {
        "level": "critical",
        "path": "refused",
        "reasons": ["backpressure"],
        "attempts": [tried(name, "backpressure", "refused") for name in ("primary", "secondary", "third")],
        "abstained": True,
    },
    [Play("primary", "429", SENT)],
)
HEALTHY = ({"level": "healthy"}, [Play("primary", "good", SENT)])
TRUE = {"fallback": FALLBACK, "broken": BROKEN, "template": TEMPLATE, "refusal": REFUSAL, "healthy": HEALTHY}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_record_passes(name):
    record, plays = TRUE[name]
    check_truth(record, Asked(), plays)


LIES = {
    "a failed attempt is lost": (FALLBACK, {"attempts": [tried("secondary")]}),
    "another order": (FALLBACK, {"attempts": FALLBACK[0]["attempts"][::-1]}),
    "an attempt that never was": (
        BROKEN,
        {
            "attempts": [tried("third", "backend_error"), *BROKEN[0]["attempts"]],
            "reasons": ["backend_error", "stream_cut"],
        },
    ),
    "asked twice": (REFUSAL, {"attempts": [tried("primary", "backpressure", "refused")] * 2}),
    "another reason of an attempt": (
        FALLBACK,
        {"attempts": [tried("primary", "out_of_memory"), tried("secondary")], "reasons": ["out_of_memory"]},
    ),
    "a reason without a cause": (FALLBACK, {"reasons": [*FALLBACK[0]["reasons"], "draining"]}),
    "only a reason without a cause": (FALLBACK, {"reasons": ["draining"]}),
    "the level is blamed": (FALLBACK, {"reasons": ["health_level", *FALLBACK[0]["reasons"]]}),
    "another model": (FALLBACK, {"model_served": "primary-model"}),
    "another path": (FALLBACK, {"path": "third", "model_served": "third-model", "notice": "by third-model"}),
    "no model": (BROKEN, {"model_served": "other"}),
    "tools that were sent": (BROKEN, {"dropped": {"tools": True}}),
    "a schema that was sent": (BROKEN, {"dropped": {"schema": True}}),
    "tokens that were sent": (FALLBACK, {"dropped": {"max_tokens": 5, "prompt_tokens": 99}}),
    "tokens that were not sent": (FALLBACK, {"dropped": {}}),
    "words that have tools": (TEMPLATE, {"dropped": {}}),
    "a refusal that drops": (REFUSAL, {"dropped": {"tools": True}}),
    "a broken answer counts": (BROKEN, {"abstained": False}),
    "a broken answer is merely degraded": (BROKEN, {"level": "degraded"}),
    "all is well": (BROKEN, HEALTHY[0]),
    "well, after another one failed": (FALLBACK, HEALTHY[0]),
    "a model that answered nothing": (TEMPLATE, {"model_served": "third-model"}),
    "a healthy record that says more": (HEALTHY, {"path": "primary"}),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_seen(name):
    (record, plays), changes = LIES[name]
    told = changes if changes.get("level") == "healthy" else {**deepcopy(record), **changes}
    with pytest.raises(AssertionError):
        check_truth(told, Asked(), plays)


def test_a_third_backend_that_is_asked_after_two_deaths_is_seen():
    names = ("primary", "secondary", "third")
    record = {**TEMPLATE[0], "reasons": ["connection_failed"]}
    record["attempts"] = [tried(name, "connection_failed", "indeterminate") for name in names]
    for count, lies in ((2, False), (3, True)):
        told = {**record, "attempts": record["attempts"][:count]}
        plays = [Play(name, "dies", SENT) for name in names[:count]]
        if lies:
            with pytest.raises(AssertionError, match="connection_failed"):
                check_truth(told, Asked(), plays)
        else:
            check_truth(told, Asked(), plays)


def test_each_play_has_its_reasons():
    assert REASONS.keys() == {*BAD, *GOOD, REFUSED}


@pytest.mark.parametrize(
    "headers", [{"x-degradation-level": "healthy"}, {"x-degradation-level": "degraded", "x-degradation-path": "third"}]
)
def test_headers_that_differ_from_the_record_are_seen(headers):
    with pytest.raises(AssertionError):
        check_headers(headers, FALLBACK[0], broken=False)
    check_headers({"x-degradation-level": "healthy"}, BROKEN[0], broken=True)
    with pytest.raises(AssertionError):
        check_headers({"x-degrade-reason": "prompt_truncated"}, BROKEN[0], broken=True)
