"""`python -m faults.toxiproxy`: the embedded server; what discovery starts as a child."""

import argparse
import sys

from faults.toxiproxy.serve import ServeOptions, print_line, run_server


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address of the API (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8474, help="port of the API, 0 for any (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of jitter, slices and toxicity (default: %(default)s)"
    )
    parser.add_argument("--parent-pid", type=int, default=None, help="stop when this parent process is gone")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.toxiproxy", description="serve the embedded Toxiproxy")
    add_arguments(parser)
    options = parser.parse_args()
    return run_server(ServeOptions(**vars(options)), print_line)


if __name__ == "__main__":
    sys.exit(main())
