"""Order numbers, codes, addresses of mail and web, telephone numbers; and pieces of code, by their signs."""

import json
from collections.abc import Iterator

from harness.fidelity.case import Finding
from harness.fidelity.checks.numbers import compare
from harness.fidelity.reading.code import pieces
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.pair import Pair

NAME = "identifiers"
KINDS = frozenset({Kind.IDENTIFIER})


def check(both: Pair) -> list[Finding]:
    return [*compare(both, KINDS, NAME), *_other_signs(both)]


def _other_signs(both: Pair) -> list[Finding]:
    """`x[:3]` for `x[3:]`, a > b for a < b: the same names and numbers, and other signs between them."""
    theirs = {piece.words: piece for piece in pieces(_without_json(both.case.candidate))}
    if not theirs:
        return []
    told = list(pieces(_without_json(both.case.reference)))
    ours = {(piece.words, piece.signs) for piece in told}
    for piece in told:
        other = theirs.get(piece.words)
        if other is not None and (other.words, other.signs) not in ours:
            reason = f"“{other.text}” stands where the reference says “{piece.text}”"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _without_json(text: str) -> str:
    """The texts in a JSON object or array, one a line: its brackets are no signs. Any other text as it is."""
    if text.strip()[:1] not in ("{", "["):
        return text
    try:
        return "\n".join(_texts(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
