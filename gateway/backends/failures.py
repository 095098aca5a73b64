"""What a backend's refusal means: its status and text become one UpstreamError, or the client's own BadRequest."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from gateway.backends.retry_after import wait_s
from gateway.errors import BadRequest, Blame, RefusedByBackend, UpstreamError
from gateway.record import Reason

# The wordings of OpenAI, vLLM, SGLang, TGI and llama.cpp; other 400s must not match.
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length"
    r"|(?:maximum|available) (?:context|sequence|model) (?:length|size|window)"
    r"|longer than the (?:model'?s? )?(?:context|maximum)"
    r"|exceeds? (?:the )?(?:\w+[ -]){0,3}(?:context|max_model_len)"
    r"|(?:prompt|input) (?:is )?too long|requested token count exceeds"
    r"|`?inputs`? must have less than|`?inputs`? tokens \+ `?max_new_tokens`?",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"out of memory|outofmemory|can't allocate memory|cannot allocate memory|defaultcpuallocator"
    r"|cublas_status_alloc_failed|failed to allocate|std::bad_alloc",
    re.IGNORECASE,
)
_KERNEL = re.compile(
    r"cublas_status_(?!alloc)|cudnn_status|flash[_ -]?att\w*|scaled_dot_product|no kernel image|cuda error"
    r"|attention kernel|triton\.\w*error",
    re.IGNORECASE,
)
_QUOTED_CHARS = 300
_TOO_MANY, _UNAVAILABLE = 429, 503
_CLIENTS_FAULT = (400, 413, 422)


def is_context_overflow(text: str) -> bool:
    """Whether an error text says that the prompt is too long for the model."""
    return _CONTEXT.search(text) is not None


def is_out_of_memory(text: str) -> bool:
    """Whether an error text says that memory ran out."""
    return _MEMORY.search(text) is not None


def is_kernel_failure(text: str) -> bool:
    """Whether an error text says that a kernel, such as attention's, failed, and not for want of memory."""
    return _KERNEL.search(text) is not None and not is_out_of_memory(text)


def failure_of(
    status: int,
    body: bytes,
    retry_after: str | None,
    *,
    name: str,
    now_unix_s: Callable[[], float],
    masked: Callable[[str], str] = str,
) -> UpstreamError | BadRequest:
    """What an answer other than 200 of backend `name` means.

    `retry_after`: its header; a date there is held against `now_unix_s`. `masked` takes keys out of what is quoted.
    """
    text = body[:4096].decode(errors="replace")
    retry_after_s = wait_s(retry_after, now_unix_s=now_unix_s)
    if status in _CLIENTS_FAULT:
        return _clients_fault(status, text, name=name, masked=masked)
    if status == _TOO_MANY or (status == _UNAVAILABLE and retry_after_s is not None):
        return UpstreamError(
            f"{name} answered {status}",
            reason=Reason.BACKPRESSURE,
            blame=Blame.BACKPRESSURE,
            outcome="refused",
            retry_after_s=retry_after_s or 1.0,
        )
    return UpstreamError(f"{name} answered {status}", reason=error_reason(text))


def error_reason(text: str) -> Reason:
    """The reason behind an error text that is the backend's fault."""
    if is_out_of_memory(text):
        return Reason.OUT_OF_MEMORY
    if is_kernel_failure(text):
        return Reason.KERNEL_FAILURE
    return Reason.CONTEXT_TOO_LONG if is_context_overflow(text) else Reason.BACKEND_ERROR


def _clients_fault(status: int, text: str, *, name: str, masked: Callable[[str], str]) -> UpstreamError | BadRequest:
    if is_context_overflow(text):
        message = f"{name} says that the prompt is too long for it"
        return UpstreamError(message, reason=Reason.CONTEXT_TOO_LONG, blame=Blame.NEUTRAL, outcome="refused")
    if is_out_of_memory(text):
        return UpstreamError(f"{name} answered {status}: out of memory", reason=Reason.OUT_OF_MEMORY)
    return RefusedByBackend(f"{name} refused the request: {_said(text, masked)}", field=None, status=400)


def _said(text: str, masked: Callable[[str], str]) -> str:
    """The message in an error body, shortened; markup is not passed on."""
    try:
        body: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return "bad request" if "<" in text else masked(text).strip()[:_QUOTED_CHARS] or "bad request"
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return masked(error if isinstance(error, str) else msgspec.json.encode(error).decode())[:_QUOTED_CHARS]
