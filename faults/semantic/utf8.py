"""Characters of several bytes that are torn: between two packets (which is allowed), or for good (which is not)."""

from collections.abc import AsyncGenerator, Sequence

import msgspec

from faults.fault import Sleeper
from faults.semantic.active import Meeting
from faults.semantic.chat import event_payload, parse_object
from faults.semantic.spec import Kind

UTF8 = frozenset({Kind.SPLIT_UTF8, Kind.BROKEN_UTF8})
PAUSE_S = 0.005  # so that the two halves are two packets


async def spoil_stream(
    events: AsyncGenerator[bytes, None], meeting: Meeting, clock: Sleeper
) -> AsyncGenerator[bytes, None]:
    """Each event with a character of several bytes is sent in two pieces; or the first of them loses a byte."""
    number = 0
    async for event in events:
        number += 1
        raw = _raw_event(event)
        at = inside_character(raw)
        if at is None or meeting.over or (meeting.spec.kind is Kind.BROKEN_UTF8 and meeting.touch.count):
            yield event
            continue
        meeting.record(at=number)
        if meeting.spec.kind is Kind.BROKEN_UTF8:
            yield without(raw, at)
            continue
        yield raw[:at]
        await clock.sleep(PAUSE_S)
        yield raw[at:]


def spoil_body(body: bytes, meetings: Sequence[Meeting]) -> bytes:
    """A JSON answer as plain UTF-8, and for broken_utf8 with a byte lost; what changes nothing is not recorded."""
    for meeting in meetings:
        if meeting.spec.kind not in UTF8 or meeting.over:
            continue
        answer = parse_object(body)
        raw = body if answer is None else msgspec.json.encode(answer)
        at = inside_character(raw)
        if at is not None:
            meeting.record(at=at)
            body = without(raw, at) if meeting.spec.kind is Kind.BROKEN_UTF8 else raw
    return body


def splits(meetings: Sequence[Meeting]) -> bool:
    return any(meeting.spec.kind is Kind.SPLIT_UTF8 and meeting.touch.count for meeting in meetings)


async def in_pieces(body: bytes, clock: Sleeper) -> AsyncGenerator[bytes, None]:
    """Two pieces, the cut within a character."""
    at = inside_character(body) or len(body)
    yield body[:at]
    await clock.sleep(PAUSE_S)
    yield body[at:]


def inside_character(data: bytes) -> int | None:
    """Where the first character of several bytes has its second one; None: there is none."""
    return next((at for at, byte in enumerate(data) if 0x80 <= byte < 0xC0), None)


def without(data: bytes, at: int) -> bytes:
    return data[:at] + data[at + 1 :]


def _raw_event(event: bytes) -> bytes:
    """The event without \\u escapes; one that is no JSON stays as it is."""
    answer = parse_object(event_payload(event))
    return event if answer is None else b"data: " + msgspec.json.encode(answer) + b"\n\n"
