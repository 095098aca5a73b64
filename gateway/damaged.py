"""What reading a damaged file comes to, whatever the damage: no text, numbers without end, endless nesting."""

import msgspec

_SHOWN_CHARS = 200
DAMAGED = (msgspec.DecodeError, ValueError, RecursionError)  # not UTF-8 and a number of 5,000 digits are ValueErrors


def why(error: Exception) -> str:
    """What is wrong with it, in one line."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    return " ".join(str(error).split())[:_SHOWN_CHARS]
