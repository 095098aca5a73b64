"""Say the same with fewer tokens, before anything is cut."""

from collections.abc import Sequence

from gateway.prompt.tokens import Counter, Message
from gateway.prompt.truncate import Fit


def compress(messages: Sequence[Message], *, limit_tokens: int, count: Counter) -> Fit:
    """Return `messages` compressed towards `limit_tokens`; may still be over it."""
    raise NotImplementedError
