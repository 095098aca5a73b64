"""What the storm's clients ask, what its backends play, and how every answer is checked against both."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from string import ascii_lowercase
from typing import Any

from misbehaviour import BAD, FORMAT, GOOD, TOOL, arguments_of, city_of, nonce_of, whole
from storm_truth import REFUSED, Play, is_cut
from upstream_stub import answers

BAD_STOP = ["bad"]
KINDS = ("plain", "plain", "again", "again", "tool", "call wanted", "schema", "bad stop", "own fault", "poison")
SENTENCES = {"medium": 12, "long": 40, "very long": 160}  # of the passage before the question
MIXED = (*KINDS, *SENTENCES, *SENTENCES)
OWN_FAULTS = ("max_tokens", "role", "no messages", "not utf-8", "too large")
KEPT = ("tools", "tool_choice", "response_format", "stop", "seed")  # what no fallback may lose or change
SYSTEM = "Answer in one sentence, and never in capitals."
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


class Log(defaultdict[str, list[Play]]):
    """What was played of each trial, by all backends, in order."""

    def __init__(self) -> None:
        super().__init__(list)


class Chaotic:
    """A backend that plays a random kind per request and logs it; one with a name says in its words that they are its.

    What is poisonous kills each backend that it meets.
    """

    def __init__(self, rng: Random, bad_share: float, *, name: str = "", log: Log | None = None) -> None:
        self._rng = rng
        self.bad_share = bad_share
        self._name = name
        self.played = Log() if log is None else log

    async def __call__(self, writer, body):
        kinds = BAD if self._rng.random() < self.bad_share else GOOD
        kind = self._rng.choice(sorted(kinds))
        if is_poison(body):
            kinds, kind = BAD, "dies"
        refuses = kinds is GOOD and body.get("stop") == BAD_STOP
        if body["messages"][-1]["content"] != "ping":
            self.played[trial_of(body)].append(Play(self._name, REFUSED if refuses else kind, body))
        said = answers({"error": {"message": "stop is bad"}}, 400) if refuses else kinds[kind](self._named(body))
        await said(writer, body)

    def _named(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body from which the words are made: its last message has this backend's name behind its first word."""
        if not self._name:
            return body
        *earlier, last = body["messages"]
        nonce = nonce_of(body)
        content = str(last["content"]).replace(nonce, named(nonce, self._name), 1)
        return {**body, "messages": [*earlier, {**last, "content": content}]}


def named(nonce: str, backend: str) -> str:
    """The first word of what `backend` says to a question that begins with `nonce`."""
    return f"{nonce}-{backend}"


def is_poison(body: dict[str, Any]) -> bool:
    return bool((body.get("metadata") or {}).get("poison"))


def trial_of(body: dict[str, Any]) -> str:
    return str((body.get("metadata") or {}).get("trial") or nonce_of(body))


@dataclass
class Client:
    """Makes one client's requests; `earlier` are those that may be asked again, word by word."""

    rng: Random
    name: str
    kinds: tuple[str, ...] = KINDS
    earlier: list[Asked] = field(default_factory=list)
    count: int = 0

    def next(self) -> Asked:
        rng = self.rng
        self.count += 1
        trial = f"{self.name}/{self.count}"
        kind = rng.choice(self.kinds)
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
        if kind in SENTENCES:
            body["messages"] = [*_passage(SENTENCES[kind], rng), *body["messages"]]
        elif kind in ("tool", "call wanted"):
            body |= {"tools": [TOOL], "tool_choice": "auto" if kind == "tool" else "required"}
        elif kind == "schema":
            body["response_format"] = FORMAT
        elif kind == "bad stop":
            body["stop"] = BAD_STOP
        elif kind == "poison":
            body["metadata"] = {"trial": trial, "poison": True}
        asked = Asked(trial=trial, nonce=nonce, body=body)
        if kind == "own fault":
            _spoil(asked, rng.choice(OWN_FAULTS), rng)
        return asked


def _passage(sentences: int, rng: Random) -> list[dict[str, str]]:
    """What was said before the question; no two sentences are alike."""
    told = [f"Shelf {number} holds {rng.randint(100, 999)} red books." for number in range(sentences)]
    said = {"system": SYSTEM, "user": " ".join(told), "assistant": "Thank you, I have read it."}
    return [{"role": role, "content": text} for role, text in said.items()]


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


def check_json(answer, nonce, *, names=False):
    """`names`: the backends say in their words whose they are. Returns the record, and whether it is an answer."""
    record = answer.record
    if answer.status == 200 and not record.get("abstained"):
        _require_whole(answer.json["choices"][0]["message"], _begins(record, nonce, names))
        if "model_served" in record:
            assert answer.json["model"] == record["model_served"]
    if answer.status == 429:
        assert int(answer.headers["Retry-After"]) >= 1
    return record, not record.get("abstained", False)


def check_stream(answer, nonce, *, names=False):
    events = answer.events
    if events[-1] != "[DONE]":  # it failed, and says so
        assert "error" in events[-1]
        assert events[-1]["degradation"]["level"] != "healthy"
        return events[-1]["degradation"], False
    record = answer.streamed_record
    if not record.get("abstained"):
        message = {"content": answer.streamed_text, "tool_calls": _calls_in(events)}
        _require_whole(message, _begins(record, nonce, names))
    return record, not record.get("abstained", False)


def _begins(record, nonce, names):
    """The first word of whoever the record says has answered; only the backend that is meant is ever kept."""
    path = record.get("path", "primary")
    return named(nonce, "primary" if path == "cache" else path) if names else nonce


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


def check_sent(asked, plays):
    """Whoever was asked got the client's own words, tools and schema, and each was asked once at most."""
    assert len({play.backend for play in plays}) == len(plays)
    for play in plays:
        assert {key: play.body.get(key) for key in KEPT} == {key: asked.body.get(key) for key in KEPT}
        if not is_cut(play, asked):
            assert play.body["messages"] == asked.body["messages"]
    if asked.own_fault is not None:
        assert not plays


def check_refusal(answer, asked, plays):
    """A 400 (or 413) is the client's own fault, or every backend finds the prompt too long."""
    error = answer.json["error"]
    assert error["message"]
    kinds = [play.kind for play in plays]
    if asked.own_fault is not None:
        assert answer.status == asked.own_fault
    elif error["code"] == "context_length_exceeded":
        assert kinds == ["context"] * 3
    else:
        assert "stop is bad" in error["message"]
        assert [play.backend for play in plays if play.kind == REFUSED][-1:] == ["primary"]


def well_answered(asked, everything, log):
    """Whether the same question was ever answered whole by the backend that was meant: only then may it be kept."""
    same = [one.trial for one in everything if one.nonce == asked.nonce]
    return any(play.backend == "primary" and play.kind in GOOD for trial in same for play in log[trial])
