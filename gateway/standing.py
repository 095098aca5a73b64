"""How a backend has been doing lately, and what the decision tree makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway.decision import Branch, DecisionMarks, Situation, TreeMarks, decide, fitness
from gateway.record import Attempt

_NEWEST = 0.2  # weight of the newest try


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Smoothed over the tries. `confidence`: share of whole, trusted answers; `latency_s` None: not measured."""

    confidence: float = 1.0
    latency_s: float | None = None
    at_s: float = 0.0


def after(standing: Standing, attempt: Attempt, *, now_s: float, forget_s: float) -> Standing:
    """The standing once a try is over; one that was never sent says nothing."""
    if attempt.outcome == "refused":
        return standing
    faded = at(standing, now_s=now_s, forget_s=forget_s)
    confidence = faded.confidence + _NEWEST * (float(attempt.outcome == "ok") - faded.confidence)
    took_s = attempt.duration_ms / 1000
    latency_s = took_s if faded.latency_s is None else faded.latency_s + _NEWEST * (took_s - faded.latency_s)
    return Standing(confidence=confidence, latency_s=latency_s, at_s=now_s)


def at(standing: Standing, *, now_s: float, forget_s: float) -> Standing:
    """What is left of it at `now_s`: what is bad halves every `forget_s`, so that who is not asked is asked again."""
    share = 0.5 ** (max(0.0, now_s - standing.at_s) / forget_s)
    return replace(
        standing,
        confidence=1 - (1 - standing.confidence) * share,
        latency_s=None if standing.latency_s is None else standing.latency_s * share,
        at_s=now_s,
    )


def situation(standing: Standing, *, now_s: float, left_s: float, marks: DecisionMarks) -> Situation:
    """What to expect of a request that has `left_s` seconds, or the policy's own time, for its answer."""
    now = at(standing, now_s=now_s, forget_s=marks.forget_s)
    latency_s = now.latency_s or 0.0
    allowed_s = marks.sla_s or left_s
    margin = 1 - latency_s / allowed_s if allowed_s > 0 else 0.0
    return Situation(
        confidence=min(1.0, max(0.0, now.confidence)),
        latency_ms=latency_s * 1000,
        sla_margin=min(1.0, max(0.0, margin)),
    )


def branch_of(seen: Situation, *, marks: DecisionMarks, may_defer: bool) -> Branch:
    """The tree's branch; where no answer may come later, the next one that applies."""
    tree = TreeMarks(
        least_confidence=marks.least_confidence,
        most_latency_ms=marks.most_latency_ms,
        least_sla_margin=marks.least_sla_margin,
    )
    branch = decide(seen, tree)
    if branch is Branch.ASYNCHRONOUS and not may_defer:
        return decide(replace(seen, latency_ms=0.0), tree)
    return branch


def ranked(names: tuple[str, ...], situations: Mapping[str, Situation]) -> tuple[str, ...]:
    """The backends, the fittest first; equally fit ones stay in their order."""
    return tuple(sorted(names, key=lambda name: -round(fitness(situations[name]), 2)))
