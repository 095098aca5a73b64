"""Phrases in a text, whole words only: linear in the text, without regular expressions from outside."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_TOKEN = re.compile(r"[a-z0-9]+(?:[-'.:/_@][a-z0-9]+)*|[\u3400-\u9fff\uf900-\ufaff]|\*")
_MOST = 3  # words that one `*` stands for


def folded_tokens(text: str) -> list[str]:
    """Latin words and numbers whole, Chinese by character; case and width do not matter."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    return [token for token in _TOKEN.findall(plain) if token != "*"]


def matches(phrase: str, tokens: Sequence[str]) -> bool:
    """Whether the words of `phrase` stand in `tokens` one after the other; `*` stands for one to three words."""
    pattern = _pattern(phrase)
    first = next((token for token in pattern if token != "*"), None)
    if first is None or first not in tokens:
        return False
    return any(_at(pattern, tokens, at) for at in range(len(tokens)))


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(unicodedata.normalize("NFKC", phrase).replace("’", "'").casefold()))


def _at(pattern: Sequence[str], tokens: Sequence[str], at: int) -> bool:
    """Whether `pattern` matches from `at`: the places it may have reached, step by step."""
    places = {at}
    for wanted in pattern:
        if wanted == "*":
            places = {place + step for place in places for step in range(1, _MOST + 1) if place + step <= len(tokens)}
        else:
            places = {place + 1 for place in places if place < len(tokens) and tokens[place] == wanted}
        if not places:
            return False
    return True
