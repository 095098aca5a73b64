"""Under which key an answer may be kept and found: everything but the question's wording has to be the same."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from gateway.answers.embedding import embed
from gateway.answers.lexis import asking_of, split
from gateway.answers.placeholders import look_up
from gateway.answers.wording import Lexicon, depends_on_now
from gateway.policy import Language
from gateway.request import ChatRequest, text_of

# What does not change the answer's meaning, or is in the key in another form.
_LEFT_OUT = frozenset({"messages", "stream", "stream_options", "metadata", "model", "n", "store"})
_MORE_THAN_WORDS = ("logprobs", "top_logprobs", "audio")  # asked for with these, and never kept
_OF_ONE_REQUEST = frozenset(
    {"x-truefall-trial", "x-request-id", "x-correlation-id", "traceparent", "tracestate"}
)  # headers that tell one request from another, and change no answer
_MAX_QUESTION_CHARS = 2000
_NOBODY = hashlib.sha256().hexdigest()  # the tenant of all who send no header that tells tenants apart


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question as the cache sees it."""

    key: str
    text: str
    vector: dict[int, float]


def asked_of(
    request: ChatRequest,
    *,
    tenant: str,
    target: str,
    language: Language,
    lexicon: Lexicon,
    ignored_metadata: Sequence[str],
    forward: Mapping[str, str],
) -> Asked | None:
    """Key and vector of a request; None where none may be shared: tools, images, an answer that time changes.

    `forward` holds the client's headers that a backend is sent, which may change what it says.
    """
    question = split(request.messages).asked
    if request.has_tools or not question.strip() or len(question) > _MAX_QUESTION_CHARS:
        return None
    if depends_on_now(question) or not _is_plain_text(request.messages) or _wants_more_than_words(request.body):
        return None
    parts = [
        tenant,
        target,
        language,
        _encoded(_context(request.messages)),
        _encoded(_without(request.body.get("metadata"), ignored_metadata)),
        _encoded({key: value for key, value in request.body.items() if key not in _LEFT_OUT}),
        lexicon.wording(question).key(),
    ]
    told = {name: value for name, value in forward.items() if name not in _OF_ONE_REQUEST}
    if told:
        parts.append(_encoded(told))
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode()
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return Asked(key=digest.hexdigest(), text=question, vector=embed(question))


def tenant_of(headers: Iterable[tuple[bytes, bytes]], names: Sequence[str]) -> str:
    """Who asks, as a digest of the headers that tell tenants apart; the key itself is not kept."""
    wanted = _lowered(tuple(names))
    found = [(name, value) for name, value in headers if name in wanted]  # ASGI's names are in lower case
    if not found:
        return _NOBODY
    digest = hashlib.sha256()
    for name, value in sorted(found):
        digest.update(name + b"\0" + value + b"\n")
    return digest.hexdigest()


@lru_cache(maxsize=16)
def _lowered(names: tuple[str, ...]) -> frozenset[bytes]:
    return frozenset(name.lower().encode() for name in names)


def _context(messages: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """All that was said but the question, and by whom: system prompts, earlier turns, the last message's passage."""
    told = [[message["role"], _without_said(message), text_of(message)] for message in messages]
    last = asking_of(messages)
    if last is not None:
        told[last] = ["context", told[last][1], *split(messages[last : last + 1]).context]
    return told


def _without_said(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a message holds besides role and text, such as the name of who says it."""
    return {key: value for key, value in message.items() if key not in ("role", "content")}


def _wants_more_than_words(body: Mapping[str, Any]) -> bool:
    """Whether an answer has to hold what a kept one has not."""
    return any(body.get(name) for name in _MORE_THAN_WORDS)


def _is_plain_text(messages: Sequence[Mapping[str, Any]]) -> bool:
    for message in messages:
        content = message.get("content")
        if isinstance(content, list) and any(part.get("type") != "text" for part in content):
            return False
        if not isinstance(content, str | list) or message.get("tool_calls"):
            return False
    return True


def _without(metadata: Any, ignored: Sequence[str]) -> Any:
    """Metadata without the keys that do not matter, such as a trace id."""
    if not isinstance(metadata, Mapping) or not ignored:
        return metadata
    kept = {key: value for key, value in metadata.items() if key not in ignored}
    for path in ignored:
        first, _, rest = path.partition(".")
        if rest and isinstance(kept.get(first), Mapping) and look_up(kept[first], rest) is not None:
            kept[first] = _without(kept[first], [rest])
    return kept


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
