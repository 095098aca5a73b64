"""What a number in a toxic's attributes may be."""

from faults.errors import BadFault

GREATEST = 2**63 - 1  # as in any client that knows 64-bit integers


def at_least(name: str, value: object, low: int, unit: str) -> None:
    """Raise BadFault unless `value` is a whole number of at least `low` and within 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadFault(f"{name} must be a whole number of {unit}, got {value!r}")
    if not low <= value <= GREATEST:
        raise BadFault(f"{name} must be from {low} to {GREATEST} {unit}, got {value}")
