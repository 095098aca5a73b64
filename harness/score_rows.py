"""Rows of a file of scores: what they hold, and that each trial has one (pure)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.errors import ResultError
from harness.row_types import NUMBER, TEXT, TEXTS, or_null, require

SCORES = ("bertscore_p", "bertscore_r", "bertscore_f1", "cosine", "composite")
NEEDED = ("trial_id", "label", "risk", "reasons", *SCORES)
SCORE_FIELDS = MappingProxyType(
    {
        "trial_id": TEXT,
        "label": or_null(TEXT),
        **dict.fromkeys(("risk", *SCORES), or_null(NUMBER)),
        **dict.fromkeys(("reasons", "flags"), or_null(TEXTS)),
    }
)


def by_trial(rows: Sequence[Mapping[str, Any]], file: Path) -> dict[str, dict[str, Any]]:
    """Raises ResultError for a missing column, a value of another type, and a trial that is judged twice."""
    for row in rows:
        if missing := [name for name in NEEDED if name not in row]:
            raise ResultError(f"{file}: column {missing[0]!r} is missing; needed are {', '.join(NEEDED)}")
        require(row, SCORE_FIELDS, of=f"{file}: trial {row['trial_id']!r}")
    twice = [name for name, times in Counter(row["trial_id"] for row in rows).items() if times > 1]
    if twice:
        raise ResultError(
            f"{file}: trial {twice[0]!r} is judged more than once there, and which judgement counts is not known; "
            f"move the file away and `truefall gate {file.parent}` judges the answers anew"
        )
    return {row["trial_id"]: dict(row) for row in rows}
