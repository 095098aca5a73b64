"""`truefall gateway`: serve the degradation gateway."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, required=True, help="what exists: server and backends (TOML)")
    parser.add_argument("--policy", type=Path, help="how to degrade (TOML); without it the default policy")
    parser.add_argument("--port", type=int, help="instead of the config's; 0 takes any free one")
    parser.add_argument("--check", action="store_true", help="read both files, say what is wrong, and do not serve")


def run(args: argparse.Namespace) -> int:
    """Print one line of JSON with the real port once it listens; serve until SIGTERM."""
    from gateway.config import load_config
    from gateway.policy import load_policy

    config = load_config(args.config)
    policy = load_policy(args.policy, config)
    if args.check:
        from gateway.answers.unaided import load_files

        load_files(config.answers)
        print(f"ok: {len(config.backends)} backends, policy {policy.name!r}, paths {' -> '.join(policy.paths.order)}")
        return 0
    from gateway import serve

    serve.run(config, policy=policy, policy_path=args.policy, port=args.port)
    return 0
