"""Every fault of the catalogue: what is measured of it, on which requests, and what is expected."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from harness.effects import quantities as q
from harness.effects.ask import Question
from harness.effects.quantities import Quantity, share

PROMPT = (
    "You must list exactly 3 refund rules of the order. Always answer in one sentence. Do not buy any product. "
    "Ship the item to the customer today. Only pay the fee in euros."
)
NOT_HERE = {
    "cuda_ballast": "needs a CUDA device",
    "memory_fraction": "needs a CUDA device",
    "cgroup_limit": "needs a backend in a cgroup (v2) of its own",
}
SHORT_S = 2.0  # how long a reply is waited for that does not come


class Door(StrEnum):
    """Where a request goes in."""

    SEMANTIC = "semantic proxy"
    NETWORK = "Toxiproxy"  # right at it, to see bytes and endings as they are
    GATEWAY = "gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Some requests, one after the other."""

    questions: tuple[Question, ...] = ()
    door: Door = Door.SEMANTIC
    limit_s: float = 120.0  # under the fault; without it there is time enough
    pause_s: float = 0.0  # between two
    settles: bool = False  # wait afterwards until the backend has logged everything


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One fault, what it should change, and by how much: with it the value is in [low, high], without it outside."""

    fault: str  # as `faults.catalogue.parse` reads it
    what: Quantity
    low: float
    high: float
    plan: Plan
    dial: str = ""  # the parameter that is a rate; empty: it has none
    keeps: bool = False  # the answers are what they are without it
    inside_gateway: bool = False

    @property
    def name(self) -> str:
        return self.fault.partition(":")[0]

    @property
    def off(self) -> str:
        """The same fault at rate 0; empty: it has no rate."""
        if not self.dial:
            return ""
        others = [part for part in self.fault.partition(":")[2].split(",") if part and not part.startswith(self.dial)]
        return f"{self.name}:{','.join([*others, f'{self.dial}=0'])}"

    @property
    def expected(self) -> str:
        if self.low == self.high:
            return f"{self.low:g}"
        if self.high == inf:
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.low in (0, -inf) else f"{self.low:g} to {self.high:g}"


JSON, STREAM = Question(prompt=PROMPT), Question(prompt=PROMPT, stream=True)
BOTH = Plan(questions=(JSON, STREAM))
STREAMS = Plan(questions=(STREAM, STREAM))
NETWORK = Plan(questions=(JSON, STREAM), door=Door.NETWORK)
NETWORK_STREAM = Plan(questions=(STREAM,), door=Door.NETWORK)
UNANSWERED = Plan(questions=(JSON, STREAM), door=Door.NETWORK, limit_s=SHORT_S)
MANY = Plan(questions=(JSON, STREAM, JSON, STREAM))
ONE = Plan(questions=(JSON,))
LONG = Plan(questions=(Question(prompt="x" * 8000, max_tokens=2),) * 2, limit_s=20.0, settles=True)
SHORT = Question(prompt=PROMPT, max_tokens=5)
SHORT_THEN_LONG = Plan(limit_s=20.0, questions=(SHORT, STREAM))
LOOKS = Plan(questions=(SHORT,) * 12, pause_s=0.2)
TWENTY = Plan(questions=(Question(prompt=PROMPT, max_tokens=1),) * 20)
TWENTY_CONNECTIONS = Plan(questions=TWENTY.questions, door=Door.NETWORK)
CHECKED = Plan(questions=(Question(prompt=PROMPT, json_object=True),), door=Door.GATEWAY)


def effects() -> Iterator[Effect]:
    """In the order of the catalogue."""
    yield from _network()
    yield from _outages()
    yield from _http()
    yield from _timed()
    yield from _prompts()
    yield from _answers()
    yield from _memory()
    yield from _components()
    yield from _gradients()


def _network() -> Iterator[Effect]:
    toxic = "toxicity"
    yield Effect(
        fault="latency:mean_ms=2000", what=q.ANSWERED_LATE, low=1990, high=inf, plan=NETWORK, dial=toxic, keeps=True
    )
    yield Effect(
        fault="bandwidth:rate_kb_s=4", what=q.RATE, low=1, high=5000, plan=NETWORK_STREAM, dial=toxic, keeps=True
    )
    yield Effect(fault="timeout", what=q.EMPTY, low=1, high=1, plan=UNANSWERED, dial=toxic)
    yield Effect(fault="reset_peer", what=q.BROKEN, low=1, high=1, plan=NETWORK, dial=toxic)
    yield Effect(fault="slicer", what=q.RATE, low=1, high=6600, plan=NETWORK_STREAM, dial=toxic, keeps=True)
    yield Effect(fault="limit_data", what=q.BYTES, low=512, high=512, plan=NETWORK, dial=toxic)
    yield Effect(fault="slow_close", what=q.LATE_CLOSE, low=990, high=inf, plan=NETWORK, dial=toxic, keeps=True)


def _outages() -> Iterator[Effect]:
    yield Effect(fault="proxy_down", what=q.BROKEN, low=1, high=1, plan=BOTH)
    yield Effect(fault="flapping:down_s=0.5,up_s=0.5", what=q.CHANGES, low=2, high=11, plan=LOOKS)
    yield Effect(fault="kill", what=q.RUNNING, low=0, high=0, plan=Plan())
    yield Effect(fault="hang", what=q.SILENT, low=1, high=1, plan=Plan(questions=(JSON, STREAM), limit_s=SHORT_S))


def _http() -> Iterator[Effect]:
    """Wrong replies: the share of the requests that got one."""
    wrong = {
        "http_status": share("replies with status 503", lambda r: r.status == 503),
        "backpressure": share(
            "replies with status 429 and Retry-After 1", lambda r: (r.status, r.header("retry-after")) == (429, "1")
        ),
        "garbage_body": share(
            "replies 200, JSON by their header, that are none",
            lambda r: r.status == 200 and r.header("content-type") == "application/json" and not q.is_utf8(r.body),
        ),
        "html_body": share("replies that are HTML", lambda r: (r.header("content-type") or "").startswith("text/html")),
        "empty_choices": share(
            "replies 200 with no choices", lambda r: r.status == 200 and b'"choices":[]' in r.body.replace(b" ", b"")
        ),
        "null_content": share(
            "replies 200 with null as content",
            lambda r: r.status == 200 and b'"content":null' in r.body.replace(b" ", b"") and not r.text,
        ),
        "error_object": share(
            "replies 200 with an error object", lambda r: r.status == 200 and b'"error":' in r.body and not r.text
        ),
        "wrong_content_type": share(
            "replies as text/plain", lambda r: (r.header("content-type") or "").startswith("text/plain")
        ),
    }
    for fault, what in wrong.items():
        yield Effect(fault=fault, what=what, low=1, high=1, plan=BOTH, dial="rate")
    half = share("replies 200 whose JSON breaks off", lambda r: r.status == 200 and r.body[:1] in b"d{" and not r.text)
    yield Effect(fault="half_json", what=half, low=1, high=1, plan=BOTH, dial="rate")
    events = q.least("least number of events", "", lambda r: len(r.events))
    yield Effect(fault="cut_stream", what=events, low=3, high=3, plan=STREAMS, dial="rate")
    yield Effect(fault="split_utf8", what=q.TORN, low=1, high=inf, plan=STREAMS, dial="rate", keeps=True)
    yield Effect(fault="broken_utf8", what=q.NO_UTF8, low=1, high=1, plan=BOTH, dial="rate")
    length = q.least("least length of an answer", "B", lambda r: len(r.text))
    yield Effect(fault="huge_answer", what=length, low=20 * 2**20, high=20 * 2**20, plan=BOTH, dial="rate")


def _timed() -> Iterator[Effect]:
    """The delays are shorter than the defaults, so that measuring takes less than a minute."""
    for fault, what in {"stall": q.PAUSE, "hang_before_headers": q.ANSWERED_LATE, "slow_first_token": q.PAUSE}.items():
        yield Effect(fault=f"{fault}:delay_s=2", what=what, low=1990, high=inf, plan=BOTH, dial="rate", keeps=True)
    yield Effect(
        fault="slow_start:delay_s=2,requests=4", what=q.TOGETHER, low=4990, high=inf, plan=MANY, dial="rate", keeps=True
    )


def _prompts() -> Iterator[Effect]:
    yield _prompt("token_drop_prompt", "letters lost", q.lost_letters, 0.08, 0.25)
    yield _prompt("synonyms_prompt", "words replaced", q.altered, 0.02, 0.18)
    yield _prompt("blur", "words weakened or dropped", q.altered, 0.1, 0.6)
    yield _prompt("blur:moved=0.5,dropped=0.5", "words lost", q.lost, 0.1, 0.9)
    yield _prompt("reorder_prompt", "sentences at another place", q.moved, 0.2, 0.9)
    yield _prompt("duplicate_prompt", "words added", lambda now, was: -q.lost(now, was), 0.08, 0.25)
    language = q.of_prompts("Chinese characters that ask for the language", q.chinese)
    yield Effect(fault="language_prompt", what=language, low=4, high=20, plan=BOTH, dial="toxicity")
    yield _prompt("mojibake_prompt", "words garbled", q.altered, 0.15, 0.5)


def _prompt(fault: str, name: str, compare: "q.Compare", low: float, high: float) -> Effect:
    what = q.of_prompts(f"share of {name} in the prompt", compare)
    return Effect(fault=fault, what=what, low=low, high=high, plan=BOTH, dial="rate")


def _answers() -> Iterator[Effect]:
    yield _answer("token_drop_answer", "share of words lost", q.lost, 0.08, 0.25)
    yield _answer("synonyms_answer", "share of words replaced", q.altered, 0.02, 0.18)
    kept = q.of_answers("words left", lambda now, _: len(q.WORDS.findall(now)))
    yield Effect(fault="truncate_answer", what=kept, low=12, high=12, plan=BOTH, dial="toxicity")
    yield _answer("reorder_answer", "share of sentences at another place", q.moved, 0.2, 0.9)
    yield _answer("duplicate_answer", "share of words added", lambda now, was: -q.lost(now, was), 0.08, 0.25)
    yield _answer("language_answer", "Chinese characters", q.chinese, 10, 100)
    yield _answer("mojibake_answer", "share of words garbled", q.altered, 0.15, 0.5)
    yield Effect(fault="stale_answer", what=q.STALE, low=1, high=1, plan=SHORT_THEN_LONG, dial="toxicity")


def _answer(fault: str, name: str, compare: "q.Compare", low: float, high: float) -> Effect:
    return Effect(fault=fault, what=q.of_answers(name, compare), low=low, high=high, plan=BOTH, dial="rate")


def _memory() -> Iterator[Effect]:
    yield Effect(fault="oom_pressure", what=q.FAILED, low=1, high=1, plan=LONG)
    yield Effect(fault="address_space_limit", what=q.ALLOCATIONS, low=1, high=inf, plan=LONG)
    yield Effect(fault="memory_spike:headroom_bytes=52428800,hold_s=20", what=q.ALLOCATIONS, low=1, high=inf, plan=LONG)
    yield Effect(
        fault="ledger_pressure:held_bytes=600000000", what=q.RESERVED, low=600_000_000, high=600_000_000, plan=Plan()
    )


def _components() -> Iterator[Effect]:
    yield Effect(fault="decode_errors", what=q.FAILED, low=0.5, high=1, plan=STREAMS, dial="rate")
    yield Effect(fault="attention_errors:rate=0.05", what=q.FAILED, low=0.5, high=1, plan=MANY, dial="rate")
    yield Effect(
        fault="slow_validator:delay_ms=3000",
        what=q.ANSWERED_LATE,
        low=790,  # the gateway gives a check 800 ms, and then looks for required fields only
        high=inf,
        plan=CHECKED,
        dial="rate",
        inside_gateway=True,
    )
    yield Effect(fault="damaged_weights", what=q.WRONG_TEXT, low=1, high=1, plan=BOTH)


def _gradients() -> Iterator[Effect]:
    """Rates between 0 and 1: the effect grows with them."""
    half = Effect(
        fault="reset_peer:toxicity=0.5", what=q.BROKEN, low=0.25, high=0.75, plan=TWENTY_CONNECTIONS, dial="toxicity"
    )
    yield half
    errors = share("replies with status 503", lambda r: r.status == 503)
    for rate in (0.25, 0.5, 0.75):
        fault = f"http_status:rate={rate}"
        yield Effect(fault=fault, what=errors, low=rate - 0.2, high=rate + 0.2, plan=TWENTY, dial="rate")
    for rate in (0.3, 0.6, 0.9):
        yield _answer(f"token_drop_answer:rate={rate}", "share of words lost", q.lost, rate - 0.1, rate + 0.1)
    for keep in (24, 6):
        kept = q.of_answers("words left", lambda now, _: len(q.WORDS.findall(now)))
        fault = f"truncate_answer:keep={keep}"
        yield Effect(fault=fault, what=kept, low=keep, high=keep, plan=BOTH, dial="toxicity")
