"""What the storm's clients ask, what its backends play, and how every answer is checked against both."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from string import ascii_lowercase
from typing import Any

from misbehaviour import BAD, FORMAT, GOOD, TOOL, arguments_of, city_of, nonce_of, whole
from upstream_stub import answers

REFUSED, BAD_STOP = "400", ["bad"]
KINDS = ("plain", "plain", "again", "again", "tool", "call wanted", "schema", "bad stop", "own fault")
OWN_FAULTS = ("max_tokens", "role", "no messages", "not utf-8", "too large")
KEPT = ("messages", "tools", "tool_choice", "response_format", "stop", "seed")  # what no fallback may lose or change
MOST_BODY_BYTES = 20_000


@dataclass(kw_only=True)
class Asked:
    """One request. `own_fault`: the gateway itself has to refuse it, with that status."""

    trial: str
    nonce: str
    body: dict[str, Any]
    own_fault: int | None = None
    raw: bytes = b""

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def refusable(self) -> bool:
        return self.body.get("stop") == BAD_STOP


class Chaotic:
    """A backend that plays a random kind per request, and remembers which, and what it was sent."""

    def __init__(self, rng: Random, bad_share: float) -> None:
        self._rng = rng
        self.bad_share = bad_share
        self.played: dict[str, list[str]] = defaultdict(list)
        self.bodies: dict[str, list[dict[str, Any]]] = defaultdict(list)

    async def __call__(self, writer, body):
        kinds = BAD if self._rng.random() < self.bad_share else GOOD
        name = self._rng.choice(sorted(kinds))
        refuses = kinds is GOOD and body.get("stop") == BAD_STOP
        if body["messages"][-1]["content"] != "ping":
            trial = trial_of(body)
            self.played[trial].append(REFUSED if refuses else name)
            self.bodies[trial].append(body)
        script = answers({"error": {"message": "stop is bad"}}, 400) if refuses else kinds[name](body)
        await script(writer, body)


def trial_of(body: dict[str, Any]) -> str:
    return str((body.get("metadata") or {}).get("trial") or nonce_of(body))


@dataclass
class Client:
    """Makes one client's requests; `earlier` are those that may be asked again, word by word."""

    rng: Random
    name: str
    earlier: list[Asked] = field(default_factory=list)
    count: int = 0

    def next(self) -> Asked:
        rng = self.rng
        self.count += 1
        trial = f"{self.name}/{self.count}"
        kind = rng.choice(KINDS)
        if kind == "again" and self.earlier:
            old = rng.choice(self.earlier)
            body = {**old.body, "metadata": {"trial": trial}, "stream": rng.random() < 0.5}
            return _ready(Asked(trial=trial, nonce=old.nonce, body=body))
        asked = self._new(kind, trial)
        if kind in ("plain", "again"):
            self.earlier.append(asked)
        return _ready(asked)

    def _new(self, kind: str, trial: str) -> Asked:
        rng = self.rng
        nonce = "".join(rng.choices(ascii_lowercase, k=12))
        body = {
            "messages": [{"role": "user", "content": f"{nonce} What is the capital of France?"}],
            "stream": rng.random() < 0.5,
            "max_tokens": rng.randint(1, 200),
            "seed": rng.randint(0, 99),
            "metadata": {"trial": trial},
        }
        if kind in ("tool", "call wanted"):
            body |= {"tools": [TOOL], "tool_choice": "auto" if kind == "tool" else "required"}
        elif kind == "schema":
            body["response_format"] = FORMAT
        elif kind == "bad stop":
            body["stop"] = BAD_STOP
        asked = Asked(trial=trial, nonce=nonce, body=body)
        if kind == "own fault":
            _spoil(asked, rng.choice(OWN_FAULTS), rng)
        return asked


def _spoil(asked: Asked, fault: str, rng: Random) -> None:
    body, asked.own_fault = asked.body, 400
    if fault == "max_tokens":
        body["max_tokens"] = rng.choice([0, -1, 10**9])
    elif fault == "role":
        body["messages"] = [{"role": "robot", "content": asked.nonce}]
    elif fault == "no messages":
        del body["messages"]
    elif fault == "too large":
        body["messages"] = [{"role": "user", "content": "x" * (2 * MOST_BODY_BYTES)}]
        asked.own_fault = 413
    else:
        asked.raw = json.dumps(body).encode().replace(b"capital", b"\xff\xfe")


