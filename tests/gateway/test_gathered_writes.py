"""Writes of one go of the event loop leave together, in order, and none is lost."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from gateway.connection import protocol_of
from gateway.connection_limits import ConnectionLimits
from gateway.gathered import Gathered


class Wire(asyncio.Transport):
    """Remembers what a socket would have been given."""

    def __init__(self):
        super().__init__()
        self.written = []
        self.closed = self.aborted = False

    def write(self, data):
        self.written.append(bytes(data))

    def close(self):
        self.closed = True

    def abort(self):
        self.aborted = self.closed = True

    def is_closing(self):
        return self.closed


@pytest.fixture
def soon():
    return []


@pytest.fixture
def wire():
    return Wire()


@pytest.fixture
def gathered(wire, soon):
    return Gathered(wire, soon.append)


def run(soon):
    while soon:
        soon.pop(0)()


def test_what_is_written_in_one_go_leaves_in_one_piece(gathered, wire, soon):
    for part in (b"head", bytearray(b"body"), b""):
        gathered.write(part)
    assert wire.written == []
    run(soon)
    gathered.write(b"more")
    run(soon)
    assert wire.written == [b"headbody", b"more"]


def test_closing_sends_what_waits_and_then_closes(gathered, wire, soon):
    gathered.write(b"last words")
    gathered.close()
    run(soon)
    assert (wire.written, wire.closed, wire.aborted) == ([b"last words"], True, False)


def test_aborting_sends_nothing(gathered, wire, soon):
    gathered.write(b"never")
    gathered.abort()
    run(soon)
    assert (wire.written, wire.aborted) == ([], True)


def test_nothing_is_written_to_a_transport_that_closed_meanwhile(gathered, wire, soon):
    gathered.write(b"late")
    wire.close()
    run(soon)
    assert wire.written == []


def test_much_at_once_is_not_held_back(gathered, wire, soon):
    gathered.write(b"a" * 40_000)
    gathered.write(b"b" * 40_000)
    assert [len(one) for one in wire.written] == [80_000]
    gathered.write(b"c")
    run(soon)
    assert wire.written[1:] == [b"c"]


async def without_answer(_scope, _receive, _send):
    pass


async def test_an_answer_leaves_before_the_event_loop_closes_after_a_clients_end(wire):
    rules = protocol_of(ConnectionLimits(), lambda _: None)
    config = uvicorn.Config(without_answer, http=rules, log_config=None)
    protocol = rules(config=config, server_state=ServerState(), app_state={})
    protocol.connection_made(wire)
    protocol.transport.write(b"the answer")
    if not protocol.eof_received():
        wire.close()
    protocol.connection_lost(None)
    assert wire.written == [b"the answer"]
