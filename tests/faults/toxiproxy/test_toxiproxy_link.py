"""Whatever the toxics, chunks and changes: bytes that pass are complete, in order and unchanged."""

import heapq
from itertools import count
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.toxiproxy.ending import LimitData, Noop, ResetPeer, Timeout
from faults.toxiproxy.link import Link, Traffic
from faults.toxiproxy.pacing import Bandwidth, Latency, Slicer, SlowClose
from faults.toxiproxy.stage import End, Evidence, Start, Touch


class FakeTimer:
    def __init__(self):
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


class FakeTimers:
    """An event loop's clock that only moves when told to."""

    def __init__(self):
        self._now_s = 0.0
        self._queue = []
        self._order = count()

    def time(self):
        return self._now_s

    def call_at(self, when, callback, /):
        timer = FakeTimer()
        heapq.heappush(self._queue, (when, next(self._order), callback, timer))
        return timer

    def stall_to(self, now_s):
        """Time passes while the loop is busy: nothing is called."""
        self._now_s = now_s

    def advance_to(self, until_s):
        while self._queue and self._queue[0][0] <= until_s:
            when_s, _, callback, timer = heapq.heappop(self._queue)
            self._now_s = max(self._now_s, when_s)
            if not timer.cancelled:
                callback()
        self._now_s = max(self._now_s, until_s)


class Pipe:
    """Sender and receiver of one link; wants no more once `room` bytes have come, until it is emptied."""

    def __init__(self, room=10**9):
        self.received = bytearray()
        self.held = False
        self.end = None
        self._room = room
        self._since_emptied = 0

    @property
    def blocked(self):
        return self._since_emptied >= self._room

    def write(self, data):
        assert not self.blocked, "written to while blocked"
        assert self.end is None, "written to after the end"
        self._since_emptied += len(data)
        self.received += data

    def hold(self, held):
        self.held = held

    def empty(self):
        self._since_emptied = 0

    def on_end(self, end):
        assert self.end is None
        self.end = end


class Bench:
    """A link between fakes."""

    def __init__(self, room=10**9):
        self.timers = FakeTimers()
        self.pipe = Pipe(room)
        self.traffic = Traffic()
        self.link = Link(
            timers=self.timers,
            sender=self.pipe,
            receiver=self.pipe,
            traffic=self.traffic,
            on_end=self.pipe.on_end,
        )

    def place(self, position, effect, seed=0):
        start = Start(self.timers.time(), Random(seed), Touch(Evidence()), self.link.flowing)
        self.link.place(position, effect.stage(start))

    def let_run(self):
        """To the end of all that is held, emptying the receiver as often as it wants."""
        for _ in range(10_000):
            self.timers.advance_to(self.timers.time() + 3600.0)
            if not self.pipe.blocked:
                return
            self.pipe.empty()
            self.link.resume()


PASSING = st.one_of(
    st.builds(Latency, latency=st.integers(0, 500), jitter=st.integers(0, 500)),
    st.builds(Bandwidth, rate=st.integers(1, 50)),
    st.builds(SlowClose, delay=st.integers(0, 500)),
    st.builds(Slicer, average_size=st.integers(6, 40), size_variation=st.integers(0, 5), delay=st.integers(0, 2000)),
    st.builds(LimitData, bytes=st.just(10**9)),
    st.just(Noop()),
)
ACTIONS = st.one_of(
    st.tuples(st.just("feed"), st.binary(min_size=1, max_size=300)),
    st.tuples(st.just("wait"), st.floats(0, 0.4)),
    st.tuples(st.just("place"), PASSING),
    st.tuples(st.just("displace"), st.integers(0, 6)),
    st.tuples(st.just("empty"), st.none()),
)


