"""Where the templates' example questions lie in an embedding server's space: asked for once, and kept."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

from gateway.answers.embedding import Vector
from gateway.answers.endpoint import EmbeddingEndpoint

_MOST = 4096  # examples that are kept; a language with more is compared by the built-in hashing
_AT_ONCE = 16


class ExampleVectors:
    """All or none: similarities of two spaces are never compared with each other."""

    def __init__(self, endpoint: EmbeddingEndpoint) -> None:
        self._endpoint = endpoint
        self._known: dict[str, Vector] = {}
        self._learning: asyncio.Task[None] | None = None

    async def of(self, examples: Sequence[str]) -> Mapping[str, Vector] | None:
        """The vector of each; None while one is missing.

        Waits for missing ones as long as for one embedding; they are learned on for the questions after this one.
        """
        if len(set(examples)) > _MOST:
            return None
        if not self._knows(examples):
            if self._learning is None or self._learning.done():
                self._learning = asyncio.create_task(self._learn(examples))
            await asyncio.wait((self._learning,), timeout=self._endpoint.timeout_s)
        return self._known if self._knows(examples) else None

    async def close(self) -> None:
        """End the learning; before the session ends."""
        if self._learning is not None:
            self._learning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._learning

    def _knows(self, examples: Sequence[str]) -> bool:
        return all(example in self._known for example in examples)

    async def _learn(self, examples: Sequence[str]) -> None:
        """A few at once; ends at the first that the server did not give, and the next question goes on from there."""
        missing = [example for example in dict.fromkeys(examples) if example not in self._known]
        if len(self._known) + len(missing) > _MOST:
            self._known = {example: self._known[example] for example in examples if example in self._known}
        for start in range(0, len(missing), _AT_ONCE):
            some = missing[start : start + _AT_ONCE]
            found = await asyncio.gather(*(self._endpoint.embed(example) for example in some))
            self._known.update({text: vector for text, vector in zip(some, found, strict=True) if vector is not None})
            if None in found:
                return
