"""Remember what a function made of a text, bounded by the characters that are held."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
SHORT_CHARS, LONG_CHARS = 400, 8_000
MOST_SHORT, MOST_LONG, MOST_HUGE = 1024, 32, 4  # texts remembered up to `SHORT_CHARS`, up to `LONG_CHARS`, beyond


def _kept(function: Callable[P, T], most: int) -> Callable[P, T]:
    return cast(Callable[P, T], lru_cache(maxsize=most)(function))


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, whose last results are kept: of few texts where they are long, of many where they are short.

    What counts are the characters of the arguments that are texts, or hold one as `plain`.
    """
    many, some, few = (_kept(function, most) for most in (MOST_SHORT, MOST_LONG, MOST_HUGE))

    @wraps(function)
    def recalled(*args: P.args, **named: P.kwargs) -> T:
        chars = sum([len(arg) if isinstance(arg, str) else len(getattr(arg, "plain", "")) for arg in args])
        tier = many if chars <= SHORT_CHARS else some if chars <= LONG_CHARS else few
        return tier(*args, **named)

    return recalled
