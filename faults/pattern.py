"""When the requests that a fault may touch are touched: in bursts, at certain places, more and more.

Written as terms with `;` between them: `burst 5` (draw once for five requests in a row), `only 0-9+20-29` (these
requests, counted from 0), `only 0-4/20` (five of every twenty: flapping), `ramp 100` (the rate grows from 0 to its full
size over the first hundred requests).
"""

import re
from dataclasses import dataclass

from faults.errors import BadFault

FORMS = "burst 5; only 0-9+20-29; only 0-4/20; ramp 100"
RANGE = re.compile(r"(\d+)(?:-(\d+))?")
MOST = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Over the number of the request since the fault was set, from 0."""

    burst: int = 1  # requests in a row that share one draw
    ranges: tuple[tuple[int, int], ...] = ()  # first and last; none: all
    period: int = 0  # the ranges come again after so many requests; 0: never
    ramp: int = 0  # requests until the rate has its full size

    def allows(self, number: int) -> bool:
        """Whether a request of this number may be touched."""
        place = number % self.period if self.period else number
        return not self.ranges or any(first <= place <= last for first, last in self.ranges)

    def draw_key(self, number: int, key: str) -> str:
        """What the draw of a request hangs on: its own key, or the burst that it is in."""
        return key if self.burst == 1 else f"burst-{number // self.burst}"

    def size(self, number: int) -> float:
        """The part of the full rate that a request of this number meets, in [0, 1]."""
        return min(1.0, (number + 1) / self.ramp) if self.ramp else 1.0


ALWAYS = Pattern()


def read_pattern(text: str) -> Pattern:
    """Raises BadFault naming the term and the forms there are.

    >>> read_pattern("only 0-4/20").period
    20
    """
    found: dict[str, int] = {}
    ranges: tuple[tuple[int, int], ...] = ()
    for term in filter(None, (part.strip() for part in text.split(";"))):
        word, _, rest = term.partition(" ")
        if word in found or word not in ("burst", "ramp", "only"):
            raise BadFault(f"when: {term!r} is not understood; write {FORMS}")
        if word == "only":
            places, _, repeat = rest.partition("/")
            ranges = tuple(_range(term, place) for place in places.split("+"))
            found["only"] = _count(term, repeat) if repeat else 0
        else:
            found[word] = _count(term, rest)
    period = found.get("only", 0)
    if period and any(last >= period for _, last in ranges):
        raise BadFault(f"when: {text!r}: a place lies behind the end of its period of {period}")
    return Pattern(burst=found.get("burst", 1), ramp=found.get("ramp", 0), ranges=ranges, period=period)


def _count(term: str, text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= MOST:
        raise BadFault(f"when: {term!r}: {text.strip()!r} must be a whole number from 1 to {MOST}; write {FORMS}")
    return int(text)


def _range(term: str, text: str) -> tuple[int, int]:
    found = RANGE.fullmatch(text.strip())
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if first > last:
        raise BadFault(f"when: {term!r}: {text.strip()!r} is not a range such as 0-9; write {FORMS}")
    return first, last
