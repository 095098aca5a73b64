"""`truefall review`: look at the answers that the semantic gate held back, and decide on them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.review import Review


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--db", type=Path, required=True, metavar="FILE", help="answers.review_db of the gateway")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|accept|reject")
    listing = actions.add_parser("list", help="those that wait, oldest first")
    listing.add_argument("--all", action="store_true", help="decided ones too")
    for name, told in (
        ("show", "question, answer and what it stands for"),
        ("accept", "the answer was right"),
        ("reject", "the answer was wrong"),
    ):
        action = actions.add_parser(name, help=told)
        action.add_argument("id", help="from `list`")
        if name != "show":
            action.add_argument("--note", default="", help="why")


def run(args: argparse.Namespace) -> int:
    from gateway.answers.completion import now_unix_s
    from gateway.review import ReviewQueue, Status

    queue = ReviewQueue(args.db, max_bytes=args.db.stat().st_size * 2 + 1_048_576, now_unix_s=now_unix_s)
    if args.action == "list":
        entries = queue.entries(None if args.all else Status.WAITING)
        for entry in entries:
            print(_line(entry))
        print(f"{len(entries)} {'entries' if args.all else 'waiting'}")
    elif args.action == "show":
        print(_whole(queue.entry(args.id)))
    else:
        status = Status.ACCEPTED if args.action == "accept" else Status.REJECTED
        print(_line(queue.settle(args.id, status, note=args.note)))
    return 0


def _line(entry: "Review") -> str:
    delta = "unmeasured" if entry.delta is None else f"{entry.delta:.2f}"
    question = " ".join(entry.question.split())
    shown = question if len(question) <= 60 else f"{question[:59]}…"
    return f"{entry.id} {entry.status} {entry.path} {entry.task} difference {delta} entropy {entry.entropy:.2f} {shown}"


def _whole(entry: "Review") -> str:
    parts = [_line(entry), f"question:\n{entry.question}", f"answer:\n{entry.answer}"]
    if entry.stands_for is not None:
        parts.append(f"stands for:\n{entry.stands_for}")
    if entry.note:
        parts.append(f"note: {entry.note}")
    return "\n\n".join(parts)
