"""What the soak's clients ask, what its backends play, and which layers of the gateway an answer shows at work.

The backends count tokens as the gateway does, or every good answer would be doubted. The names that are asked about
come from a list, so that what is remembered of words and questions is full soon, and hides no leak.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import NamedTuple

from misbehaviour import BAD, nonce_of, whole
from storm_traffic import check_json, check_stream
from upstream_stub import answers, chunk, completion, streams, text_events

from gateway.config import Answers, Manifests
from gateway.prompt.tokens import TokenCounter

RULES = Path(__file__).parents[2] / "examples" / "rules.toml"
RULE_SAYS = "Our opening hours are on our contact page. They may differ on public holidays."
CANARY = {"x-truefall-service": "canary"}
MANIFEST = """
apiVersion: truefall.dev/v1alpha1
kind: DegradationPolicy
metadata: {{name: canary-{number}}}
spec:
  targetService: canary
  fallback: secondary
---
apiVersion: truefall.dev/v1alpha1
kind: DegradationPolicy
metadata: {{name: never-here}}
spec:
  targetService: "*"
  trafficPercentage: 50
  fallback: template
  conditions: [{{metric: p99_latency_ms, threshold: {threshold}, window: 60s}}]
"""
ORDER = ["primary", "secondary", "rules", "cache", "extract", "template", "structured"]
CONTEXT_TOKENS = 1024
NAMES = 300
LAYERS = ("rules", "cache", "manifest", "truncation")


class Honest:
    """A backend that plays a random misbehaviour in `bad_share` of its calls, else answers with true token counts."""

    def __init__(self, rng: Random, counter: TokenCounter) -> None:
        self._rng = rng
        self._counter = counter
        self._asked = 0
        self.bad_share = 0.0

    async def __call__(self, writer, body):
        bad = self._rng.random() < self.bad_share
        script = BAD[self._rng.choice(sorted(BAD))](body) if bad else self._good(body)
        await script(writer, body)

    def _good(self, body):
        text = whole(nonce_of(body))
        prompt, said = self._counter.count_messages(body["messages"]), self._counter.count_text(text)
        usage = {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}
        if not body.get("stream"):
            return answers({**completion(text), "usage": usage})
        events = [one for one in text_events(text) if not (isinstance(one, dict) and one.get("usage"))]
        return streams(*events[:-1], {**chunk(), "choices": [], "usage": usage}, "[DONE]")


class Question(NamedTuple):
    """One request. `long`: it does not fit the primary."""

    nonce: str
    raw: bytes
    headers: dict[str, str]
    stream: bool
    long: bool


@dataclass
class Questions:
    """One client's, in the run of its seed."""

    rng: Random
    names: list[str]

    def next(self) -> Question:
        rng, nonce = self.rng, self.rng.choice(self.names)
        drawn = rng.random()
        text = _long(nonce, rng) if drawn < 0.01 else _hours(nonce) if drawn < 0.1 else _short(nonce, rng)
        headers = {"Prefer": "respond-async"} if rng.random() < 0.1 else {}
        if rng.random() < 0.05:
            headers |= CANARY
        return _question(nonce, text, headers, stream=rng.random() < 0.4, max_tokens=rng.choice([100, 160]))


def _question(nonce, text, headers, *, stream=False, max_tokens=100):
    body = {"messages": [{"role": "user", "content": text}], "stream": stream, "max_tokens": max_tokens}
    return Question(nonce, json.dumps(body).encode(), headers, stream, long=len(text) > CONTEXT_TOKENS * 4)


def _short(nonce, rng):
    return f"{nonce} {'Tell me more. ' * rng.randint(0, 40)}"


def _hours(nonce):
    return f"{nonce} What are your opening hours?"


def _long(nonce, rng):
    lines = " ".join(f"The key of room {rng.randint(1, 999)} is kept by the porter." for _ in range(150))
    return f"{nonce} Here is a text.\n\n{lines}\n\nWho keeps the keys of all these rooms?"


def question_for(layer: str) -> Question:
    """One that shows the layer at work; for rules and kept answers when no backend is asked."""
    texts = {"rules": _hours("at-last"), "truncation": _long("at-last", Random(1))}
    text = texts.get(layer, "at-last What is the capital of France?")
    return _question("at-last", text, CANARY if layer == "manifest" else {})


def names_of(seed: str) -> list[str]:
    rng = Random(f"{seed}/names")
    return ["".join(rng.choices(ascii_lowercase, k=12)) for _ in range(NAMES)]


def answers_of(folder: Path) -> tuple[Answers, Manifests]:
    manifests = Manifests(path=folder / "manifests.yaml")
    write_manifests(manifests.path, 0)
    return Answers(rules=RULES, cache_file=folder / "cache.bin", cache_save_s=1.0), manifests


def write_manifests(path: Path, number: int) -> None:
    """Anew in one move, so that nobody reads half of it."""
    new = path.with_suffix(".new")
    new.write_text(MANIFEST.format(number=number, threshold=600_000 + number))
    new.replace(path)


def checked(question: Question, answer, layers: Counter[str]):
    """The record, after a look at the answer; counts the layers of the gateway that were at work in it."""
    streamed = question.stream and answer.headers["Content-Type"].startswith("text/event-stream")
    record = _record_of(answer, streamed)
    if record.get("path") == "rules":
        assert (answer.streamed_text if streamed else answer.text).endswith(RULE_SAYS)
        layers["rules"] += 1
        return record
    (check_stream if streamed else check_json)(answer, question.nonce)
    if "x-truefall-service" in question.headers and answer.status in (200, 206):
        assert (record["level"], record.get("path")) not in (("healthy", None), ("degraded", "primary"))
        layers["manifest"] += 1
    if record.get("path") == "cache":
        layers["cache"] += 1
    if "prompt_truncated" in record.get("reasons", ()):
        assert question.long
        layers["truncation"] += 1
    return record


def _record_of(answer, streamed):
    if not streamed:
        return answer.record
    last = answer.events[-1]
    return answer.streamed_record if last == "[DONE]" else last["degradation"]
