"""What one fault of the semantic proxy is on the wire, and how it is checked."""

from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import msgspec

from faults.errors import BadFault
from faults.pattern import read_pattern
from faults.reach import EVERYTHING, Reach


class Kind(StrEnum):
    """Everything the proxy can do to a chat completion."""

    PROMPT_DROP = "prompt_drop"
    PROMPT_SYNONYMS = "prompt_synonyms"
    PROMPT_BLUR = "prompt_blur"
    PROMPT_REORDER = "prompt_reorder"
    PROMPT_DUPLICATE = "prompt_duplicate"
    PROMPT_LANGUAGE = "prompt_language"
    PROMPT_MOJIBAKE = "prompt_mojibake"
    ANSWER_DROP = "answer_drop"
    ANSWER_SYNONYMS = "answer_synonyms"
    ANSWER_TRUNCATE = "answer_truncate"
    ANSWER_REORDER = "answer_reorder"
    ANSWER_DUPLICATE = "answer_duplicate"
    ANSWER_LANGUAGE = "answer_language"
    ANSWER_MOJIBAKE = "answer_mojibake"
    ANSWER_STALE = "answer_stale"
    STATUS = "status"
    GARBAGE = "garbage"
    HTML = "html"
    HALF_JSON = "half_json"
    EMPTY_CHOICES = "empty_choices"
    NULL_CONTENT = "null_content"
    ERROR_OBJECT = "error_object"
    CUT_STREAM = "cut_stream"
    STALL = "stall"
    HANG = "hang"
    SLOW_FIRST_TOKEN = "slow_first_token"
    SLOW_START = "slow_start"
    SPLIT_UTF8 = "split_utf8"
    BROKEN_UTF8 = "broken_utf8"
    WRONG_CONTENT_TYPE = "wrong_content_type"
    HUGE_ANSWER = "huge_answer"

    @property
    def on_prompt(self) -> bool:
        return self.startswith("prompt_")

    @property
    def on_answer(self) -> bool:
        return self.startswith("answer_")


DEFAULT_RATES = MappingProxyType(
    {
        Kind.PROMPT_DROP: 0.15,
        Kind.ANSWER_DROP: 0.15,
        Kind.PROMPT_SYNONYMS: 0.08,
        Kind.ANSWER_SYNONYMS: 0.08,
        Kind.PROMPT_REORDER: 0.5,
        Kind.ANSWER_REORDER: 0.5,
        Kind.PROMPT_DUPLICATE: 0.15,
        Kind.ANSWER_DUPLICATE: 0.15,
        Kind.ANSWER_LANGUAGE: 0.5,
        Kind.PROMPT_MOJIBAKE: 0.3,
        Kind.ANSWER_MOJIBAKE: 0.3,
    }
)
T = TypeVar("T")
MAX_TTL_S = 3600.0
MAX_HUGE_BYTES = 256 * 2**20


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault: text faults touch `rate` of the tokens of `toxicity` of requests, others `rate` of the requests."""

    id: str
    kind: Kind
    seed: int | str = 0
    rate: float | None = None  # in [0, 1]; None: DEFAULT_RATES, else 1
    toxicity: float = 1.0  # share of requests met by a text fault, in [0, 1]
    ttl_s: float = 300.0  # the proxy drops the fault by itself after this
    at: Literal["chunk", "word", "sentence"] = "word"  # unit of answer_truncate; a chunk is a token of the model
    keep: int = 12  # units that answer_truncate leaves
    moved: float = 0.0  # prompt_blur: share of the sentences with a constraint that go to the end, in [0, 1]
    dropped: float = 0.0  # prompt_blur: share of them that are lost
    status: int = 503
    retry_after_s: int | None = None
    after_chunks: int = 3  # stream events before cut_stream and stall
    delay_s: float = 30.0  # stall, hang and slow_first_token
    size_bytes: int = 20 * 2**20  # huge_answer
    requests: int = 10  # slow_start: how many requests until it is as fast as before
    when: str = ""  # a pattern over the requests (faults.pattern); "": each is drawn for itself
    reach: Reach = EVERYTHING  # the blast radius

    @property
    def token_rate(self) -> float:
        return DEFAULT_RATES.get(self.kind, 1.0) if self.rate is None else self.rate

    @property
    def request_share(self) -> float:
        """Share of requests that meet this fault."""
        if self.kind.on_prompt or self.kind.on_answer:
            return self.toxicity if self.token_rate > 0 else 0.0
        return self.token_rate

    def check(self) -> None:
        """Raises BadFault, naming field, value and bound."""
        bounds = {
            "rate": (self.token_rate, 0.0, 1.0),
            "toxicity": (self.toxicity, 0.0, 1.0),
            "ttl_s": (self.ttl_s, 0.001, MAX_TTL_S),
            "keep": (self.keep, 0, 10**6),
            "moved": (self.moved, 0.0, 1.0),
            "dropped": (self.dropped, 0.0, 1.0 - self.moved),
            "status": (self.status, 400, 599),
            "after_chunks": (self.after_chunks, 0, 10**6),
            "delay_s": (self.delay_s, 0.0, MAX_TTL_S),
            "size_bytes": (self.size_bytes, 1, MAX_HUGE_BYTES),
            "requests": (self.requests, 1, 10**6),
            "retry_after_s": (self.retry_after_s or 0, 0, MAX_TTL_S),
        }
        for name, (value, low, high) in bounds.items():
            if not low <= value <= high:
                raise BadFault(f"{self.kind}: {name} is {value}, must be between {low} and {high}")
        read_pattern(self.when)
        if not self.id or len(self.id) > 200 or "/" in self.id:
            raise BadFault(f"id is {self.id!r}, must be 1 to 200 characters without '/'")


class SpecList(msgspec.Struct, forbid_unknown_fields=True):
    """Body of PUT /__fault__."""

    faults: list[Spec]


def read_specs(body: bytes) -> list[Spec]:
    """Parse the body of PUT /__fault__; raises BadFault."""
    specs = _decode(body, SpecList).faults
    for spec in specs:
        spec.check()
    if len({spec.id for spec in specs}) < len(specs):
        raise BadFault("two faults have the same id")
    return specs


def read_spec(fault_id: str, body: bytes) -> Spec:
    """Parse the body of PUT /__fault__/{id}; the id of the path is the one that counts. Raises BadFault."""
    fields = _decode(body, dict[str, Any])
    spec = _decode(msgspec.json.encode({**fields, "id": fault_id}), Spec)
    spec.check()
    return spec


def _decode(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFault(f"bad request body: {error}") from None
