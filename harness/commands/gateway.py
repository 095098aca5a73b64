"""`truefall gateway`: serve the degradation gateway."""

import argparse
from pathlib import Path

from harness.errors import HarnessError

MOST_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("serve", "key"), default="serve", help="key: print a new API key")
    parser.add_argument("--config", type=Path, help="what exists: server and backends (TOML)")
    parser.add_argument("--policy", type=Path, help="how to degrade (TOML); without it the default policy")
    parser.add_argument("--port", type=int, help="instead of the config's; 0 takes any free one")
    parser.add_argument("--check", action="store_true", help="read all files, say what is wrong, and do not serve")


def run(args: argparse.Namespace) -> int:
    """Print one line of JSON with the real port once it listens; serve until SIGTERM."""
    if args.action == "key":
        return _print_key()
    if args.port is not None and not 0 <= args.port <= MOST_PORT:
        raise HarnessError(f"--port is {args.port}; it has to be from 0 (any free one) to {MOST_PORT}")
    if args.config is None:
        raise HarnessError("truefall gateway needs --config, the file that says which backends there are")
    from gateway.config import load_config
    from gateway.policy import load_policy
    from gateway.watched_file import FileWatch

    config = load_config(args.config)
    policy_file = None if args.policy is None else FileWatch.before_reading(args.policy)
    policy = load_policy(args.policy, config)
    if args.check:
        import asyncio

        from gateway.serve import check

        asyncio.run(check(config, policy=policy, policy_file=policy_file))
        print(f"ok: {len(config.backends)} backends, policy {policy.name!r}, paths {' -> '.join(policy.paths.order)}")
        return 0
    from gateway import serve

    serve.run(config, policy=policy, policy_file=policy_file, port=args.port)
    return 0


def _print_key() -> int:
    """The key is shown this once; the config holds its hash."""
    from gateway.api_key import new_key

    made = new_key()
    print(f"key    {made.key}")
    print(f'config [[api_keys]]\n       name = "…"\n       sha256 = "{made.sha256}"')
    return 0
