"""`python -m harness.storm`: the same storm on a bare backend, and behind the gateway with its guard off and on."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from gateway.clock import SystemClock
from harness.errors import HarnessError
from harness.models import ModelSpec, prepare
from harness.stack.signals import run_heard, terminated_as_interrupt
from harness.storm.run import COLUMNS, Storm
from harness.storm.table import markdown

MIB = 2**20


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m harness.storm", description=__doc__)
    made.add_argument("--model", default="smollm2-135m-instruct", help="a packaged model")
    made.add_argument("--requests", type=int, default=40, help="in each column")
    made.add_argument("--clients", type=int, default=6, help="that ask at the same time")
    made.add_argument("--room-mib", type=int, default=192, help="memory for requests, beyond the loaded model's")
    made.add_argument("--most-s", type=float, default=130.0, help="of each column; no request is begun later")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--columns", default=",".join(COLUMNS), help=f"some of {','.join(COLUMNS)}")
    return made


async def storm(args: argparse.Namespace, folder: Path) -> None:
    """One column after the other; the table at the end."""
    (model,) = await asyncio.to_thread(prepare, [args.model])
    made = Storm(
        model=ModelSpec(name=args.model, dtype="float32", context_tokens=4096),
        model_dir=model.path,
        requests=args.requests,
        clients=args.clients,
        room_bytes=args.room_mib * MIB,
        most_s=args.most_s,
        seed=args.seed,
        clock=SystemClock(),
    )
    columns = []
    for name in args.columns.split(","):
        own = folder / name
        own.mkdir()
        print(f"{COLUMNS[name]} …", file=sys.stderr, flush=True)
        columns.append(await made.column(name, own))
        lost = sorted({one.why for one in columns[-1].ended if one.why})
        print(f"  lost because of: {', '.join(lost) or 'nothing'}", file=sys.stderr, flush=True)
    print(markdown(columns))


def main() -> int:
    args = parser().parse_args()
    unknown = [name for name in args.columns.split(",") if name not in COLUMNS]
    try:
        if unknown:
            raise HarnessError(f"--columns names {unknown[0]!r}; there are {', '.join(COLUMNS)}")
        with tempfile.TemporaryDirectory() as folder, terminated_as_interrupt(), asyncio.Runner() as runner:
            run_heard(runner, storm(args, Path(folder)))
    except HarnessError as error:
        print(f"truefall: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
