"""Quote the caller's own text: the sentences that answer the question best, verbatim, or nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.answers.lexis import identifiers, is_negated, overlap, split, weights, words
from gateway.policy import Extract, Language

_MAX_SENTENCES = 2000  # of context that are looked at
_MAX_CHARS = 600  # of one sentence that is worth quoting
_NEIGHBOUR_SHARE = 0.5  # a neighbour with this share of the best score is quoted too


def extract(messages: Sequence[Mapping[str, Any]], *, language: Language, marks: Extract) -> str | None:
    """The quotation with its preface; None when no sentence answers clearly enough."""
    asked, context = split(messages)
    context = context[-_MAX_SENTENCES:]
    chosen = choose(asked, context, marks=marks)
    if not chosen:
        return None
    preface = marks.preface_zh if language == "zh" else marks.preface_en
    quoted = [context[index] for index in chosen]
    return f"{preface}“{''.join(quoted)}”" if language == "zh" else f'{preface} "{" ".join(quoted)}"'


def choose(asked: str, context: Sequence[str], *, marks: Extract) -> list[int]:
    """Indices of the sentences to quote, in order; empty where the text does not answer clearly.

    An identifier in the question must be in what is quoted. A rival sentence that is not quoted, close to the best
    and of other polarity, means that quoting one side would mislead.
    """
    named = identifiers(asked)
    weight = weights(context)
    scores = _scores(asked, context, named, weight)
    ranked = sorted(range(len(context)), key=lambda index: (-scores[index], index))
    if not ranked or scores[ranked[0]] < marks.min_score:
        return []
    best = ranked[0]
    chosen = [best]
    for index in ranked[1:]:
        if len(chosen) == marks.max_sentences:
            break
        if scores[index] >= _NEIGHBOUR_SHARE * scores[best]:
            chosen.append(index)
    rivals = (index for index in ranked if index not in chosen and scores[index] >= marks.tie_share * scores[best])
    if any(is_negated(context[index]) != is_negated(context[best]) for index in rivals):
        return []
    return sorted(chosen)


def _scores(asked: str, context: Sequence[str], named: set[str], weight: Mapping[str, float]) -> list[float]:
    wanted = words(asked)
    scores = []
    for sentence in context:
        usable = len(sentence) <= _MAX_CHARS and not sentence.endswith(("?", "？")) and named <= identifiers(sentence)
        scores.append(overlap(wanted, words(sentence), weight) if usable else 0.0)
    return scores
