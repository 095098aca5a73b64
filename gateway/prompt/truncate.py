"""Cut a prompt to a token limit at sentence and structure boundaries."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.prompt.tokens import Counter, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A prompt that fits."""

    messages: list[Message]
    dropped_tokens: int
    prompt_tokens: int


def fit(messages: Sequence[Message], *, limit_tokens: int, count: Counter) -> Fit:
    """Return `messages` cut to `limit_tokens`; raises ContextTooLong."""
    raise NotImplementedError
