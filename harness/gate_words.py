"""How reasons of the gate name what they found (pure)."""

from collections.abc import Sequence

SHOWN = 3


def listed(names: Sequence[str], word: str = "") -> str:
    """` (a, b, c and 4 more)`, or nothing."""
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f" ({word + ': ' if word else ''}{', '.join(names[:SHOWN])}{more})"
