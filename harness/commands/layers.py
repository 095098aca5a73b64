"""`truefall layers`: draw the four layers from the tables in the code."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, help="write the picture (SVG) here; without it, print it")


def run(args: argparse.Namespace) -> int:
    from harness.layers import picture

    svg = picture()
    if args.out is None:
        print(svg, end="")
    else:
        args.out.write_text(svg, "utf-8")
    return 0
