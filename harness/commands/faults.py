"""`truefall faults`: list and explain the catalogue, undo what a killed run left on."""

import argparse
from pathlib import Path

from faults.catalogue import find
from faults.catalogue_text import explanation, listing, page
from faults.errors import BadFault
from faults.journal import sweep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|explain|sweep|page")
    actions.add_parser("list", help="one line for each fault")
    explain = actions.add_parser("explain", help="what a fault does, and its parameters")
    explain.add_argument("name", help="a name of the list")
    sweeping = actions.add_parser("sweep", help="undo the faults that a killed run left on")
    sweeping.add_argument("folder", type=Path, help="a run folder or its journal folder")
    actions.add_parser("page", help="print docs/faults.md")


def run(args: argparse.Namespace) -> int:
    if args.action == "list":
        print(listing())
    elif args.action == "explain":
        find(args.name)
        print(explanation(args.name))
    elif args.action == "page":
        print(page(), end="")
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
