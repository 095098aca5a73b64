"""`truefall manifests`: check DegradationPolicy manifests, or print the CustomResourceDefinition."""

import argparse
from pathlib import Path

from harness.errors import HarnessError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, nargs="?", help="a file or a folder of manifests (YAML)")
    parser.add_argument("--config", type=Path, help="with --policy: check the fallbacks against these backends")
    parser.add_argument("--policy", type=Path, help="check the fallbacks against this policy's paths")
    parser.add_argument("--crd", action="store_true", help="print the CustomResourceDefinition for kubectl apply")


def run(args: argparse.Namespace) -> int:
    """Raises ConfigError naming file and line."""
    if args.crd:
        print(crd_text(), end="")
        return 0
    if args.path is None:
        raise HarnessError("need a file or folder of manifests, or --crd")
    if (args.config is None) != (args.policy is None):
        raise HarnessError("--config and --policy go together")
    from gateway.policies.conflicts import in_precedence, require_consistent
    from gateway.policies.folder import load

    manifests = load(args.path).manifests
    if not manifests:
        raise HarnessError(f"{args.path}: no manifests in it; files end in .yaml, .yml or .json")
    fallbacks = tuple(one.spec.fallback for one in manifests)
    order = fallbacks if args.policy is None else _order(args.config, args.policy)
    require_consistent(manifests, order=order, source=str(args.path))
    for one in in_precedence(manifests):
        spec = one.spec
        when = " and ".join(f"{cond.metric} > {cond.threshold:g} over {cond.window}" for cond in spec.conditions)
        at = f" at {spec.endpoint}" if spec.endpoint else ""
        print(
            f"{spec.scope} {spec.scope.name.lower():8} {one.name}: {spec.traffic_percentage:g}% of "
            f"{spec.target_service}{at} to {spec.fallback}, {'when ' + when if when else 'always'}"
        )
    return 0


def _order(config: Path, policy: Path) -> tuple[str, ...]:
    from gateway.config import load_config
    from gateway.policy import load_policy

    return load_policy(policy, load_config(config)).paths.order


def crd_text() -> str:
    """The file `deploy/kubernetes/crd.yaml`."""
    import yaml

    from gateway.policies.crd import crd

    head = "# Made by `truefall manifests --crd` from the types in gateway/policies/manifest.py.\n"
    return head + str(yaml.safe_dump(crd(), sort_keys=False, width=110, allow_unicode=True))
