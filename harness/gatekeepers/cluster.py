"""Cluster questions into intents with HDBSCAN, over the vectors that the gateway itself will use."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gateway.answers.embedding import Vector, mean, similarity
from gateway.answers.intents import Intent, IntentFile, Response
from harness.errors import HarnessError
from harness.gatekeepers.labelled import LabelledQuestion

_EXAMPLES = 3
_INSIDE = 0.9  # share of a cluster's own questions that its radius takes in


class Clustered(NamedTuple):
    """The intents, and how well they agree with people's labels."""

    file: IntentFile
    noise: int  # questions in no cluster
    purity: float | None  # share of the clustered questions with their cluster's most common label; None: no cluster


def cluster(
    questions: Sequence[LabelledQuestion],
    vectors: Sequence[Vector],
    *,
    space: str,
    min_size: int,
    min_purity: float,
    responses: Mapping[str, tuple[Response, ...]],
    source: str,
) -> Clustered:
    """Raises HarnessError with fewer questions than one cluster needs."""
    import numpy as np
    from sklearn.cluster import HDBSCAN

    if len(questions) < max(2, min_size):
        raise HarnessError(f"{len(questions)} questions, at least {max(2, min_size)} are needed for one intent")
    apart = np.array([[max(0.0, 1 - similarity(first, second)) for second in vectors] for first in vectors])
    np.fill_diagonal(apart, 0.0)
    found = (
        HDBSCAN(
            min_cluster_size=min_size, min_samples=2, metric="precomputed", copy=True, cluster_selection_method="leaf"
        )
        .fit(apart)
        .labels_
    )
    members: dict[int, list[int]] = {}
    for index, label in enumerate(found):
        if label >= 0:
            members.setdefault(int(label), []).append(index)
    ordered = sorted(members.values(), key=lambda own: (-len(own), own))
    intents = tuple(
        _intent(number, [questions[at] for at in own], [vectors[at] for at in own], responses, min_purity)
        for number, own in enumerate(ordered, start=1)
    )
    inside = sum(len(own) for own in ordered)
    common = sum(Counter(questions[at].intent for at in own).most_common(1)[0][1] for own in ordered)
    return Clustered(
        file=IntentFile(truefall_intents=1, space=space, intents=intents, source=source),
        noise=len(questions) - inside,
        purity=common / inside if inside else None,
    )


def _intent(
    number: int,
    questions: Sequence[LabelledQuestion],
    vectors: Sequence[Vector],
    responses: Mapping[str, tuple[Response, ...]],
    min_purity: float,
) -> Intent:
    """A response by label is taken only where the label fits: in a mixed cluster it would answer other questions."""
    centre = mean(vectors)
    close = sorted((similarity(centre, vector) for vector in vectors), reverse=True)
    label, count = Counter(question.intent for question in questions).most_common(1)[0]
    by_label = responses.get(label, ()) if count >= min_purity * len(questions) else ()
    identity = f"INT-{number:02d}"
    return Intent(
        id=identity,
        centre={place: round(weight, 5) for place, weight in centre.items()},
        radius=round(close[min(len(close) - 1, int(_INSIDE * len(close)))], 4),
        label=label,
        size=len(questions),
        examples=tuple(question.question for question in questions[:_EXAMPLES]),
        responses=responses.get(identity) or by_label,
    )
