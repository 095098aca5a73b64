"""Whether a degradation record is true: each of its fields against what the backends were sent and played."""

import re
from itertools import chain
from typing import Any, NamedTuple

from misbehaviour import GOOD

from gateway.prompt.passage import OMISSION
from gateway.prompt.tokens import CharCounter

REFUSED = "400"  # a play: the backend says that the client is to blame
BACKENDS = ("primary", "secondary", "third")  # in the policy's order; the first is the one that is meant
REFUSED_UNASKED = frozenset({"breaker_open", "queue_full", "backpressure", "memory_full", "deadline_exceeded"})
NO_JSON, NO_END = frozenset({"invalid_output"}), frozenset({"stream_cut"})
ERROR, NONE = frozenset({"backend_error"}), frozenset[str]()
REASONS = {  # of each play, as JSON and as a stream; a timeout may be any play's, on a busy machine
    "good": (NONE, NONE),
    "slow": (NONE, NONE),
    "bad line": (NO_JSON, NO_JSON),
    "cut": (NO_JSON, NO_END),
    "cut, and done": (NO_JSON, NO_END),
    "stalled": (NONE, NONE),
    "failed event": (NO_JSON, ERROR),
    "only done": (NO_JSON, NO_END),
    "error inside": (NO_JSON, ERROR),
    "no choices": (NO_JSON, NO_END),
    "blank": (NO_JSON, NO_JSON),
    "null content": (NO_JSON, NO_JSON),
    "not utf-8": (NO_JSON, NO_END),
    "aborted": (NO_JSON, NO_JSON),
    "html": (NO_JSON, NO_END),
    "500": (ERROR, ERROR),
    "out of memory": (frozenset({"out_of_memory"}),) * 2,
    "503": (ERROR, ERROR),
    "429": (frozenset({"backpressure"}),) * 2,
    "context": (frozenset({"context_too_long"}),) * 2,
    "not as asked": (frozenset({"tools_violated", "schema_violated"}),) * 2,
    "endless": (NO_JSON, NO_JSON),
    "dies": (frozenset({"connection_failed"}),) * 2,
    "hangs": (NONE, NONE),
    "401": (ERROR, ERROR),
    REFUSED: (ERROR, ERROR),
}
CUT = "prompt_tokens"  # of what was dropped
NEARLY, NEARLY_TOKENS = 0.05, 16  # what is cut is counted by the sentence, what is left as a whole, cuts marked
LATE_MS = 5_000.0  # of attempts: a deadline of ten seconds may then be over


class Play(NamedTuple):
    """One request that a backend got, and what it did with it."""

    backend: str
    kind: str
    body: dict[str, Any]


def check_truth(record, asked, plays):
    """The record of an answer, a refusal or a broken stream to `asked`, of which all `plays` were in this order."""
    if record["level"] == "healthy":
        assert record == {"level": "healthy"}
        assert [play.backend for play in plays] == ["primary"]
        assert plays[0].kind in GOOD
        assert _dropped_by(plays[0], asked) == {}
        return
    attempts = record.get("attempts", [])
    _check_attempts(attempts, plays)
    _check_path(record, attempts)
    _check_reasons(record, attempts)
    told, true = dict(record.get("dropped", {})), _dropped(record, asked, plays)
    cut = true.pop(CUT, 0)
    assert abs(told.pop(CUT, 0) - cut) <= (NEARLY * cut + NEARLY_TOKENS if cut else 0), (record, cut)
    assert told == true, (record, plays)


def is_cut(play, asked):
    """Whether its prompt was cut: all between system prompt and question but whole sentences, left in their order."""
    whole, sent = asked.body.get("messages"), play.body.get("messages")
    if sent == whole:
        return False
    assert (sent[0], sent[-1]) == (whole[0], whole[-1]), sent
    rest = iter(_sentences(whole[1:-1]))
    assert all(sentence in rest for sentence in _sentences(sent[1:-1])), sent
    return True


def _sentences(messages):
    texts = [one["content"].replace(OMISSION, " ") for one in messages]
    return list(chain.from_iterable(re.split(r"(?<=\.)\s+", text.strip()) for text in texts if text.strip()))


def check_headers(headers, record, *, broken):
    """What the headers say is what the record says; of a stream that broke later, how it began."""
    reasons = [reason for reason in headers.get("x-degrade-reason", "").split(",") if reason]
    if broken:
        assert record["reasons"][: len(reasons)] == reasons
        assert headers.get("x-degradation-path", record["path"]) == record["path"]
        return
    assert (headers["x-degradation-level"], headers.get("x-degradation-path"), reasons) == (
        record["level"],
        record.get("path"),
        record.get("reasons", []),
    )


