"""Constraints of a prompt, and which of them say nothing that another does not say already."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.prompt.anchors import negation_scopes

LEAST_OVERLAP = 0.92  # share of common words from which one constraint may stand for another
MOST_CONSTRAINTS = 400  # each is compared with each

_MODAL = re.compile(
    r"\b(?:must|should|shall|may|always|never|only|at most|at least|no more than|no fewer than|not exceed|up to"
    r"|do not|don['’]t|use|keep|write|answer|reply|respond|avoid|include|limit|ensure)\b"
    r"|必须|应当?|不得|不要|只能|最多|至多|至少|不超过|不少于|务必|禁止|请|使用|避免",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?P<most>at most|no more than|not exceed|up to|a maximum of|maximum|最多|至多|不超过|不多于)"
    r"\s*(?P<n>\d+)\s*(?P<unit>[a-z]+|[一-鿿])"
    r"|(?P<least>at least|no fewer than|no less than|a minimum of|minimum|至少|不少于|最少)"
    r"\s*(?P<m>\d+)\s*(?P<unit2>[a-z]+|[一-鿿])",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z0-9][\w.'’-]*\w|[A-Za-z0-9]|[一-鿿]")
_UNITS = "word words sentence sentences line lines character characters token tokens 字 句 行 词"
_FILLERS = """
answer answers reply respond response responses use write keep output your the a an in to with please it limit within be
is must should 请 用 回 答 使 的 在 内 以 必 须 应
"""
_ANSWER_UNITS = frozenset(_UNITS.split())
_ANSWER_WORDS = frozenset(_FILLERS.split())


@dataclass(frozen=True, slots=True)
class Constraint:
    """`side`: "most", "least" or None; `words`: in order, the bound itself left out."""

    side: str | None
    amount: int
    unit: str
    words: tuple[str, ...]
    negations: int


def read(sentence: str) -> Constraint | None:
    """The constraint that a sentence states; None for a sentence that states none."""
    if not _MODAL.search(sentence):
        return None
    bound = _BOUND.search(sentence)
    if bound is None:
        return Constraint(None, 0, "", _words(sentence), len(negation_scopes(sentence)))
    rest = sentence[: bound.start()] + " " + sentence[bound.end() :]
    side = "most" if bound["most"] else "least"
    unit = (bound["unit"] or bound["unit2"]).lower()
    return Constraint(side, int(bound["n"] or bound["m"]), unit, _words(rest), len(negation_scopes(rest)))


def implies(one: Constraint, other: Constraint) -> bool:
    """Whether whoever obeys `one` obeys `other` too, as far as the words can tell; never across a negation."""
    if one.negations != other.negations or one.side != other.side or one.unit != other.unit:
        return False
    if one.side is not None:
        stricter = one.amount <= other.amount if one.side == "most" else one.amount >= other.amount
        return stricter and _topic(one) == _topic(other)
    if not other.words or not _is_subsequence(other.words, one.words):
        return False
    return len(other.words) / len(one.words) > LEAST_OVERLAP


def implied(sentences: Sequence[str]) -> set[int]:
    """Indexes of the constraints that another one implies; of two equal ones the later goes."""
    known = [(index, constraint) for index, text in enumerate(sentences) if (constraint := read(text)) is not None]
    if len(known) > MOST_CONSTRAINTS:
        return set()
    gone: set[int] = set()
    for index, constraint in known:
        for other_index, other in known:
            if index == other_index or other_index in gone or not implies(other, constraint):
                continue
            if not implies(constraint, other) or other_index < index:
                gone.add(index)
                break
    return gone


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _TOKEN.findall(text))


def _topic(constraint: Constraint) -> tuple[str, ...]:
    """What the bound is about; a bound on the answer's own length is about the answer, however it is put."""
    if constraint.unit not in _ANSWER_UNITS:
        return constraint.words
    return tuple(word for word in constraint.words if word not in _ANSWER_WORDS)


def _is_subsequence(short: Sequence[str], long: Sequence[str]) -> bool:
    rest = iter(long)
    return all(word in rest for word in short)
