"""The command `truefall`: a table of commands, each imported only when it is called."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple, NoReturn

INTERRUPTED = 130  # exit code of a command that was stopped from the keyboard or by SIGTERM


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the whole usage is one `--help` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Command(NamedTuple):
    """One row of the table: what `truefall --help` says, and where the command lives."""

    help: str
    module: str


COMMANDS = MappingProxyType(
    {
        "gateway": Command("serve the degradation gateway", "harness.commands.gateway"),
        "chaos": Command("start the stack, inject faults, judge every answer, gate", "harness.commands.chaos"),
        "gate": Command(
            "judge a run folder: 0 pass, 1 fail, 3 inconclusive, 2 nothing judged", "harness.commands.gate"
        ),
        "score": Command("score pairs of reference and candidate from a file", "harness.commands.score"),
        "baseline": Command("measure what unrelated texts score with an encoder", "harness.commands.baseline"),
        "judge-the-judge": Command("measure the verdict on a labelled file", "harness.commands.judge"),
        "ab": Command("compare two degradation policies on the same items", "harness.commands.ab"),
        "report": Command("write the report of a run folder again", "harness.commands.report"),
        "models": Command("prepare or list the packaged models", "harness.commands.models"),
        "evalset": Command("check an evaluation set", "harness.commands.evalset"),
        "toxiproxy": Command("serve the embedded Toxiproxy", "harness.commands.toxiproxy"),
        "faults": Command("list and explain the fault catalogue", "harness.commands.faults"),
        "gatekeeper": Command("train and measure the classifier before the models", "harness.commands.gatekeeper"),
        "intents": Command("cluster questions into intents for the response cache", "harness.commands.intents"),
        "review": Command("decide on answers that were held back for a person", "harness.commands.review"),
        "manifests": Command(
            "check DegradationPolicy manifests, or print their CustomResourceDefinition", "harness.commands.manifests"
        ),
        "top": Command("watch a running gateway: level, paths, breakers, memory", "harness.commands.top"),
        "layers": Command("draw the four layers from the tables in the code", "harness.commands.layers"),
        "storm": Command("a storm of long prompts, with the memory guard off and on", "harness.commands.storm"),
        "kv-plan": Command("what the KV cache of a model takes, and how many requests fit", "harness.commands.kv_plan"),
    }
)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="truefall", description="When an LLM service falls back to plan B, does plan B still tell the truth?"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=command.help, add_help=False)
    return parser


def run_command(name: str, argv: Sequence[str]) -> int:
    """Import the command, parse its arguments, run it; a package's own error becomes one line and exit code 2."""
    from harness.errors import user_errors

    module = import_module(COMMANDS[name].module)
    parser = Parser(prog=f"truefall {name}", description=COMMANDS[name].help)
    module.add_arguments(parser)
    try:
        return int(module.run(parser.parse_args(argv)))
    except user_errors() as error:
        print(f"truefall {name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"truefall {name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"truefall {name}: {place}{error.strerror or error}", file=sys.stderr)
        return 2


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in COMMANDS:
        return run_command(arguments[0], arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        print(f"truefall: unknown command {arguments[0]!r}; known are {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    parser = build_parser()
    parser.parse_args(arguments)
    parser.print_help()
    return 0 if arguments else 2


if __name__ == "__main__":
    sys.exit(main())
