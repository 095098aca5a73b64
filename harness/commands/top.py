"""`truefall top`: watch a running gateway."""

import argparse
import asyncio
import os
from importlib.util import find_spec

from harness.errors import HarnessError

TOKEN_ENV = "TRUEFALL_ADMIN_TOKEN"
_LEAST_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8080", help="the gateway (default: %(default)s)")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two looks (default: %(default)s)")
    parser.add_argument(
        "--window", type=float, default=10.0, help="seconds that rates look back (default: %(default)s)"
    )
    parser.add_argument("--once", action="store_true", help="look twice, print the picture, and end")


def run(args: argparse.Namespace) -> int:
    """The admin token comes from the variable TRUEFALL_ADMIN_TOKEN. Raises HarnessError."""
    if find_spec("rich") is None:
        raise HarnessError("this needs rich: pip install 'truefall[top]'")
    if not args.url.startswith(("http://", "https://")):
        raise HarnessError(f"url is {args.url!r}, must begin with http:// or https://")
    for name in ("every", "window"):
        if not getattr(args, name) >= _LEAST_S:
            raise HarnessError(f"--{name} is {getattr(args, name)}, must be at least {_LEAST_S} s")
    from harness.top.watch import look_once, watch

    url, token = args.url.rstrip("/"), os.environ.get(TOKEN_ENV)
    try:
        if args.once:
            asyncio.run(look_once(url, token=token, every_s=args.every))
        else:
            asyncio.run(watch(url, token=token, every_s=args.every, window_s=args.window))
    except KeyboardInterrupt:
        return 0
    return 0
