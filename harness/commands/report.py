"""`truefall report RUN`: write `report.html` of a run folder again."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="a folder under results/")


def run(args: argparse.Namespace) -> int:
    from harness.report import write_report

    print(write_report(Path(args.run_folder)))
    return 0
