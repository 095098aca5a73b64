"""Errors of the Toxiproxy API: the text and the status that the client gets.

FaultError
└── ApiError       refused: `{"error": text, "status": status}`
"""

from faults.errors import FaultError


class ApiError(FaultError):
    """A refusal with its HTTP status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


def bad_body(reason: str) -> ApiError:
    return ApiError(f"bad request body: {reason}", 400)


def missing_field(field: str) -> ApiError:
    return ApiError(f"missing required field: {field}", 400)


def invalid_stream() -> ApiError:
    return ApiError("stream was invalid, can be either upstream or downstream", 400)


def invalid_type() -> ApiError:
    return ApiError("invalid toxic type", 400)


def proxy_not_found() -> ApiError:
    return ApiError("proxy not found", 404)


def toxic_not_found() -> ApiError:
    return ApiError("toxic not found", 404)


def proxy_exists() -> ApiError:
    return ApiError("proxy already exists", 409)


def toxic_exists() -> ApiError:
    return ApiError("toxic already exists", 409)


def cannot_listen(address: str, reason: str) -> ApiError:
    return ApiError(f"listen tcp {address}: {reason}", 500)
