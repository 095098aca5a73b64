"""Which manifests are in force now. Pure: facts and time in, names and times out."""

from collections.abc import Mapping, Sequence

from gateway.policies.manifest import DegradationPolicy
from gateway.policies.windows import Windows

HeldUntil = Mapping[str, float]  # manifest -> when it ends unless its conditions hold again


def advance(
    held: HeldUntil, manifests: Sequence[DegradationPolicy], windows: Windows, now_s: float
) -> dict[str, float]:
    """The manifests in force at `now_s`. One whose conditions held stays for one more (its longest) window.

    That is the hysteresis, and with all traffic forced away also the probe: nothing is measured then, the manifest
    ends after its window, and the traffic itself tells whether the trouble is over. The windows must not hold
    requests that a manifest forced.
    """
    after: dict[str, float] = {}
    for one in manifests:
        conditions = one.spec.conditions
        if not conditions:
            after[one.name] = float("inf")
        elif all(windows.hold(cond, one, now_s) for cond in conditions):
            after[one.name] = now_s + max(cond.window_s for cond in conditions)
        elif held.get(one.name, now_s) > now_s and held[one.name] != float("inf"):
            after[one.name] = held[one.name]
    return after
