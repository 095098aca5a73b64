"""`truefall storm`: the same long-context storm on a bare backend, and behind the gateway with its guard off and on."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from harness.errors import HarnessError

MIB = 2**20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="smollm2-135m-instruct", help="a packaged model (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=40, help="in each column (default: %(default)s)")
    parser.add_argument("--clients", type=int, default=6, help="that ask at the same time (default: %(default)s)")
    parser.add_argument(
        "--room-mib", type=int, default=192, help="memory for requests beyond the loaded model's (default: %(default)s)"
    )
    parser.add_argument(
        "--most-s", type=float, default=130.0, help="of each column; no request is begun later (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the requests (default: %(default)s)")
    parser.add_argument(
        "--concurrent",
        type=int,
        default=4,
        help="calls that either gateway has running at once (default: %(default)s)",
    )
    parser.add_argument(
        "--kills",
        action="store_true",
        help="a failed allocation ends the backend, as a driver or kernel that kills on OOM does; it is started again",
    )
    parser.add_argument(
        "--pause-s",
        type=float,
        default=3.0,
        help="before a client goes on that got no answer of the model (default: %(default)s)",
    )
    parser.add_argument("--columns", metavar="A,B,…", help="only some of bare, off, on")


def run(args: argparse.Namespace) -> int:
    """Raises HarnessError."""
    from harness.stack.signals import run_heard, terminated_as_interrupt
    from harness.storm.run import COLUMNS

    names = args.columns.split(",") if args.columns else list(COLUMNS)
    for name in names:
        if name not in COLUMNS:
            raise HarnessError(f"--columns names {name!r}; there are {', '.join(COLUMNS)}")
    for name in ("requests", "clients", "room_mib", "concurrent"):
        if getattr(args, name) < 1:
            raise HarnessError(f"--{name.replace('_', '-')} is {getattr(args, name)}, must be at least 1")
    with tempfile.TemporaryDirectory() as folder, terminated_as_interrupt(), asyncio.Runner() as runner:
        run_heard(runner, storm(args, names, Path(folder)))
    return 0


async def storm(args: argparse.Namespace, names: list[str], folder: Path) -> None:
    """One column after the other; the table at the end."""
    from gateway.clock import SystemClock
    from harness.models import ModelSpec, prepare
    from harness.storm.run import COLUMNS, Storm
    from harness.storm.table import markdown

    (model,) = await asyncio.to_thread(prepare, [args.model])
    made = Storm(
        model=ModelSpec(name=args.model, dtype="float32", context_tokens=4096),
        model_dir=model.path,
        requests=args.requests,
        clients=args.clients,
        room_bytes=args.room_mib * MIB,
        most_s=args.most_s,
        seed=args.seed,
        concurrent=args.concurrent,
        kills=args.kills,
        pause_s=args.pause_s,
        clock=SystemClock(),
    )
    columns = []
    for name in names:
        own = folder / name
        own.mkdir()
        print(f"{COLUMNS[name]} …", file=sys.stderr, flush=True)
        columns.append(await made.column(name, own))
        lost = sorted({one.why for one in columns[-1].ended if one.why})
        print(f"  lost because of: {', '.join(lost) or 'nothing'}", file=sys.stderr, flush=True)
    print(markdown(columns))
