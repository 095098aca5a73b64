"""How often each gatekeeper answers, how often it is right, and how long it takes; on questions it never saw."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gateway.answers.gatekeepers import OTHER, Classifier
from gateway.answers.rules import Asked, RuleBook
from harness.gatekeepers.labelled import LabelledQuestion

Level = Callable[[LabelledQuestion], str | None]  # the intent it names, None where it passes the question on


class Measured(NamedTuple):
    """Of one level, or of several one after the other."""

    name: str
    asked: int
    answered: int
    right: int
    p95_ms: float

    @property
    def coverage(self) -> float:
        """Share of the questions that it answered."""
        return self.answered / self.asked if self.asked else 0.0

    @property
    def accuracy(self) -> float | None:
        """Share of its answers that name the right intent; None when it gave none."""
        return self.right / self.answered if self.answered else None


def measure(name: str, level: Level, questions: Sequence[LabelledQuestion], *, now_s: Callable[[], float]) -> Measured:
    """Ask one after the other."""
    answered = right = 0
    took_s = []
    for question in questions:
        began_s = now_s()
        said = level(question)
        took_s.append(now_s() - began_s)
        answered += said is not None
        right += said == question.intent
    took_s.sort()
    p95_ms = took_s[min(len(took_s) - 1, int(0.95 * len(took_s)))] * 1000 if took_s else 0.0
    return Measured(name, len(questions), answered, right, p95_ms)


def by_rules(rules: RuleBook) -> Level:
    """L0; a rule's intent is its name up to the first dot."""

    def level(question: LabelledQuestion) -> str | None:
        ruled = rules.answer(Asked(text=question.question, language=question.lang, metadata={}))
        return ruled.rule.partition(".")[0] if ruled else None

    return level


def by_classifier(classifier: Classifier, *, min_confidence: float) -> Level:
    """L1; "other" and anything below `min_confidence` is passed on."""

    def level(question: LabelledQuestion) -> str | None:
        guess = classifier.guess(question.question)
        return guess.label if guess.confidence >= min_confidence and guess.label != OTHER else None

    return level


def best_guess(classifier: Classifier) -> Level:
    """L1 made to answer always: what it would be worth without the confidence mark."""
    return lambda question: classifier.guess(question.question).label


def one_after_the_other(levels: Sequence[Level]) -> Level:
    """The first level that answers."""

    def level(question: LabelledQuestion) -> str | None:
        return next((said for said in (one(question) for one in levels) if said is not None), None)

    return level
