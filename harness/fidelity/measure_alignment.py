"""Whether the cosine of a changed word tells lies from truths: `python -m harness.fidelity.measure_alignment`.

Rows of `data/dev.jsonl` whose only edit is one word for one word (in Chinese: one to four characters for as many at
most). AUROC of the cosine of the two words in their places, truths above lies, with the packaged encoder at its last
layer; and beside it what the word lists say: of the pairs they call opposites, how many are lies (precision), and of
the lies, how many they call so (recall). A minute on two cores. Figures: docs/design/verdict.md.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.case import Label
from harness.fidelity.encoder import Encoded, unit_rows
from harness.fidelity.labelled import DATA, Labelled, load_labelled
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.scorer import Scorer

LIES, SEED = 200, 0  # lies of each language whose cosine is looked at
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]{1,4}")


class Edit(NamedTuple):
    """One word for one word, as spans of the two texts."""

    row: Labelled
    before: tuple[int, int]
    after: tuple[int, int]


def edits(rows: list[Labelled]) -> Iterator[Edit]:
    for row in rows:
        one, other = row.case.reference, row.case.candidate
        whole = re.compile(r"[\u4e00-\u9fff]|[^\u4e00-\u9fff]" if row.case.lang == "zh" else r"\w+|\W")
        left, right = ([m.span() for m in whole.finditer(text)] for text in (one, other))
        first = 0
        while first < min(len(left), len(right)) and part(one, left[first]) == part(other, right[first]):
            first += 1
        last = 0
        while last < min(len(left), len(right)) - first and part(one, left[~last]) == part(other, right[~last]):
            last += 1
        if first + last >= min(len(left), len(right)):
            continue  # nothing but words more
        spans = [(parts[first][0], parts[~last][1]) for parts in (left, right)]
        word = _IDEOGRAPHS if row.case.lang == "zh" else _WORD
        if all(word.fullmatch(part(text, span)) for text, span in zip((one, other), spans, strict=True)):
            yield Edit(row, *spans)


def part(text: str, span: tuple[int, int]) -> str:
    return text[span[0] : span[1]]


def vector(text: Encoded, span: tuple[int, int]) -> NDArray[np.float32]:
    """The mean token of a word, at unit length."""
    inside = (text.spans[:, 0] < span[1]) & (text.spans[:, 1] > span[0]) & text.content
    word = text.tokens[inside] if inside.any() else np.zeros_like(text.tokens[:1])
    return np.asarray(unit_rows(word.mean(axis=0)[None, :])[0])


def opposed(edit: Edit) -> bool:
    words = lexicon(edit.row.case.lang or "en")
    one = part(edit.row.case.reference, edit.before).casefold()
    other = part(edit.row.case.candidate, edit.after).casefold()
    return any(words.opposed(a, b) for a in (one, words.lemma(one)) for b in (other, words.lemma(other)))


def main() -> None:
    from sklearn.metrics import roc_auc_score

    scorer, rng = Scorer(), Random(SEED)
    rows = [row for row in load_labelled(str(DATA / "dev.jsonl")) if row.label is not Label.ABSTAINED]
    for lang in ("en", "zh"):
        found = list(edits([row for row in rows if row.case.lang == lang]))
        lies = [e for e in found if e.row.label is Label.MISLEADING]
        truths = [e for e in found if e.row.label is Label.FAITHFUL]
        said = [e for e in found if opposed(e)]
        right = len([e for e in said if e.row.label is Label.MISLEADING])
        drawn = rng.sample(lies, min(LIES, len(lies)))
        true, false = cosines(scorer, truths), cosines(scorer, drawn)
        opposites = [cos for e, cos in zip(drawn, false, strict=True) if opposed(e)]
        auroc = roc_auc_score([1] * len(true) + [0] * len(false), [*true, *false])
        print(
            f"{lang}: {len(lies)} lies, {len(truths)} truths; cosine of {len(drawn)} of them: AUROC {auroc:.3f}, "
            f"medians: truths {np.median(true):.2f}, lies {np.median(false):.2f}, opposite {np.median(opposites):.2f}; "
            f"{len(said)} opposites by the word lists: precision {right / len(said):.3f}, "
            f"recall {right / len(lies):.3f}"
        )


def cosines(scorer: Scorer, found: Sequence[Edit]) -> list[float]:
    """Of each edit the cosine of the word and of what stands in its place."""
    encoded = scorer.encode(text for e in found for text in (e.row.case.reference, e.row.case.candidate))
    return [
        float(vector(encoded[e.row.case.reference], e.before) @ vector(encoded[e.row.case.candidate], e.after))
        for e in found
    ]


if __name__ == "__main__":
    main()
