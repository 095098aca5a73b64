"""An answer: what the pipeline knows of it, whichever path gave it."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import msgspec


class Completion(msgspec.Struct, kw_only=True):
    """One whole answer. `body` is the OpenAI object to send on; token counts are None where nobody said."""

    text: str
    finish_reason: str | None
    calls_tools: bool = False
    called: tuple[str, ...] = ()  # the tools' names
    refusal: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int = 0  # of the completion's: thought, not said
    holds_unseen: bool = False  # more than its text: what the model thought, or sound
    body: dict[str, Any] = msgspec.field(default_factory=dict)
    bad_lines: int = 0  # lines of the stream that were not readable
    own_record: dict[str, Any] | None = None  # what a backend that is a gateway itself says it degraded

    @property
    def said_tokens(self) -> int | None:
        """The tokens of the answer without those that were only thought; None where nobody said."""
        return None if self.completion_tokens is None else self.completion_tokens - self.reasoning_tokens


def new_id() -> str:
    return f"chatcmpl-{uuid4().hex}"


def now_unix_s() -> int:
    """The wall clock, for what others can read or name: `created`, the age of a kept answer, a date to come back."""
    return int(datetime.now(tz=UTC).timestamp())


def prepared(text: str, *, path: str) -> Completion:
    """A whole answer that no model gave."""
    body = {
        "id": new_id(),
        "object": "chat.completion",
        "created": now_unix_s(),
        "model": path,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": None, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
    return Completion(text=text, finish_reason="stop", body=body)


def chunk(completion_id: str, model: str, *, delta: dict[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
    """One chunk of a stream; `delta` None makes a chunk without choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    return {
        "id": completion_id,
        "object": "chat.completion.chunk",
        "created": now_unix_s(),
        "model": model,
        "choices": choices,
    }
