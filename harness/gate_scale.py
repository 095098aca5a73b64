"""Which scale a BERTScore is on: a limit means something only where it is known what unrelated texts score (pure)."""

from collections.abc import Collection, Sequence
from enum import StrEnum

from harness.fidelity.case import NO_BASELINE


class Scale(StrEnum):
    """What a BERTScore F1 of 0 means."""

    OWN = "own"  # raw, of the packaged encoder at its last layer, which the limits were set with
    RESCALED = "rescaled"  # what unrelated texts score
    UNKNOWN = "unknown"  # raw, of another encoder: unrelated texts may well score 0.8


def scale_of(flags: Sequence[str]) -> Scale | None:
    """What the scorer says; None for an empty answer, whose 0 is the same on any."""
    if "empty" in flags:
        return None
    if NO_BASELINE in flags:
        return Scale.UNKNOWN
    return Scale.RESCALED if "rescaled" in flags else Scale.OWN


def unscaled(scales: Collection[Scale]) -> str:
    """Why scores cannot be held against a limit or each other; "" where they can."""
    if Scale.UNKNOWN in scales:
        return (
            "not measured: the encoder has no baseline, so nobody knows what unrelated texts score with it; make one "
            "with `truefall baseline`, name it in the [encoder] section of the profile and judge again (--judge-again)"
        )
    if len(scales) > 1:
        return "not measured: some scores are rescaled and some are not; judge both runs again (--judge-again)"
    return ""
