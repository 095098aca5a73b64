"""The HTTP outages: replies made up without the backend, and what is done to the reply of the backend."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from faults.fault import Sleeper
from faults.parent import wait_for_any
from faults.semantic.active import Meeting
from faults.semantic.chat import is_last
from faults.semantic.spec import Kind, Spec

BREAKING = frozenset({Kind.CUT_STREAM, Kind.STALL, Kind.SLOW_FIRST_TOKEN, Kind.HALF_JSON})  # harm the backend's reply
JSON, SSE, HTML = "application/json", "text/event-stream", "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canned:
    """A reply that no backend gave."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


def canned_reply(spec: Spec, *, streaming: bool, garbage: bytes) -> Canned | None:
    """The made-up reply of this kind; None: this kind needs the backend's own reply."""
    make = CANNED.get(spec.kind)
    return make(spec, streaming, garbage) if make else None


def _status(spec: Spec, _streaming: bool, _garbage: bytes) -> Canned:
    body = msgspec.json.encode(
        {"error": {"message": f"injected {spec.status}", "type": "injected", "code": spec.status}}
    )
    wait_s = spec.retry_after_s if spec.retry_after_s is not None else 1 if spec.status == 429 else None
    return Canned(status=spec.status, body=body, headers={} if wait_s is None else {"Retry-After": str(wait_s)})


def _garbage(_spec: Spec, _streaming: bool, garbage: bytes) -> Canned:
    return Canned(body=garbage)


def _html(_spec: Spec, _streaming: bool, _garbage: bytes) -> Canned:
    return Canned(body=b"<html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>\n", content_type=HTML)


def _error_object(_spec: Spec, streaming: bool, _garbage: bytes) -> Canned:
    return _answer({"error": {"message": "injected: provider failed", "type": "server_error", "code": 502}}, streaming)


def _empty_choices(_spec: Spec, streaming: bool, _garbage: bytes) -> Canned:
    return _answer(_completion([], streaming), streaming)


def _null_content(_spec: Spec, streaming: bool, _garbage: bytes) -> Canned:
    return _answer(_completion([_choice(None, streaming)], streaming), streaming)


def _huge_answer(spec: Spec, streaming: bool, _garbage: bytes) -> Canned:
    sentence = "The answer goes on and on. "
    text = (sentence * (spec.size_bytes // len(sentence) + 1))[: spec.size_bytes]
    return _answer(_completion([_choice(text, streaming)], streaming), streaming)


def _choice(content: str | None, streaming: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"index": 0, "delta" if streaming else "message": message, "finish_reason": "stop"}


def _completion(choices: list[dict[str, Any]], streaming: bool) -> dict[str, Any]:
    kind = "chat.completion.chunk" if streaming else "chat.completion"
    return {"id": "chatcmpl-injected", "object": kind, "created": 0, "model": "injected", "choices": choices}


def _answer(value: dict[str, Any], streaming: bool) -> Canned:
    body = msgspec.json.encode(value)
    if streaming:
        return Canned(body=b"data: " + body + b"\n\ndata: [DONE]\n\n", content_type=SSE)
    return Canned(body=body)


CANNED: MappingProxyType[Kind, Callable[[Spec, bool, bytes], Canned]] = MappingProxyType(
    {
        Kind.STATUS: _status,
        Kind.GARBAGE: _garbage,
        Kind.HTML: _html,
        Kind.ERROR_OBJECT: _error_object,
        Kind.EMPTY_CHOICES: _empty_choices,
        Kind.NULL_CONTENT: _null_content,
        Kind.HUGE_ANSWER: _huge_answer,
    }
)


class Cut(Exception):  # noqa: N818  # not an error: the reply ends here
    """Drop the connection without the rest of the reply."""


async def hold(meeting: Meeting, clock: Sleeper) -> None:
    """Wait `delay_s`, or until the fault is gone."""
    delay_s = meeting.spec.delay_s * warming(meeting)
    await wait_for_any(meeting.active.gone.wait, lambda: clock.sleep(delay_s))


def warming(meeting: Meeting) -> float:
    """The part of its delay that a request meets: less and less during a slow start, else all of it."""
    if meeting.spec.kind is not Kind.SLOW_START:
        return 1.0
    return max(0.0, 1 - meeting.touch.number / meeting.spec.requests)


async def break_stream(
    events: AsyncGenerator[bytes, None], meeting: Meeting, clock: Sleeper
) -> AsyncGenerator[bytes, None]:
    """What cut_stream, stall, slow_first_token and half_json do to the events of a stream."""
    kind, number = meeting.spec.kind, 0
    async for event in events:
        due = not meeting.over and (number == meeting.spec.after_chunks or is_last(event))
        first = number == 0 and not meeting.over
        if first and kind in (Kind.SLOW_FIRST_TOKEN, Kind.HALF_JSON):
            meeting.record(at=number)
            if kind is Kind.HALF_JSON:
                yield event[: len(event) // 2]
                return
            await hold(meeting, clock)
        elif due and kind is Kind.CUT_STREAM:
            meeting.record(at=number)
            return
        elif due and kind is Kind.STALL and not meeting.touch.count:
            meeting.record(at=number)
            await hold(meeting, clock)
        number += 1
        yield event


async def break_body(body: bytes, meeting: Meeting, clock: Sleeper) -> AsyncGenerator[bytes, None]:
    """The same for a JSON reply: yields the parts; raises Cut to drop the connection. A half JSON is a whole reply."""
    half = len(body) // 2
    kind = meeting.spec.kind
    if meeting.over:
        yield body
        return
    meeting.record(at=0 if kind is Kind.SLOW_FIRST_TOKEN else half)
    if kind is Kind.SLOW_FIRST_TOKEN:
        await hold(meeting, clock)
        yield body
        return
    yield body[:half]
    if kind is Kind.CUT_STREAM:
        raise Cut
    if kind is Kind.STALL:
        await hold(meeting, clock)
        yield body[half:]
