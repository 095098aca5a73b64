"""Which manifests are in force now. Pure: facts and time in, names and times out."""

from collections.abc import Mapping, Sequence

from gateway.policies.manifest import EVERY_SERVICE, Condition, DegradationPolicy
from gateway.policies.metrics import Gauges, Outcome, measure

HeldUntil = Mapping[str, float]  # manifest -> when it ends unless its conditions hold again


def advance(
    held: HeldUntil,
    manifests: Sequence[DegradationPolicy],
    outcomes: Sequence[Outcome],
    gauges: Sequence[Gauges],
    now_s: float,
) -> dict[str, float]:
    """The manifests in force at `now_s`. One whose conditions held stays for one more (its longest) window.

    That is the hysteresis, and with all traffic forced away also the probe: nothing is measured then, the manifest
    ends after its window, and the traffic itself tells whether the trouble is over. Rows may be newer than `now_s`
    never, and come in the order of time; the outcomes must not hold requests that a manifest forced.
    """
    after: dict[str, float] = {}
    for one in manifests:
        conditions = one.spec.conditions
        if not conditions:
            after[one.name] = float("inf")
        elif all(holds(cond, one, outcomes, gauges, now_s) for cond in conditions):
            after[one.name] = now_s + max(cond.window_s for cond in conditions)
        elif held.get(one.name, now_s) > now_s and held[one.name] != float("inf"):
            after[one.name] = held[one.name]
    return after


def holds(
    condition: Condition,
    policy: DegradationPolicy,
    outcomes: Sequence[Outcome],
    gauges: Sequence[Gauges],
    now_s: float,
) -> bool:
    """Whether the metric is above its threshold over the window that ends at `now_s`; too few rows: no."""
    since_s = now_s - condition.window_s
    service, endpoint = policy.target
    rows: Sequence[Outcome] = outcomes
    if outcomes and outcomes[0].at_s < since_s:  # they come in order
        rows = [row for row in outcomes if row.at_s >= since_s]
    if service != EVERY_SERVICE:
        rows = [row for row in rows if row.service == service]
    if endpoint is not None:
        rows = [row for row in rows if row.endpoint == endpoint]
    readings = [row for row in gauges if row.at_s >= since_s]
    value = measure(condition.metric, rows, readings, min_samples=condition.min_samples)
    return value is not None and value > condition.threshold
