"""`python -m faults.semantic --upstream URL [--port N] [--tokenizer DIR]`: prints one JSON line, then serves.

It ends with SIGTERM or SIGINT, or when the process that started it is gone.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from faults.clock import SystemClock
from faults.errors import FaultError
from faults.parent import until_orphaned, wait_for_any
from faults.semantic.server import serve
from faults.semantic.units import Pieces, model_pieces, one_piece


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m faults.semantic", description=__doc__.splitlines()[0])
    parser.add_argument("--upstream", required=True, help="URL of what is behind it: a Toxiproxy proxy or the backend")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0: any free one")
    parser.add_argument("--tokenizer", type=Path, help="folder with the model's tokenizer.json; without: words")
    return parser.parse_args(argv)


async def run(upstream: str, port: int, pieces: Pieces) -> None:
    parent_pid = os.getppid()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serve(upstream, port=port, pieces=pieces) as url:
        print(json.dumps({"port": int(url.rpartition(":")[2]), "url": url, "pid": os.getpid()}), flush=True)
        await wait_for_any(stop.wait, lambda: until_orphaned(parent_pid, SystemClock()))


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    try:
        pieces = model_pieces(arguments.tokenizer) if arguments.tokenizer else one_piece
        asyncio.run(run(arguments.upstream, arguments.port, pieces))
    except FaultError as error:
        print(f"faults.semantic: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
