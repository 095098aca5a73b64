"""`truefall report RUN`: write `report.html` of a run folder again."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="a folder under results/")


def run(args: argparse.Namespace) -> int:
    from harness.report import write_report
    from harness.run_lock import only_writer
    from harness.store import RunFolder

    folder = RunFolder.open(Path(args.run_folder))
    with only_writer(folder):
        print(write_report(folder.path))
    return 0
