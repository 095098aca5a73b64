"""Manifests for tests, as a file would hold them."""

from typing import Any

from gateway.policies.manifest import DegradationPolicy
from gateway.policies.yaml_file import parse

TEXT = """\
apiVersion: truefall.dev/v1alpha1
kind: DegradationPolicy
metadata:
  name: slow-shop
  labels: {team: shop}
spec:
  targetService: shop
  trafficPercentage: 15
  fallback: template
  conditions:
    - metric: p99_latency_ms
      threshold: 1200
      window: 60s
"""


def manifest(name: str = "one", *conditions: dict[str, Any], **spec: Any) -> DegradationPolicy:
    """One manifest; `conditions` are mappings as in the file."""
    lines = [
        "apiVersion: truefall.dev/v1alpha1",
        "kind: DegradationPolicy",
        f"metadata: {{name: {name}}}",
        "spec:",
        *(f"  {key}: {value!r}" for key, value in {"targetService": "shop", "fallback": "template", **spec}.items()),
    ]
    if conditions:
        lines.append(f"  conditions: {list(conditions)!r}")
    return parse("\n".join(lines), source="test")[0]


def above(metric: str, threshold: float, window: str = "60s", **more: Any) -> dict[str, Any]:
    return {"metric": metric, "threshold": threshold, "window": window, **more}
