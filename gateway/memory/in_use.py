"""How much of a promise the backend has come to hold, told by the answer's own pieces."""

from collections.abc import Awaitable, Callable

from gateway.backends.stream import Piece
from gateway.memory.estimate import KvShape, kv_bytes
from gateway.memory.ledger import Reservation

_STEPS = 8  # a promise is told of its growth so often at most


class InUse:
    """Stands before whoever takes a stream's pieces, and marks the reservation.

    The first token proves that the prompt's cache is there, nothing earlier does: a request that was sent may still
    wait in the engine's own line. Each further piece counts as one token, never more, so that what is marked is in
    use for sure; what is not yet marked stays a promise.
    """

    __slots__ = ("_most", "_next", "_prompt_tokens", "_reservation", "_shape", "_take", "_tokens")

    def __init__(
        self,
        take: Callable[[list[Piece]], Awaitable[None]],
        reservation: Reservation,
        shape: KvShape,
        *,
        prompt_tokens: int,
        max_tokens: int,
    ) -> None:
        self._take = take
        self._reservation = reservation
        self._shape = shape
        self._prompt_tokens = prompt_tokens
        self._most = max_tokens
        self._tokens = 0
        self._next = 1

    async def take(self, pieces: list[Piece]) -> None:
        """Count, then hand on."""
        self._tokens += sum(piece.is_progress for piece in pieces)
        if self._tokens >= self._next:
            tokens = min(self._tokens, self._most)
            self._reservation.mark_allocated(kv_bytes(self._shape, self._prompt_tokens + tokens))
            self._next = tokens + -(-self._most // _STEPS)
        await self._take(pieces)
