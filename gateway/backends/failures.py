"""What a backend's refusal means: its status and text become one UpstreamError, or the client's own BadRequest.

Whose fault a status is, where the backend is asked by a client's request (3xx, 5xx and every 4xx):

- The client's, who is told and nobody else is asked: 400 and 422 (what it wrote), 413, 414 and 431 (how much of it, in
  the body, the address or the headers passed on), 415 (what a part of a message holds). Also 404 about another field
  than `model`, and 401, 402 and 403 where its own key was passed on.
- Anybody's, so that no breaker is moved and the next path is asked: 403 and 451 (a filter of texts answers so as well
  as a wrong key or country), 406, 412 and 416 (the client's headers, where they are passed on), 409 and 423 (a name
  that the client chose is taken or locked), 501 (the engine lacks what was asked for), and every 4xx not named here.
- The backend's: 401, 402 and 407 (the key and account are the gateway's), 404, 405, 410 and 421 (so are address, method
  and model), 411, 417, 425, 426 and 428 (so is the way of asking), 408 (the whole request was sent at once; counts as
  late), 424 (what engines answer for a generation that failed), 3xx and 5xx.

A 400 or 422 that does not know the field in which the gateway itself sends the answer's limit is the gateway's: no
client wrote it.

A 5xx, or an error inside a 200, that calls itself the client's fault by type or code moves no breaker either.
"""

import re
from collections.abc import Callable

from gateway.backends.error_body import ErrorBody, error_body, tells
from gateway.backends.retry_after import wait_s
from gateway.errors import BadRequest, Blame, FieldRefused, RefusedByBackend, UpstreamError
from gateway.record import Reason

