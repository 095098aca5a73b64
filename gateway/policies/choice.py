"""Whom a manifest is for: by service and endpoint, and a share of the users that is the same each time."""

from collections.abc import Container, Sequence
from hashlib import blake2b

from gateway.policies.manifest import EVERY_SERVICE, REFUSED, DegradationPolicy

_BUCKETS = 1 << 64


def choose(active: Sequence[DegradationPolicy], *, service: str, endpoint: str, key: str) -> DegradationPolicy | None:
    """The first of `active`, which is in precedence, that is for this request; `key` is its user or session."""
    for one in active:
        target, at = one.target
        if target not in (EVERY_SERVICE, service) or at not in (None, endpoint):
            continue
        if percentile_of(f"{target}\0{at or ''}\0{key}") < one.spec.traffic_percentage:
            return one
    return None


def percentile_of(key: str) -> float:
    """A place in [0, 100) that only `key` decides, spread evenly.

    The target is part of the key, the manifest's name is not: a share that grows keeps those it had.
    """
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return min(int.from_bytes(digest) / _BUCKETS * 100, 99.999_999)


def from_fallback(
    paths: Sequence[str], order: Sequence[str], fallback: str, backends: Container[str]
) -> tuple[str, ...]:
    """Of `paths`, the fallback and what the policy's order names after it; () for a refusal.

    After a path without a model come only others without one: forcing it never leads back to a model.
    """
    if fallback == REFUSED:
        return ()
    after = order[order.index(fallback) + 1 :]
    left = [name for name in paths if name in after and (fallback in backends or name not in backends)]
    return (fallback, *left) if fallback in paths else tuple(left)
