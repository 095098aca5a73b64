"""Make a request fit one backend: its context, the level's max_tokens, and memory that is short."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from gateway.backends.backend import Backend
from gateway.cutters import Cutters
from gateway.errors import Abandoned, Blame, UpstreamError
from gateway.health import effects
from gateway.prompt.ascii_only import in_ascii
from gateway.prompt.checkpoint import Checkpoint, nobody_leaves
from gateway.prompt.compress import can_compress, compress
from gateway.prompt.cost import cost_chars
from gateway.prompt.parts import WithParts
from gateway.prompt.tokens import Counter, WithTools
from gateway.prompt.truncate import fit
from gateway.record import Level, Reason
from gateway.turns import left_for_a_backend_s, longest_wait_s, too_late
from gateway.work import Loss, Work

LEAST_TOKENS = 16  # of an answer that is worth asking for
_BYTES_PER_CHAR = 4  # at most
_LOOP_CHARS = 4_096  # longer prompts are counted and cut off the event loop: cutting takes milliseconds per thousand


class Shaped(msgspec.Struct, frozen=True, kw_only=True):
    """What to send, and what it lost."""

    messages: list[Any]
    prompt_tokens: int  # by the backend's counter
    max_tokens: int
    loss: Loss


class Shaper:
    """Shapes short prompts at once and long ones in the threads of `cutters`."""

    def __init__(self, cutters: Cutters, *, default_max_tokens: int) -> None:
        self.cutters = cutters
        self._default_max_tokens = default_max_tokens

    async def shape(self, work: Work, backend: Backend, *, limit_tokens: int | None = None) -> Shaped:
        """Cut to the backend's context and to `limit_tokens`, if given.

        Raises ContextTooLong; QueueFull where too many long prompts wait already; UpstreamError where the deadline ends
        it, and where the backend's tokenizer would lose text that has no ASCII form.
        """
        shaping = partial(_shape, work, backend, self._default_max_tokens, limit_tokens)
        chars = cost_chars(work.request.messages) + _other_chars(work.request.body)
        limit = min(work.policy.truncation.limit_tokens, backend.config.context_tokens, limit_tokens or chars)
        may_read = backend.boundaries is not None and _BYTES_PER_CHAR * chars > limit  # no token is shorter than a byte
        if chars <= _LOOP_CHARS and not may_read:
            return shaping(nobody_leaves)
        try:
            return await self.cutters.run(
                shaping, wait_s=longest_wait_s(work), left_s=partial(left_for_a_backend_s, work)
            )
        except (TimeoutError, Abandoned):
            raise too_late() from None


def _other_chars(body: Mapping[str, Any]) -> int:
    """Of what else a tokenizer reads: the tools, and calls to them."""
    calls = [message["tool_calls"] for message in body["messages"] if message.get("tool_calls")]
    tools = body.get("tools")
    return len(msgspec.json.encode([calls, tools])) if calls or tools else 0


def _shape(
    work: Work, backend: Backend, default_max_tokens: int, limit_tokens: int | None, checkpoint: Checkpoint
) -> Shaped:
    asked = work.request.max_tokens or default_max_tokens
    wanted = asked if work.level is Level.HEALTHY else effects(work.level, max_tokens=asked).max_tokens or asked
    context = backend.config.context_tokens
    room = context - min(wanted, max(LEAST_TOKENS, context // 4))
    limit = min(work.policy.truncation.limit_tokens, room, limit_tokens or room)
    messages, tokens, loss = _fit(work, backend, limit, checkpoint)
    max_tokens = max(1, min(wanted, context - tokens))
    named = wanted if work.request.max_tokens is not None else max_tokens  # the default promises the client nothing
    loss.max_tokens = max(0, asked - wanted) + max(0, named - max_tokens)
    loss.tokenizer = backend.tokenizer is not None
    return Shaped(messages=messages, prompt_tokens=tokens, max_tokens=max_tokens, loss=loss)


def _readable(messages: list[Any], backend: Backend, loss: Loss) -> list[Any]:
    """The messages in a form that a tokenizer which loses text takes. Raises UpstreamError where there is none."""
    tokenizer = backend.tokenizer
    if tokenizer is None:
        return messages
    plain = in_ascii(messages, tokenizer.carried)
    if plain.lost:
        text = f"{backend.name}: its tokenizer loses part of the prompt"
        raise UpstreamError(text, reason=Reason.TOKENIZER_DEGRADED, blame=Blame.NEUTRAL, outcome="refused")
    loss.characters = plain.replaced
    return plain.messages


def _fit(work: Work, backend: Backend, limit: int, checkpoint: Checkpoint) -> tuple[list[Any], int, Loss]:
    loss = Loss()
    messages = _readable(work.request.messages, backend, loss)
    tools = work.request.body.get("tools")
    counter: Counter = WithTools(backend.counter, tools) if tools else backend.counter
    checkpoint()
    parts = backend.config.part_tokens
    if parts.of(messages):
        counter = WithParts(counter, parts)
    short = can_compress(messages)
    tokens = counter.count_messages(messages) if short else limit + 1  # `fit` counts a long one as far as it takes
    if tokens <= limit:
        return messages, tokens, loss
    if work.policy.truncation.compress and short:
        compressed = compress(messages, limit_tokens=limit, count=counter, checkpoint=checkpoint)
        loss.compressed_tokens = max(0, tokens - compressed.prompt_tokens)
        messages, tokens = list(compressed.messages), compressed.prompt_tokens
    if tokens > limit:
        cut = fit(messages, limit_tokens=limit, count=counter, boundaries=backend.boundaries, checkpoint=checkpoint)
        loss.prompt_tokens = cut.dropped_tokens
        messages, tokens = list(cut.messages), cut.prompt_tokens
    return messages, tokens, loss