# The wordings of OpenAI, vLLM, SGLang, TGI and llama.cpp; other 400s must not match.
_CONTEXT = re.compile(
    r"(?:maximum|available) (?:context|sequence|model) (?:length|size|window)"
    r"|longer than the (?:model'?s? )?(?:context|maximum)"
    r"|exceeds? (?:the )?(?:\w+[ -]){0,3}(?:context|max_model_len)"
    r"|(?:prompt|input) (?:is )?too long|requested token count exceeds"
    r"|`?inputs`? must have less than|`?inputs`? tokens \+ `?max_new_tokens`?",
    re.IGNORECASE,
)
_CONTEXT_KINDS = re.compile(r"context_length_exceeded|exceed_context_size", re.IGNORECASE)
_TEXT_TOO_LONG, _A_MESSAGE = "string_above_max_length", re.compile(r"messages\[\d+\]\.content")
_TOO_LARGE = re.compile(r"request too large for", re.IGNORECASE)  # OpenAI's 429 for one that would never fit
_MEMORY = re.compile(
    r"out of memory|outofmemory|can't allocate memory|cannot allocate memory|defaultcpuallocator"
    r"|cublas_status_alloc_failed|failed to allocate|std::bad_alloc",
    re.IGNORECASE,
)
_MEMORY_KINDS = re.compile(r"out_?of_?memory|bad_alloc|alloc_failed", re.IGNORECASE)
_KERNEL = re.compile(
    r"cublas_status_(?!alloc)|cudnn_status|flash[_ -]?att\w*|scaled_dot_product|no kernel image|cuda error"
    r"|attention kernel|triton\.\w*error",
    re.IGNORECASE,
)
TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")  # of which the gateway sends one; a client's own go no further
_UNKNOWN_FIELD_KINDS = re.compile(r"(?:unsupported|unknown|unrecognized)_(?:parameter|field|argument)|extra_forbidden")
_UNKNOWN_FIELD = re.compile(
    r"(?:unsupported|unknown|unrecogni[sz]ed) (?:request )?(?:parameter|argument|field)\W{1,12}(?:supplied\W{1,4})?"
    r"(?P<field>max_(?:completion_)?tokens)\b",
    re.IGNORECASE,
)
_QUOTED_CHARS = 300
_BAD_REQUEST, _SERVER_ERROR = 400, 500
_NOT_FOUND, _TIMED_OUT, _TOO_MANY, _FAILED_INSIDE, _UNAVAILABLE = 404, 408, 429, 424, 503
_CLIENTS = frozenset({400, 413, 414, 415, 422, 431})
CLIENTS_KEY = frozenset({401, 402, 403})  # where a key of its own was passed on
_BACKENDS = frozenset({401, 402, _NOT_FOUND, 405, 407, _TIMED_OUT, 410, 411, 417, 421, _FAILED_INSIDE, 425, 426, 428})
_NOT_THERE = 501
_PASSING = frozenset({409, 423, _FAILED_INSIDE, 425})  # of the 4xx that are told apart here: soon it may be otherwise
_UNAUTHORIZED, _NO_KEY = 401, ": it refuses the gateway's key, or wants one: set api_key_env"
_CLIENT_KINDS = frozenset(
    {
        *(str(status) for status in _CLIENTS),
        *("badrequesterror", "invalid_request_error", "not_supported_error", "unprocessableentityerror"),
    }
)  # of errors that came with another status


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
    sent: bytes = b"",
    own_key: bool = False,
) -> UpstreamError | BadRequest:
    """What an answer other than 200 of backend `name` to the request `sent` means.

    `retry_after`: its header; a date there is held against `now_unix_s`. `masked` takes keys out of what is quoted.
    `own_key`: the client's own key was passed on.
    """
    error = error_body(body)
    if status in _CLIENTS or _is_about_a_field(status, error):
        return _clients_fault(status, error, name=name, masked=masked, sent=sent)
    if own_key and status in CLIENTS_KEY:
        return RefusedByBackend(f"{name} refused the key: {_quoted(error, masked)}", field=None, status=status)
    retry_after_s = wait_s(retry_after, now_unix_s=now_unix_s)
    if status == _TOO_MANY and tells(_TOO_LARGE, error, sent=sent):
        return _too_long(name)
    if status == _TOO_MANY or (status == _UNAVAILABLE and retry_after_s is not None):
        return _backpressure(status, retry_after_s, name=name, own_key=own_key)
    if status == _TIMED_OUT:
        text = f"{name} answered {status}"
        return UpstreamError(text, reason=Reason.TIMEOUT, blame=Blame.TIMEOUT, outcome="indeterminate")
    return _failure(status, error, name=name, sent=sent)


def failure_inside(error: ErrorBody, what: str, *, sent: bytes) -> UpstreamError:
    """What an error means that came where a status of 200 had promised an answer."""
    return _told(what, error, sent=sent, neutral=False, may_blame=True, lasts=False)


def error_reason(error: ErrorBody, *, sent: bytes) -> Reason:
    """The reason behind an error; words that the client wrote in `sent` prove nothing."""
    if _MEMORY_KINDS.search(error.kinds) or tells(_MEMORY, error, sent=sent):
        return Reason.OUT_OF_MEMORY
    if tells(_KERNEL, error, sent=sent):
        return Reason.KERNEL_FAILURE
    return Reason.CONTEXT_TOO_LONG if _overflows(error, sent=sent) else Reason.BACKEND_ERROR


def _overflows(error: ErrorBody, *, sent: bytes) -> bool:
    if _CONTEXT_KINDS.search(error.kinds):
        return True
    if _TEXT_TOO_LONG in error.kinds:
        return _A_MESSAGE.match(error.param) is not None  # else a field of the client's own
    return tells(_CONTEXT, error, sent=sent)


def _is_about_a_field(status: int, error: ErrorBody) -> bool:
    """A file, a tool or an earlier answer that the client named is not there."""
    return status == _NOT_FOUND and error.param not in ("", "model")