@given(actions=st.lists(ACTIONS, max_size=40), room=st.integers(1, 500), seed=st.integers())
def test_bytes_pass_complete_in_order_and_unchanged_while_toxics_come_and_go(actions, room, seed):
    bench = Bench(room)
    sent = b""
    position = 0
    for action, value in actions:
        if action == "feed":
            bench.link.feed(value)
            sent += value
        elif action == "wait":
            bench.timers.advance_to(bench.timers.time() + value)
        elif action == "place":
            bench.place(position, value, seed)
            position += 1
        elif action == "displace":
            bench.link.displace(value)
        else:
            bench.pipe.empty()
            bench.link.resume()
        assert sent.startswith(bytes(bench.pipe.received))
    bench.link.feed(End.FIN)
    bench.let_run()
    assert bytes(bench.pipe.received) == sent
    assert bench.pipe.end is End.FIN
    assert bench.traffic.received_bytes == bench.traffic.sent_bytes == len(sent)


@given(chunks=st.lists(st.binary(min_size=1, max_size=50)), limit=st.integers(0, 400), after=PASSING)
def test_what_a_limit_lets_pass_still_goes_through_the_toxics_behind_it(chunks, limit, after):
    bench = Bench()
    bench.place(0, LimitData(bytes=limit))
    bench.place(1, after)
    for chunk in chunks:
        bench.link.feed(chunk)
    bench.let_run()
    assert bytes(bench.pipe.received) == b"".join(chunks)[:limit]
    assert (bench.pipe.end is End.CLOSE) == (bool(chunks) and sum(map(len, chunks)) >= limit)


def test_bytes_held_by_a_removed_toxic_go_before_the_newer_ones_of_earlier_toxics():
    bench = Bench()
    bench.place(0, Latency(latency=100))
    bench.link.feed(b"old")
    bench.timers.advance_to(0.05)
    bench.place(1, Latency(latency=10_000))
    bench.timers.advance_to(0.1)  # "old" is in the second toxic now
    bench.link.feed(b"new")
    bench.link.displace(1)
    assert bytes(bench.pipe.received) == b"old"
    bench.timers.advance_to(0.2)
    assert bytes(bench.pipe.received) == b"oldnew"


@pytest.mark.parametrize("behind", [[], [Noop()]])
def test_the_order_holds_even_when_a_timer_is_late(behind):
    bench = Bench()
    for position, effect in enumerate([Latency(latency=100), Latency(latency=10_000), *behind]):
        bench.place(position, effect)
    bench.link.feed(b"old")
    bench.timers.advance_to(0.1)
    bench.link.feed(b"new")
    bench.timers.stall_to(0.2)
    bench.link.displace(1)
    assert bytes(bench.pipe.received) == b"oldnew"


def test_a_reset_does_not_wait_for_a_receiver_that_does_not_read():
    bench = Bench(room=1)
    bench.link.feed(b"abc")
    bench.link.feed(b"def")
    bench.place(0, ResetPeer(timeout=0))
    assert bench.pipe.end is End.RESET


def test_the_sender_is_held_while_too_much_is_queued_and_let_go_with_room_to_spare():
    bench = Bench()
    bench.place(0, Bandwidth(rate=10))
    while not bench.pipe.held:
        bench.link.feed(b"x" * 10_000)
    assert bench.traffic.received_bytes < 100_000
    bench.timers.advance_to(2.0)
    assert bench.pipe.held
    bench.timers.advance_to(6.0)
    assert not bench.pipe.held


def test_a_blocked_receiver_holds_the_sender_even_without_toxics():
    bench = Bench(room=10)
    bench.link.feed(b"x" * 10)
    assert bench.pipe.held
    bench.pipe.empty()
    bench.link.resume()
    assert not bench.pipe.held


def test_removing_a_timeout_closes():
    bench = Bench()
    bench.place(0, Timeout(timeout=0))
    bench.link.feed(b"lost")
    bench.link.displace(0)
    assert bench.pipe.end is End.CLOSE
    assert not bench.pipe.received


def test_a_stopped_link_leaves_no_timer_behind():
    bench = Bench()
    bench.place(0, Latency(latency=100))
    bench.link.feed(b"abc")
    bench.link.stop()
    bench.timers.advance_to(1.0)
    assert not bench.pipe.received
