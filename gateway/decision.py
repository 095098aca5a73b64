"""The decision tree over confidence, latency and SLA margin, with weights that follow the situation."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

from gateway.errors import ConfigError
from gateway.section import Positive, Section, Share

SLOWEST_MS = 2000.0  # above it latency no longer weighs anything


class Branch(StrEnum):
    """What to do with a request."""

    ANSWER = "answer"
    LIGHT_FALLBACK = "light_fallback"
    ASYNCHRONOUS = "asynchronous"  # accepted now, polled for later
    FULL_BREAK = "full_break"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """`confidence` in [0, 1]; `latency_ms` expected; `sla_margin`: share of the allowed time that is left."""

    confidence: float
    latency_ms: float
    sla_margin: float

    def __post_init__(self) -> None:
        if not (0 <= self.confidence <= 1 and 0 <= self.sla_margin <= 1 and self.latency_ms >= 0):
            raise ConfigError(
                "confidence and sla_margin lie in [0, 1], latency_ms is 0 or more; "
                f"got {self.confidence}, {self.sla_margin}, {self.latency_ms}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMarks:
    """Where the tree branches off."""

    least_confidence: float = 0.7
    most_latency_ms: float = 1200.0
    least_sla_margin: float = 0.15


class DecisionMarks(Section, frozen=True, kw_only=True):
    """The decision tree over how the target has been doing lately."""

    apply: Literal["never", "always"] = "never"
    least_confidence: Share = 0.7  # share of whole, trusted answers lately; below it the small backends come first
    most_latency_ms: Positive = 1200.0  # expected; above it the answer may come later (the config's [deferred])
    least_sla_margin: Share = 0.15  # share of the allowed time left; below it no backend is asked
    sla_s: Positive | None = None  # the allowed time; None: the request's deadline
    asynchronous: Literal["never", "opt_in", "always"] = "opt_in"  # opt in: `Prefer: respond-async`, or "async": true
    rank: bool = False  # backends in the order of their fitness, by weights that follow the situation
    forget_s: Positive = 30.0  # what was seen counts half after so long


class Weights(NamedTuple):
    """Sum to 1."""

    confidence: float
    latency: float
    sla: float


def weights(situation: Situation) -> Weights:
    """How much each of the three counts now."""
    confidence = max(0.2, 0.5 * situation.confidence)
    latency = min(0.6, max(0.0, 0.4 * (1 - situation.latency_ms / SLOWEST_MS)))
    sla = max(0.1, 0.3 * situation.sla_margin)
    total = confidence + latency + sla
    return Weights(confidence / total, latency / total, sla / total)


def fitness(situation: Situation) -> float:
    """How well a full answer would go, in [0, 1]: the weighted mean of confidence, speed and margin."""
    share = weights(situation)
    speed = max(0.0, 1 - situation.latency_ms / SLOWEST_MS)
    return share.confidence * situation.confidence + share.latency * speed + share.sla * situation.sla_margin


def decide(situation: Situation, marks: TreeMarks | None = None) -> Branch:
    """The gravest branch that applies: break, then asynchronous, then light fallback."""
    marks = marks or TreeMarks()
    if situation.sla_margin < marks.least_sla_margin:
        return Branch.FULL_BREAK
    if situation.latency_ms > marks.most_latency_ms:
        return Branch.ASYNCHRONOUS
    if situation.confidence < marks.least_confidence:
        return Branch.LIGHT_FALLBACK
    return Branch.ANSWER