def _failure(status: int, error: ErrorBody, *, name: str, sent: bytes) -> UpstreamError:
    neutral = status == _NOT_THERE or (_BAD_REQUEST <= status < _SERVER_ERROR and status not in _BACKENDS)
    if neutral:
        error = error._replace(message="")  # it may be the client's words
    may_blame = status >= _SERVER_ERROR  # of a 4xx the status says whose it is, whatever type it gives itself
    what = f"{name} answered {status}" + (_NO_KEY if status == _UNAUTHORIZED else "")
    refuses = status == _NOT_THERE or _BAD_REQUEST <= status < _SERVER_ERROR
    lasts = refuses and status not in _PASSING
    return _told(what, error, sent=sent, neutral=neutral, may_blame=may_blame, lasts=lasts)


def _told(what: str, error: ErrorBody, *, sent: bytes, neutral: bool, may_blame: bool, lasts: bool) -> UpstreamError:
    """`may_blame`: what calls itself the client's fault is believed. `lasts`: unless memory or a kernel failed."""
    reason = error_reason(error, sent=sent)
    kinds = error.kinds.casefold().split()
    calls_itself_clients = may_blame and reason is Reason.BACKEND_ERROR and not _CLIENT_KINDS.isdisjoint(kinds)
    neutral = neutral or calls_itself_clients or reason is Reason.CONTEXT_TOO_LONG
    lasts = calls_itself_clients or (lasts and reason is Reason.BACKEND_ERROR)
    return UpstreamError(what, reason=reason, blame=Blame.NEUTRAL if neutral else Blame.FAILURE, lasts=lasts)


def _backpressure(status: int, retry_after_s: float | None, *, name: str, own_key: bool) -> UpstreamError:
    """Of a key that is the client's own, the limit is that client's, and the backend is there for the others."""
    return UpstreamError(
        f"{name} answered {status}",
        reason=Reason.BACKPRESSURE,
        blame=Blame.NEUTRAL if own_key and status == _TOO_MANY else Blame.BACKPRESSURE,
        outcome="refused",
        retry_after_s=retry_after_s,
    )


def _too_long(name: str) -> UpstreamError:
    message = f"{name} says that the prompt is too long for it"
    return UpstreamError(message, reason=Reason.CONTEXT_TOO_LONG, blame=Blame.NEUTRAL, outcome="refused")


def _clients_fault(
    status: int, error: ErrorBody, *, name: str, masked: Callable[[str], str], sent: bytes
) -> UpstreamError | BadRequest:
    """Memory that ran out is the backend's, but here its type or code has to say so: a text may be the client's."""
    if _overflows(error, sent=sent):
        return _too_long(name)
    if _MEMORY_KINDS.search(error.kinds):
        return UpstreamError(f"{name} answered {status}: out of memory", reason=Reason.OUT_OF_MEMORY)
    if (unknown := _unknown_field(error, sent=sent)) is not None:
        return _field_refused(name, unknown)
    return RefusedByBackend(f"{name} refused the request: {_quoted(error, masked)}", field=None, status=400)


def _unknown_field(error: ErrorBody, *, sent: bytes) -> str | None:
    """Which of TOKENS_FIELDS the backend does not know."""
    if error.param in TOKENS_FIELDS and _UNKNOWN_FIELD_KINDS.search(error.kinds):
        return error.param
    found = _UNKNOWN_FIELD.search(error.message) if tells(_UNKNOWN_FIELD, error, sent=sent) else None
    return found["field"].lower() if found else None


def _field_refused(name: str, unknown: str) -> FieldRefused:
    other = next(field for field in TOKENS_FIELDS if field != unknown)
    text = f'{name} does not know {unknown}; set max_tokens_field = "{other}" for this backend in the config'
    return FieldRefused(text, reason=Reason.BACKEND_ERROR, lasts=True)


def _quoted(error: ErrorBody, masked: Callable[[str], str]) -> str:
    """The message of an error, shortened; markup is not passed on."""
    text = error.message
    if not error.is_json and "<" in text:
        return "bad request"
    return masked(text).strip()[:_QUOTED_CHARS] or "bad request"
