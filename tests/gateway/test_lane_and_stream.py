"""The bounded queue of one backend, and the reader of its streams."""

import asyncio
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upstream_stub import chunk

from gateway.backends.failures import is_context_overflow, is_out_of_memory
from gateway.backends.lane import Lane
from gateway.backends.stream import StreamReader
from gateway.clock import SystemClock
from gateway.errors import QueueFull, UpstreamError


def made(**limits: int) -> Lane:
    return Lane(**{"max_concurrent": 1, "max_queue": 2, **limits}, clock=SystemClock())


async def settle() -> None:
    for _ in range(3):
        await SystemClock().sleep(0)


async def test_waiters_are_served_in_the_order_they_came():
    lane, order = made(), []
    first = await lane.acquire(timeout_s=1)

    async def wait(name: str) -> None:
        slot = await lane.acquire(timeout_s=1)
        order.append(name)
        slot.release()

    tasks = [asyncio.create_task(wait(name)) for name in "ab"]
    await settle()
    assert lane.view().waiting == 2
    first.release()
    await asyncio.gather(*tasks)
    assert order == ["a", "b"]
    assert lane.view().running == 0


async def test_a_full_queue_refuses_at_once():
    lane = made(max_queue=0)
    await lane.acquire(timeout_s=1)
    with pytest.raises(QueueFull, match="0 requests wait, at most 0"):
        await lane.acquire(timeout_s=1)
    with pytest.raises(QueueFull, match="0 requests wait, at most 0"):
        lane.require_open(timeout_s=1)


async def test_a_wait_that_would_outlast_its_limit_is_refused_at_once():
    clock = Steps()
    lane = Lane(max_concurrent=1, max_queue=9, clock=clock)
    slot = await lane.acquire(timeout_s=1)
    clock.time_s = 10.0  # calls take ten seconds here
    slot.release()
    await lane.acquire(timeout_s=1)
    with pytest.raises(QueueFull, match=r"would be 10\.0 s, at most 1\.0 s") as refused:
        await lane.acquire(timeout_s=1)
    assert refused.value.retry_after_s == 10.0


class Steps:
    time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    async def sleep(self, delay_s: float) -> None:
        self.time_s += delay_s


async def test_a_released_slot_counts_once():
    lane = made(max_concurrent=2)
    slots = [await lane.acquire(timeout_s=1) for _ in range(2)]
    slots[0].release()
    slots[0].release()
    assert lane.view().running == 1


@pytest.mark.parametrize("when", ["waiting", "at its turn", "timed out"])
async def test_a_waiter_that_leaves_leaks_no_slot(when):
    lane = made()
    first = await lane.acquire(timeout_s=1)
    leaver = asyncio.create_task(lane.acquire(timeout_s=0.01 if when == "timed out" else 5))
    await settle()
    if when == "at its turn":
        first.release()
    if when == "timed out":
        await SystemClock().sleep(0.03)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    first.release()
    assert lane.view() == (0, 0, lane.view().service_s)
    (await lane.acquire(timeout_s=1)).release()


EVENTS = [chunk(role="assistant"), chunk("Grüße "), chunk("北京"), chunk(finish="stop")]
WIRE = b": hello\n\n" + b"".join(
    b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\r\n\r\n" for event in EVENTS
)
WIRE += b"data: [DONE]\n\n"


def read(parts: list[bytes], **options) -> tuple[str, StreamReader]:
    reader = StreamReader(**{"max_bytes": 10_000, "done_required": True, **options})
    text = "".join(piece.text for part in parts for piece in reader.feed(part))
    reader.end()
    return text, reader


@settings(max_examples=50)
@given(st.lists(st.integers(0, len(WIRE)), max_size=8))
def test_a_stream_reads_the_same_however_it_is_sliced(cuts):
    edges = [0, *sorted(cuts), len(WIRE)]
    text, reader = read([WIRE[a:b] for a, b in pairwise(edges)])
    assert text == "Grüße 北京"
    assert (reader.done, reader.finish_reason, reader.bad_lines) == (True, "stop", 0)


@settings(max_examples=50)
@given(st.integers(0, len(WIRE) - 4))
def test_a_stream_cut_anywhere_before_its_end_is_never_whole(at):
    with pytest.raises(UpstreamError):
        read([WIRE[:at]])


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_garbage_is_an_upstream_error_and_nothing_else(data):
    with pytest.raises(UpstreamError):
        read([b"data: " + data])


def test_what_comes_after_done_is_not_read():
    text, _ = read([WIRE, b"data: " + json.dumps(chunk("more")).encode() + b"\n\n"])
    assert text == "Grüße 北京"


def test_a_stream_over_the_limit_is_refused():
    with pytest.raises(UpstreamError, match="more than 100 bytes"):
        read([WIRE], max_bytes=100)


def test_wordings_of_too_little_memory_are_recognised_and_others_are_not():
    assert is_out_of_memory("CUDA out of memory. Tried to allocate 2.00 GiB")
    assert is_out_of_memory("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
    assert is_out_of_memory("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate")
    assert not is_out_of_memory("the memory of the conversation is empty")
    assert not is_context_overflow("max_tokens must be at least 1")
