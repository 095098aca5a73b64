"""The client of a trial: sends one chat completion to a gateway and writes down what came back."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import aiohttp

from gateway.clock import Clock
from harness.reply import Reply, as_json, read_chunk, read_reply
from harness.trial import Outcome

MOST_LEFT_OUT = 12  # fields of one answer that could not be used, as they are kept and told


@dataclass(slots=True, kw_only=True)
class Observation:
    """What the client saw of one request."""

    status: int | None = None
    answer: str | None = None
    finish_reason: str | None = None
    record: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    error: str | None = None  # what the server says went wrong, or why nothing whole came
    malformed: str | None = None  # why the body is no chat completion
    left_out: list[str] = field(default_factory=list)  # what of it could not be used
    latency_ms: float | None = None
    ttft_ms: float | None = None
    complete: bool = False  # a body or a stream that ended as the protocol says

    @property
    def outcome(self) -> Outcome:
        """Classify by status; a 200 that is no whole answer is a failure, except an error that is said in-band."""
        if self.status is None or not self.complete:
            return Outcome.UNANSWERED
        if self.status >= 500:
            return Outcome.FAILED
        if self.status == 429:
            return Outcome.REFUSED
        if self.status >= 400:
            return Outcome.REJECTED
        if self.malformed is not None:
            return Outcome.FAILED
        if self.status == 206:
            return Outcome.DEGRADED
        if self.error is not None and self.record:
            return Outcome.DEGRADED  # a stream that broke, and said so in-band
        return Outcome.OK if self.answer is not None and self.error is None else Outcome.FAILED

    @property
    def wrong(self) -> str | None:
        """All that was wrong, in one line; None: nothing was."""
        told = [self.error or "", f"no chat completion: {self.malformed}" if self.malformed else "", *self.left_out]
        return "; ".join(line for line in told if line) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How a gateway marks a degraded answer when its body holds no degradation record."""

    level_header: str = "x-degradation-level"
    path_header: str = "x-degradation-path"
    reason_header: str = "x-degrade-reason"
    unmarked_is_healthy: bool = False  # no mark at all says that the answer is undegraded

    def record(self, headers: Mapping[str, str]) -> dict[str, Any]:
        """The degradation record that the headers amount to; empty: nothing is said."""
        level = headers.get(self.level_header, "").strip().lower()
        if not level:
            return {"level": "healthy"} if self.unmarked_is_healthy else {}
        reasons = [reason.strip() for reason in headers.get(self.reason_header, "").split(",") if reason.strip()]
        level = level if level in ("healthy", "critical") else "degraded"
        return {"level": level, "path": headers.get(self.path_header), "reasons": reasons}


class GatewayClient:
    """Speaks chat completions to one gateway; one per run."""

    def __init__(
        self,
        base_url: str,
        *,
        clock: Clock,
        timeout_s: float = 120.0,
        token: str | None = None,
        marks: Marks | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.clock = clock
        self.marks = marks or Marks()
        self.session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=timeout_s),
            headers={"Authorization": f"Bearer {token}"} if token else {},
        )

    async def close(self) -> None:
        await self.session.close()

    async def ask(
        self, body: Mapping[str, Any], *, trial_id: str, headers: Mapping[str, str] = MappingProxyType({})
    ) -> Observation:
        """Send one request; never raises for what the server does."""
        seen = Observation()
        began_s = self.clock.now_s()
        try:
            async with self.session.post(
                f"{self.base_url}/v1/chat/completions", json=body, headers={"x-truefall-trial": trial_id, **headers}
            ) as response:
                seen.status = response.status
                if response.content_type == "text/event-stream":
                    await self._read_stream(response, seen, began_s)
                else:
                    take_body(await response.read(), seen)
                if not seen.record and seen.complete:
                    seen.record = self.marks.record(response.headers)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            seen.error = f"{type(error).__name__}: {error}"
        seen.latency_ms = (self.clock.now_s() - began_s) * 1000
        return seen

    async def _read_stream(self, response: aiohttp.ClientResponse, seen: Observation, began_s: float) -> None:
        parts: list[str] = []
        async for line in lines_of(response):
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                seen.complete = True
                break
            text = take_chunk(data, seen)
            seen.complete = seen.error is not None  # an error event is an honest end; a bare end of file is not
            if text and seen.ttft_ms is None:
                seen.ttft_ms = (self.clock.now_s() - began_s) * 1000
            parts.append(text)
        seen.answer = "".join(parts) or None


async def lines_of(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The lines of a body, however long they are; the last one may lack its end."""
    begun: list[bytes] = []
    async for part in response.content.iter_any():
        first, *more = part.split(b"\n")
        begun.append(first)
        for line in more:
            yield b"".join(begun)
            begun = [line]
    yield b"".join(begun)


def take_body(raw: bytes, seen: Observation) -> None:
    """Fill in what a JSON answer says."""
    try:
        reply = read_reply(as_json(raw))
    except ValueError as error:
        seen.error = f"the body is not JSON: {error}"
        return
    seen.complete = True
    take(reply, seen)
    seen.answer = reply.suggestion if seen.status == 206 and reply.text is None else reply.text


def take_chunk(data: bytes, seen: Observation) -> str:
    """The text of one SSE event; fills in the record, the model and an in-band error."""
    try:
        reply = read_chunk(as_json(data))
    except ValueError as error:
        reply = Reply(malformed=f"it is not JSON: {error}")
    if reply.malformed is not None:
        reply.malformed = f"an SSE event: {reply.malformed}"
    take(reply, seen)
    return reply.text or ""


def take(reply: Reply, seen: Observation) -> None:
    """Everything but the text; what an earlier chunk said stays where this one says nothing."""
    seen.record = reply.record or seen.record
    seen.model = reply.model or seen.model
    seen.finish_reason = reply.finish_reason or seen.finish_reason
    seen.malformed = seen.malformed or reply.malformed
    seen.error = reply.error or seen.error
    seen.left_out = first_of_each_field([*seen.left_out, *reply.left_out])


def first_of_each_field(left_out: Sequence[str]) -> list[str]:
    """The first line of each field, MOST_LEFT_OUT at most: a stream may say something else wrong in every chunk."""
    of_field: dict[str, str] = {}
    for line in left_out:
        of_field.setdefault(line.partition(" ")[0], line)
    return list(of_field.values())[:MOST_LEFT_OUT]
