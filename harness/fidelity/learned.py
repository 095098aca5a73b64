"""Which labelled answers the judge has learned from: figures on these flatter it (docs/design/verdict.md)."""

from collections.abc import Sequence
from functools import cache

from harness.fidelity.labelled import DATA, Labelled, load_labelled

LEARNED = (  # where rows are that taught something, and the splits of them that did; none named: all
    (str(DATA / "dev.jsonl"), ()),
    (str(DATA / "joined.jsonl"), ()),
    (str(DATA / "long.jsonl"), ("train", "dev")),
    ("collapse", ("dev",)),
)


@cache
def learned_pairs() -> frozenset[tuple[str, str]]:
    """Reference and candidate of every row that weights, encoders or their trust were learned from."""
    return frozenset(
        pair_of(row) for name, splits in LEARNED for row in load_labelled(name) if not splits or row.split in splits
    )


def pair_of(row: Labelled) -> tuple[str, str]:
    return row.case.reference, row.case.candidate


def told(rows: Sequence[Labelled]) -> str:
    """How many of the rows the judge has learned from, of which splits, and how to leave them out; in one line."""
    seen = [row for row in rows if pair_of(row) in learned_pairs()]
    if not seen:
        return f"learned from: none of these {len(rows)} rows"
    splits = sorted({row.split for row in seen if row.split})
    of = f" (split {', '.join(splits)})" if splits else ""
    rest = any(row.split == "test" for row in rows) and "test" not in splits
    next_ = "; --split test leaves them out" if rest else ""
    return f"learned from: {len(seen)} of these {len(rows)} rows{of}, which flatter the verdict{next_}"
