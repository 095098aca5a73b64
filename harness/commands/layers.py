"""`truefall layers`: draw the four layers from the tables in the code."""

import argparse
from pathlib import Path

from harness.whole_file import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, help="write the picture (SVG) here; without it, print it")


def run(args: argparse.Namespace) -> int:
    from harness.layers import picture

    svg = picture()
    if args.out is None:
        print(svg, end="")
    else:
        write_whole(args.out, svg)
    return 0
