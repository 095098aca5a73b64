"""Which cross-encoder is asked about an answer: one that could hardly change the verdict any more is not.

The small one is asked first, or, where it is open whether the answer abstains, the large one, which alone can tell.
After each, and before the first, the checks and what was told so far let expect what both would say together
(`risk.Guess`). Where no opinion within `REACH` of that moves the label, that one stands for both.
Each answer is decided by its own texts only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.fidelity.cross_encoder import LARGE, SMALL, Opinion, Told, together
from harness.fidelity.risk import Joined, likely

REACH = 2.25  # standard deviations: why so many, docs/design/verdict.md tells
NOBODY = ""


class Reads(Protocol):
    """What is needed of the cross-encoders."""

    def told(self, name: str, pairs: Sequence[tuple[str, str]]) -> Sequence[Told]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked about an answer, and what is known of it without."""

    pair: tuple[str, str]  # reference, candidate
    risk: float  # by the checks alone
    far: float  # how freely it is worded, 0 to 1
    least: float  # risk that no opinion can lower
    enough: float | None  # how likely the large one must find an abstention; None: it is none
    joined: Joined
    threshold: float  # risk from which an answer misleads


def ask(questions: Sequence[Question], reader: Reads) -> list[Opinion | None]:
    """One opinion per question, in order; None where a pair is longer than the large one reads."""
    told: list[dict[str, Told]] = [{} for _ in questions]
    while wanted := _by_encoder([_next(*one) for one in zip(questions, told, strict=True)]):
        for name, indices in wanted.items():
            for i, one in zip(indices, reader.told(name, [questions[i].pair for i in indices]), strict=True):
                told[i][name] = one
    return [_opinion(*one) for one in zip(questions, told, strict=True)]


def ask_both(pairs: Sequence[tuple[str, str]], reader: Reads) -> list[Opinion | None]:
    """One opinion per (reference, candidate), of both encoders whatever it costs; None as in `ask`."""
    return [together(*one) for one in zip(reader.told(SMALL, pairs), reader.told(LARGE, pairs), strict=True)]


def _by_encoder(names: Sequence[str]) -> dict[str, list[int]]:
    return {name: at for name in (SMALL, LARGE) if (at := [i for i, one in enumerate(names) if one == name])}


def _next(question: Question, told: Mapping[str, Told]) -> str:
    """The encoder to ask next, `NOBODY` where enough is known."""
    large = told.get(LARGE)
    if question.enough is not None and (large is None or large[1] >= question.enough):
        return NOBODY if LARGE in told else LARGE
    if (LARGE in told and large is None) or expected(question, told) is not None:
        return NOBODY
    return next((name for name in (SMALL, LARGE) if name not in told), NOBODY)


def _opinion(question: Question, told: Mapping[str, Told]) -> Opinion | None:
    large = told.get(LARGE)
    if SMALL in told and LARGE in told:
        return together(told[SMALL], large)
    guessed = expected(question, told)
    abstains = None if large is None else large[1]
    if guessed is None:  # it abstains, or the large one cannot read it
        return None if large is None else Opinion(large[0], abstains)
    return Opinion(guessed, abstains, read=bool(told))


def expected(question: Question, told: Mapping[str, Told]) -> float | None:
    """How likely both would find that it misleads; None where what they say may decide, or both have said it."""
    asked = [(name, one[0]) for name, one in told.items() if one is not None]
    if len(told) > 1 or len(asked) < len(told):
        return None
    name, doubt = asked[0] if asked else (NOBODY, 0.5)
    guess = question.joined.guesses.get(name)
    if guess is None:
        return None
    middle, reach = guess.log_odds(question.risk, doubt), REACH * guess.spread
    called = {_misleads(question, middle + far) for far in (-reach, reach)}
    return likely(middle) if len(called) == 1 else None


def _misleads(question: Question, odds: float) -> bool:
    return (
        question.joined.risk(question.risk, likely(odds), far=question.far, least=question.least) >= question.threshold
    )
