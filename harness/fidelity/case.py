"""What the judge is given and what it returns."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

NO_BASELINE = "without_baseline"  # flag of scores by an encoder whose zero point nobody has measured


class Label(StrEnum):
    """The three outcomes of an answer."""

    FAITHFUL = "faithful"
    ABSTAINED = "abstained"
    MISLEADING = "misleading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer to judge against its reference."""

    id: str
    reference: str
    candidate: str
    prompt: str = ""
    context: str = ""
    lang: str | None = None  # "en", "zh"; None: detected from the reference
    must_keep: tuple[str, ...] = ()  # facts; alternatives inside one separated by " | "
    must_not: tuple[str, ...] = ()  # claims that no answer may make
    contract: dict[str, Any] | None = None  # JSON Schema that the answer's text has to satisfy
    degraded: bool | None = None  # whether the answer was marked as degraded; None: not known, an abstention is honest


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check has against an answer."""

    check: str  # name of the check, as in the ablation table
    severity: float  # in [0, 1]: how much it speaks for misleading
    reason: str  # for a person, with the words it rests on
    certain: bool = False  # enough by itself, however far or near the texts are


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """Scores of one pair. None: not measured (never 0 in its place)."""

    bertscore_p: float | None
    bertscore_r: float | None
    bertscore_f1: float | None
    cosine: float | None
    composite: float | None
    flags: tuple[str, ...] = ()  # "empty", "truncated", …


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on one case."""

    id: str
    label: Label
    risk: float  # in [0, 1], calibrated: probability that the answer misleads
    reasons: tuple[str, ...]
    similarity: Similarity
    findings: tuple[Finding, ...] = ()
