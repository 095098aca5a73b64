"""The header `Retry-After`: a number of seconds, or a date in any form that HTTP knows."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LEAST_S, _MOST_S = 1.0, 1e12


def wait_s(value: str | None, *, now_unix_s: Callable[[], float]) -> float | None:
    """Seconds to wait, 1 or more; None where the header is absent. What is past or cannot be read is one second."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        at_unix_s = _date_unix_s(value)
        seconds = _LEAST_S if at_unix_s is None else at_unix_s - now_unix_s()
    return min(_MOST_S, max(_LEAST_S, seconds)) if math.isfinite(seconds) else _LEAST_S


def _date_unix_s(value: str) -> float | None:
    """None where it is no date; one without a zone is UTC, as HTTP's old form is."""
    try:
        date: datetime = parsedate_to_datetime(value)
        return (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
