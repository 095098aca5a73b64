"""The manifest `DegradationPolicy`: WHEN a fallback is forced, for whom. HOW paths degrade is the TOML policy's."""

import math
from enum import IntEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gateway.policies.metrics import METRICS

GROUP = "truefall.dev"
VERSION = "v1alpha1"
KIND = "DegradationPolicy"
PLURAL = "degradationpolicies"
EVERY_SERVICE = "*"
REFUSED = "refused"  # a fallback of its own: 429 on purpose

_UNIT_S = {"s": 1, "m": 60, "h": 3600}
Text = Annotated[str, Meta(min_length=1, max_length=253)]


class Scope(IntEnum):
    """How widely a manifest reaches; the lower number goes first."""

    GLOBAL = 1
    SERVICE = 2
    ENDPOINT = 3


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One mapping of the manifest."""


class Condition(Section, frozen=True, kw_only=True):
    """Holds while the metric, over the window, is above the threshold."""

    metric: Annotated[
        str,
        Meta(
            description="; ".join(f"{name}: {one.meaning}" for name, one in METRICS.items()),
            extra_json_schema={"enum": list(METRICS)},
        ),
    ]
    threshold: Annotated[float, Meta(ge=0, description="holds above this; shares are in [0, 1]")]
    window: Annotated[
        str, Meta(pattern=r"^[1-9][0-9]{0,4}[smh]$", description="how far back to look: 30s, 5m, 1h; at most 1h")
    ] = "60s"
    min_samples: Annotated[
        int, Meta(ge=1, le=10_000, description="requests that the window must hold; gauges need one reading")
    ] = 20

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(f"metric {self.metric!r} is not measured; measured are {', '.join(METRICS)}")
        if not math.isfinite(self.threshold):
            raise ValueError(f"threshold is {self.threshold}, must be a finite number")
        if self.window_s > _UNIT_S["h"]:
            raise ValueError(f"window {self.window!r} is longer than 1h, the most kept")
        if METRICS[self.metric].is_share and self.threshold > 1:
            raise ValueError(f"threshold {self.threshold:g} of {self.metric!r} is a share, at most 1")

    @property
    def window_s(self) -> float:
        """The window in seconds."""
        return float(self.window[:-1]) * _UNIT_S[self.window[-1]]


class Spec(Section, frozen=True, kw_only=True):
    """What is forced, for whom, and when."""

    target_service: Annotated[
        Text,
        Meta(description="the header x-truefall-service or else the model name that clients send; * is every service"),
    ]
    fallback: Annotated[
        Text, Meta(description="where the paths begin: a backend's name, a path without a model, or 'refused' (429)")
    ]
    traffic_percentage: Annotated[
        float, Meta(ge=0, le=100, description="of users or sessions; the same ones each time")
    ] = 100
    endpoint: Annotated[Text, Meta(description="the header x-truefall-endpoint; absent: every endpoint")] | None = None
    conditions: Annotated[
        tuple[Condition, ...], Meta(max_length=16, description="all must hold; none: always in force")
    ] = ()

    def __post_init__(self) -> None:
        if self.endpoint is not None and self.target_service == EVERY_SERVICE:
            raise ValueError("endpoint needs a targetService of its own, not '*'")

    @property
    def scope(self) -> Scope:
        """1 global, 2 per service, 3 per endpoint."""
        if self.target_service == EVERY_SERVICE:
            return Scope.GLOBAL
        return Scope.SERVICE if self.endpoint is None else Scope.ENDPOINT


class Metadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What Kubernetes keeps of every object; only these are read."""

    name: Annotated[str, Meta(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""


class DegradationPolicy(Section, frozen=True, kw_only=True):
    """One manifest."""

    api_version: Literal["truefall.dev/v1alpha1"]
    kind: Literal["DegradationPolicy"]
    metadata: Metadata
    spec: Spec

    @property
    def name(self) -> str:
        """`namespace/name`, or the name alone where there is no namespace."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name

    @property
    def target(self) -> tuple[str, str | None]:
        """Service and endpoint."""
        return self.spec.target_service, self.spec.endpoint