def _ready(asked: Asked) -> Asked:
    asked.raw = asked.raw or json.dumps(asked.body).encode()
    return asked


def check_json(answer, nonce):
    record = answer.record
    if answer.status == 200 and not record.get("abstained"):
        _require_whole(answer.json["choices"][0]["message"], nonce)
    if answer.status == 429:
        assert int(answer.headers["Retry-After"]) >= 1
    return record, not record.get("abstained", False)


def check_stream(answer, nonce):
    events = answer.events
    if events[-1] != "[DONE]":  # it failed, and says so
        assert "error" in events[-1]
        assert events[-1]["degradation"]["level"] != "healthy"
        return events[-1]["degradation"], False
    record = answer.streamed_record
    if not record.get("abstained"):
        _require_whole({"content": answer.streamed_text, "tool_calls": _calls_in(events)}, nonce)
    return record, not record.get("abstained", False)


def _require_whole(message, nonce):
    """All of the text, the JSON or the call that the backends have for this request, and nothing else."""
    if message.get("tool_calls"):
        (call,) = message["tool_calls"]
        assert call["function"] == {"name": "look_up", "arguments": arguments_of(nonce)}
        assert not message.get("content")
    else:
        assert message["content"] in (whole(nonce), city_of(nonce))


def _calls_in(events):
    calls = {}
    for event in events[:-1]:
        for choice in event.get("choices", ()):
            for delta in choice["delta"].get("tool_calls") or ():
                call = calls.setdefault(delta["index"], {"function": {"name": "", "arguments": ""}})
                for key, value in delta["function"].items():
                    call["function"][key] += value or ""
    return list(calls.values())


def check_sent(asked, *backends):
    """Whoever was asked got the client's own words, tools and schema, and each was asked once at most."""
    for backend in backends:
        assert len(backend.played[asked.trial]) <= 1
        for body in backend.bodies[asked.trial]:
            assert {key: body.get(key) for key in KEPT} == {key: asked.body.get(key) for key in KEPT}
    if asked.own_fault is not None:
        assert not any(backend.bodies[asked.trial] for backend in backends)


def check_refusal(answer, asked, primary, secondary):
    """A 400 (or 413) is the client's own fault, or every backend finds the prompt too long."""
    error = answer.json["error"]
    assert error["message"]
    plays = [*primary.played[asked.trial], *secondary.played[asked.trial]]
    if asked.own_fault is not None:
        assert answer.status == asked.own_fault
    elif error["code"] == "context_length_exceeded":
        assert plays == ["context"] * 2
    else:
        assert "stop is bad" in error["message"]
        assert primary.played[asked.trial] == [REFUSED]


def check_truth(record, answered, asked, primary, secondary):
    """The record against what the backends really did."""
    plays = {"primary": primary.played[asked.trial], "secondary": secondary.played[asked.trial]}
    if record["level"] == "healthy":
        assert record == {"level": "healthy"}
        assert plays["primary"][0] in GOOD
        return
    assert record["reasons"]
    if answered and record["path"] in plays:
        assert plays[record["path"]][0] in GOOD
    for attempt in record.get("attempts", []):
        kinds = plays[attempt["path"]]
        if attempt["outcome"] in ("failed", "indeterminate") and attempt["reason"] != "timeout":  # a busy machine's
            assert kinds, attempt
            assert kinds[0] in BAD or kinds[0] == REFUSED, (kinds, attempt)
        if attempt["outcome"] == "ok":
            assert kinds[0] in GOOD, (kinds, attempt)


def well_answered(asked, everything, primary):
    """Whether the same question was ever answered whole by the backend that was meant: only then may it be kept."""
    same = [one.trial for one in everything if one.nonce == asked.nonce]
    return any(kind in GOOD for trial in same for kind in primary.played[trial])
