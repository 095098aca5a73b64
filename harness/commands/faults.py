"""`truefall faults`: list and explain the catalogue, undo what a killed run left on, measure what each fault does."""

import argparse
import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from faults.catalogue import find
from faults.catalogue_text import explanation, listing, page
from faults.errors import BadFault
from faults.journal import sweep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|explain|sweep|page|measure")
    actions.add_parser("list", help="one line for each fault")
    explain = actions.add_parser("explain", help="what a fault does, and its parameters")
    explain.add_argument("name", help="a name of the list")
    sweeping = actions.add_parser("sweep", help="undo the faults that a killed run left on")
    sweeping.add_argument("folder", type=Path, help="a run folder or its journal folder")
    actions.add_parser("page", help="print docs/faults.md")
    measuring = actions.add_parser("measure", help="measure each fault on a real serving engine; print a page")
    measuring.add_argument("name", nargs="*", help="only these faults")


def run(args: argparse.Namespace) -> int:
    if args.action == "list":
        print(listing())
    elif args.action == "explain":
        find(args.name)
        print(explanation(args.name))
    elif args.action == "page":
        print(page(), end="")
    elif args.action == "measure":
        return _measure(args.name)
    else:
        _sweep(args.folder)
    return 0


def _sweep(folder: Path) -> None:
    """Raises BadFault when there is no such folder, UndoFailed when something could not be undone."""
    if not folder.is_dir():
        raise BadFault(f"{folder}: no such folder; give a run folder")
    journal = folder / "journal" if (folder / "journal").is_dir() else folder
    swept = sweep(journal)
    for entry, outcome in swept:
        print(f"{entry.target}: {entry.undo.resource}: {outcome}")
    print(f"{len(swept)} faults undone" if swept else "nothing was left on")


def _measure(names: list[str]) -> int:
    """Print the page, and on stderr what is not as expected; 1 when anything is not. About two minutes."""
    from harness.effects.measure import measure_all
    from harness.effects.page import page as measured_page

    for name in names:
        find(name)
    with TemporaryDirectory(prefix="truefall-measure-") as folder:
        measured = asyncio.run(measure_all(Path(folder), names=names))
    print(measured_page(measured), end="")
    wrong = [line for one in measured for line in one.wrong()]
    for line in wrong:
        print(f"not as expected: {line}", file=sys.stderr)
    return 1 if wrong else 0