def _check_attempts(attempts, plays):
    """Each play is an attempt, in order, whose reason says what was played; an attempt without one was never sent."""
    played = {play.backend: play for play in plays}
    in_time = [one["path"] for one in attempts if one.get("reason") != "timeout"]  # a busy machine's play comes late
    told = [one["path"] for one in attempts]
    assert len(set(told)) == len(told)
    assert set(played) <= set(told), (attempts, plays)
    assert [name for name in in_time if name in played] == [one.backend for one in plays if one.backend in in_time]
    for attempt in attempts:
        _check_attempt(attempt, played.get(attempt["path"]))
    assert all(one["outcome"] != "ok" for one in attempts[:-1])
    dead = deaths(attempts, plays)
    asked = [one for one in attempts[dead[0] + 1 :] if one["outcome"] != "refused"] if dead else []
    assert len(asked) <= 1, attempts  # what kills must not meet the third of three


def deaths(attempts, plays):
    """The places of the attempts at which the gateway saw its backend die."""
    died = {play.backend for play in plays if play.kind == "dies"}
    return [place for place, one in enumerate(attempts) if one["path"] in died and one.get("reason") != "timeout"]


def _check_attempt(attempt, play):
    outcome, reason = attempt["outcome"], attempt.get("reason")
    if reason == "timeout":
        return  # also of a good answer, and before it was read: this machine may be busy
    if play is None:
        assert outcome == "refused", attempt
        assert reason in REFUSED_UNASKED, attempt
    elif outcome == "ok":
        assert reason is None
        assert play.kind in GOOD, (attempt, play)
    else:
        by_json, by_stream = REASONS[play.kind]
        assert reason in (by_stream if play.body.get("stream") else by_json), (attempt, play)


def _check_path(record, attempts):
    path, last = record["path"], attempts[-1] if attempts else None
    by_model = last is not None and last["outcome"] == "ok"
    broken = path in BACKENDS and not by_model
    if path in BACKENDS:
        assert last is not None
        assert last["path"] == path
        assert record.get("model_served") == f"{path}-model"
    elif path == "cache":
        assert record.get("model_served") == "primary-model"
    else:
        assert "model_served" not in record
    assert by_model == (path in BACKENDS and not record.get("abstained", False))
    assert record.get("abstained", False) == (broken or path in ("template", "structured", "refused"))
    if not by_model:
        assert record["level"] == "critical"
    if by_model and path != "primary":
        assert f"{path}-model" in record["notice"]


def _check_reasons(record, attempts):
    """Each attempt's reason is the record's, and each further one has a cause that can be seen."""
    reasons, dropped = record["reasons"], record.get("dropped", {})
    assert len(set(reasons)) == len(reasons)
    of_attempts = {one["reason"] for one in attempts if one["outcome"] != "ok"}
    assert of_attempts <= set(reasons), record
    own = {
        "max_tokens_reduced": "max_tokens" in dropped,
        "prompt_truncated": CUT in dropped,
        "validation_slow": "validation" in dropped,
        "health_level": all(one["path"] != "primary" for one in attempts),
        "deadline_exceeded": sum(one.get("duration_ms", 0.0) for one in attempts) > LATE_MS,
    }
    for reason in set(reasons) - of_attempts:
        assert own.get(reason), (reason, record)
    for reason in ("max_tokens_reduced", "prompt_truncated", "validation_slow"):
        assert (reason in reasons) == own[reason], record


def _dropped(record, asked, plays):
    """What the answer lacks: of a backend's, what its request lacked; of words without a model, tools and schema."""
    path = record["path"]
    if path in ("cache", "refused"):
        return {}
    if path not in BACKENDS:
        lost = {"tools": bool(asked.body.get("tools")), "schema": "response_format" in asked.body}
        return {what: True for what, is_lost in lost.items() if is_lost}
    sent = [play for play in plays if play.backend == path]
    lost = _dropped_by(sent[0], asked) if sent else record.get("dropped", {})
    if "response_format" in asked.body and record.get("dropped", {}).get("validation"):
        lost["validation"] = True  # a busy machine's
    return lost


def _dropped_by(play, asked):
    """The storm's `check_sent` has seen that tools and schema arrived as they were asked."""
    lost = {"max_tokens": asked.body["max_tokens"] - play.body["max_tokens"]}
    if is_cut(play, asked):
        whole, sent = (CharCounter().count_messages(one.body["messages"]) for one in (asked, play))
        lost[CUT] = whole - sent
    return {what: tokens for what, tokens in lost.items() if tokens}
