"""What a backend's own token counts can be held against, and whose doing a difference may be.

The gateway counts the text that it sent and got. It does not see what a picture or a sound takes, what a model thought
before its answer, what the engine cut off at a `stop` string, nor what a field of the engine's own adds to the prompt;
there it judges nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.errors import Blame

UNSEEN = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "audio")  # of an answer, besides its text
_CUTTING = frozenset({"stop"})  # of the answer, before the gateway sees it
_SAMPLING = frozenset({"presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias"})
_PLAIN = frozenset(
    {
        *("messages", "model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "seed", "user"),
        *("metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "parallel_tool_calls"),
        *("logprobs", "top_logprobs", "temperature", "top_p", "top_k", "min_p", "response_format"),
    }
)
_KNOWN = _PLAIN | _SAMPLING | _CUTTING
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_MOST_TEMPERATURE = 1.0  # above it a model writes words in pieces that no tokenizer would cut them into


def sees_prompt(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the gateway counts all that `messages`, sent for the request `body`, become at the backend."""
    return _knows(body) and all(_is_text(message) for message in messages)


def sees_answer(body: Mapping[str, Any]) -> bool:
    """Whether the text of an answer to the request `body` is all that was generated, but for what the model thought."""
    return _knows(body) and not any(body.get(field) for field in _CUTTING)


def blame_for(body: Mapping[str, Any]) -> Blame:
    """What a difference says about the backend: nothing where the client's own fields can cause one."""
    hot = (body.get("temperature") or 0) > _MOST_TEMPERATURE
    shaped = (body.get("response_format") or {}).get("type", "text") != "text"
    own = hot or shaped or any(body.get(field) for field in _SAMPLING)
    return Blame.NEUTRAL if own else Blame.UNLESS_ASKED


def holds_unseen(message: Mapping[str, Any]) -> bool:
    """Whether an answer's message holds more than its text: what the model thought, or sound."""
    return any(message.get(field) for field in UNSEEN)


def reasoning_tokens(usage: Mapping[str, Any]) -> int:
    """How many of the answer's tokens were thought and not said, as far as `usage` tells; else 0."""
    details = usage.get("completion_tokens_details")
    for where in (details, usage):
        told = where.get("reasoning_tokens") if isinstance(where, Mapping) else None
        if isinstance(told, int) and not isinstance(told, bool) and told > 0:
            return told
    return 0


def _knows(body: Mapping[str, Any]) -> bool:
    return all(field in _KNOWN for field, value in body.items() if value not in (None, [], {}, False))


def _is_text(message: Mapping[str, Any]) -> bool:
    if any(value for field, value in message.items() if field not in ("role", "content")):
        return False
    content = message.get("content")
    return isinstance(content, str) or all(part.get("type") in _TEXT_PARTS for part in content or ())
