"""The manifests in force: swapped as a whole, never while somebody else has swapped, and judged once per tick."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.clock import Clock
from gateway.errors import ConfigError
from gateway.policies.activity import advance
from gateway.policies.choice import choose
from gateway.policies.conflicts import in_precedence, require_consistent
from gateway.policies.manifest import DegradationPolicy
from gateway.policies.metrics import Gauges, Outcome
from gateway.policies.windows import Windows


class StaleVersion(ConfigError):  # noqa: N818 - says what is wrong
    """Somebody else swapped in the meantime: read again, then try again."""


class ManifestSet(NamedTuple):
    """One whole set; `digest` tells it from another, `source` says where it is from."""

    version: int = 0
    manifests: tuple[DegradationPolicy, ...] = ()
    digest: str = ""
    source: str = ""


@dataclass(slots=True, kw_only=True)
class ManifestHolder:
    """`order` gives the paths of the TOML policy in force; a manifest may force any of them, or a refusal."""

    order: Callable[[], Sequence[str]]
    clock: Clock
    current: ManifestSet = field(default_factory=ManifestSet)
    active: tuple[DegradationPolicy, ...] = ()  # in precedence
    refused: str | None = None  # why the newest set is not in force; None: it is
    _held: dict[str, float] = field(default_factory=dict)
    _windows: Windows = field(default_factory=Windows)

    def swap(self, manifests: Sequence[DegradationPolicy], *, digest: str, source: str, based_on: int) -> bool:
        """Put a whole set in force at once; False when it is the one in force already.

        Raises ConfigError, and the old set stays; StaleVersion when version `based_on` is not in force any more.
        """
        try:
            if based_on != self.current.version:
                raise StaleVersion(f"{source}: made for version {based_on}, in force is {self.current.version}")
            require_consistent(manifests, order=self.order(), source=source)
        except ConfigError as error:
            self.refused = str(error)
            raise
        self.refused = None
        if digest == self.current.digest and source == self.current.source:
            return False
        same = {one.name for one in manifests if one in self.current.manifests}
        self._held = {name: until_s for name, until_s in self._held.items() if name in same}
        self.current = ManifestSet(based_on + 1, in_precedence(manifests), digest, source)
        self._windows = Windows(manifests, before=self._windows)
        self._settle(self.clock.now_s())
        return True

    def check_order(self, order: Sequence[str], *, source: str) -> None:
        """Raises ConfigError where a TOML policy with these paths would leave a manifest without its fallback."""
        require_consistent(self.current.manifests, order=order, source=source)

    def tick(self, gauges: Gauges) -> tuple[frozenset[str], frozenset[str]]:
        """Take a reading and judge every condition; returns the names that began and that ended."""
        before = frozenset(one.name for one in self.active)
        self._windows.read(gauges)
        self._settle(gauges.at_s)
        after = frozenset(one.name for one in self.active)
        return after - before, before - after

    def observe(self, outcome: Outcome) -> None:
        """Count a request that no manifest forced."""
        self._windows.observe(outcome)

    def choose(self, *, service: str, endpoint: str, key: str) -> DegradationPolicy | None:
        """The manifest that decides about this request now."""
        return choose(self.active, service=service, endpoint=endpoint, key=key)

    def _settle(self, now_s: float) -> None:
        self._held = advance(self._held, self.current.manifests, self._windows, now_s)
        self.active = tuple(one for one in self.current.manifests if one.name in self._held)
