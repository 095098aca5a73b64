"""Which of two manifests goes first, and which two cannot both stand."""

from collections.abc import Sequence
from itertools import combinations

from gateway.errors import ConfigError
from gateway.policies.manifest import REFUSED, DegradationPolicy


def stronger(one: DegradationPolicy, other: DegradationPolicy) -> bool:
    """Whether `one` asks for all that `other` asks for, and for more: the next rung of the same ladder."""
    asked = {(cond.metric, cond.window_s): cond.threshold for cond in one.spec.conditions}
    others = {(cond.metric, cond.window_s): cond.threshold for cond in other.spec.conditions}
    if any(key not in asked or asked[key] < bound for key, bound in others.items()):
        return False
    return asked != others


def contradicts(one: DegradationPolicy, other: DegradationPolicy) -> bool:
    """Same target, another effect, and nothing that says which of them goes first."""
    same_effect = (one.spec.fallback, one.spec.traffic_percentage) == (
        other.spec.fallback,
        other.spec.traffic_percentage,
    )
    return one.target == other.target and not same_effect and not stronger(one, other) and not stronger(other, one)


def require_consistent(manifests: Sequence[DegradationPolicy], *, order: Sequence[str], source: str) -> None:
    """Raises ConfigError for two of one name, two that contradict each other, and a fallback that is not a path."""
    for one, other in combinations(manifests, 2):
        if one.name == other.name:
            raise ConfigError(f"{source}: metadata.name: {one.name!r} is there twice; names are unique")
        if contradicts(one, other):
            raise ConfigError(
                f"{source}: {one.name!r} and {other.name!r} contradict each other: both target {_target(one)}, "
                f"with {_effect(one)} against {_effect(other)}; give one of them stronger conditions on the same "
                "metrics and windows, or another target"
            )
    known = (*order, REFUSED)
    for one in manifests:
        if one.spec.fallback not in known:
            raise ConfigError(
                f"{source}: {one.name!r}: spec.fallback = {one.spec.fallback!r} is not a path of the policy; "
                f"they are {', '.join(known)}"
            )


def in_precedence(manifests: Sequence[DegradationPolicy]) -> tuple[DegradationPolicy, ...]:
    """Global first, then per service, then per endpoint; of one target the stronger first; then by name."""

    def rungs_above(one: DegradationPolicy) -> int:
        return sum(stronger(other, one) for other in manifests if other.target == one.target)

    return tuple(sorted(manifests, key=lambda one: (one.spec.scope, rungs_above(one), one.name)))


def _target(one: DegradationPolicy) -> str:
    service, endpoint = one.target
    return f"{service!r}" if endpoint is None else f"{service!r} at {endpoint!r}"


def _effect(one: DegradationPolicy) -> str:
    return f"{one.spec.fallback!r} for {one.spec.traffic_percentage:g}%"
