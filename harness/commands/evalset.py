"""`truefall evalset lint [SET]`: check an evaluation set."""

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    lint = actions.add_parser("lint", help="say what is wrong with a set: exit 0 nothing, 1 problems, 2 not readable")
    lint.add_argument(
        "sets", nargs="*", default=["support"], metavar="SET", help="bundled set or JSON-lines file (default support)"
    )


def run(args: argparse.Namespace) -> int:
    from evalsets.lint import lint_set

    problems = [f"{name}: {problem}" for name in args.sets for problem in lint_set(name)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{', '.join(args.sets)}: {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0
