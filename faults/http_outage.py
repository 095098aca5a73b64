"""Answers that are wrong as HTTP or as JSON, given by the semantic proxy. `rate` is a share of requests."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from faults.fault import Firing, Sleeper, Target
from faults.parameter import check_bounds, means, share
from faults.pattern import FORMS, read_pattern
from faults.semantic_client import semantic_fault

WHEN = means(f"which requests, by their number: {FORMS}", check=read_pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpStatus:
    """Answer with an HTTP error and never ask the backend; 429 also says `Retry-After`."""

    name: ClassVar[str] = "http_status"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    status: int = field(default=503, metadata=means("HTTP status", low=400, high=599))
    retry_after_s: int | None = field(
        default=None, metadata=means("Retry-After, s; none: 1 with 429", low=0, high=3600)
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "status", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backpressure:
    """Answer 429 with `Retry-After`, as a server with a full queue."""

    name: ClassVar[str] = "backpressure"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    status: int = field(default=429, metadata=means("HTTP status", low=400, high=599))
    retry_after_s: int = field(default=1, metadata=means("Retry-After, s", low=0, high=3600))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "status", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class GarbageBody:
    """Answer 200 with random bytes as JSON."""

    name: ClassVar[str] = "garbage_body"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "garbage", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlBody:
    """Answer 200 with a page of HTML, as a proxy in between does."""

    name: ClassVar[str] = "html_body"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "html", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfJson:
    """Cut the backend's JSON (or the first event of its stream) in half and end as if that were all."""

    name: ClassVar[str] = "half_json"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "half_json", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyChoices:
    """Answer 200 with no choices."""

    name: ClassVar[str] = "empty_choices"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "empty_choices", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class NullContent:
    """Answer 200 with null as content."""

    name: ClassVar[str] = "null_content"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "null_content", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorObject:
    """Answer 200 with an error object."""

    name: ClassVar[str] = "error_object"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "error_object", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutStream:
    """End the stream early, cleanly, without finish reason and [DONE]; break off a JSON answer half way."""

    name: ClassVar[str] = "cut_stream"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    after_chunks: int = field(default=3, metadata=means("stream events that pass before", low=0, high=10**6))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "cut_stream", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """Pause in the middle of an answer."""

    name: ClassVar[str] = "stall"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    delay_s: float = field(default=30.0, metadata=means("time, s", low=0, high=3600))
    after_chunks: int = field(default=3, metadata=means("stream events that pass before", low=0, high=10**6))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "stall", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class HangBeforeHeaders:
    """Accept the request and say nothing for a time."""

    name: ClassVar[str] = "hang_before_headers"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    delay_s: float = field(default=30.0, metadata=means("time, s", low=0, high=3600))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "hang", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowFirstToken:
    """Send the headers, then pause before the first event (or the body)."""

    name: ClassVar[str] = "slow_first_token"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    delay_s: float = field(default=10.0, metadata=means("time, s", low=0, high=3600))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "slow_first_token", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongContentType:
    """Give the backend's answer as text/plain."""

    name: ClassVar[str] = "wrong_content_type"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "wrong_content_type", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class HugeAnswer:
    """Answer 200 with a very long content."""

    name: ClassVar[str] = "huge_answer"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)
    size_bytes: int = field(default=20 * 2**20, metadata=means("length of the content, bytes", low=1, high=256 * 2**20))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "huge_answer", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowStart:
    """Answer late after a start: the first request waits `delay_s`, each later one less, the last not at all."""

    name: ClassVar[str] = "slow_start"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    delay_s: float = field(default=10.0, metadata=means("time of the first, s", low=0, high=3600))
    requests: int = field(default=10, metadata=means("requests until it is fast again", low=1, high=10**6))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "slow_start", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitUtf8:
    """Send characters of several bytes in two packets, as networks do; whoever decodes each alone loses them."""

    name: ClassVar[str] = "split_utf8"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "split_utf8", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenUtf8:
    """Lose one byte of a character: the answer is no UTF-8 any more."""

    name: ClassVar[str] = "broken_utf8"
    rate: float = field(default=1.0, metadata=share("share of requests"))
    when: str = field(default="", metadata=WHEN)

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "broken_utf8", self, rng)
