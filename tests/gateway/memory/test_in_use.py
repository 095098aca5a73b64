"""What a stream's pieces prove to be in use, and no more."""

from fake_clock import FakeClock

from gateway.backends.stream import Event, Piece
from gateway.memory.estimate import KvShape, LayerGroup
from gateway.memory.in_use import InUse
from gateway.memory.ledger import Ledger, Reservation

BYTE_PER_TOKEN = KvShape(groups=(LayerGroup(1, 1, None),), value_bits=8)


EVENT = Event(id="1", object="chat.completion.chunk", created=1, model="m", choices=[])


def piece(*, progress: bool) -> Piece:
    return Piece(data=b"", event=EVENT, text="", is_content=progress, is_progress=progress, finish_reason=None)


async def test_the_first_token_proves_the_prompt_and_each_further_piece_one_token() -> None:
    ledger = Ledger(1000, FakeClock())
    reservation = ledger.try_reserve(300)
    assert isinstance(reservation, Reservation)
    handed_on: list[list[Piece]] = []
    left = []

    async def take(pieces: list[Piece]) -> None:
        handed_on.append(pieces)

    in_use = InUse(take, reservation, BYTE_PER_TOKEN, prompt_tokens=220, max_tokens=80)
    await in_use.take([piece(progress=False)])  # a role, or a keep-alive: nothing has been computed yet
    left.append(ledger.unallocated_bytes(0.0))
    for _ in range(100):  # more than was asked for, from an engine that does not count
        await in_use.take([piece(progress=True)])
        left.append(ledger.unallocated_bytes(0.0))
    assert left[:3] == [300, 79, 79]
    assert left == sorted(left, reverse=True)
    assert left[80] < 10
    assert len(handed_on) == 101
    assert len(reservation._allocated) <= 9  # however long the answer is


async def test_many_tokens_at_once_are_as_good() -> None:
    ledger = Ledger(1000, FakeClock())
    reservation = ledger.try_reserve(300)
    assert isinstance(reservation, Reservation)

    async def take(_: list[Piece]) -> None: ...

    in_use = InUse(take, reservation, BYTE_PER_TOKEN, prompt_tokens=220, max_tokens=80)
    await in_use.take([piece(progress=True)] * 50)
    assert ledger.unallocated_bytes(0.0) == 30
