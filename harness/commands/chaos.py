"""`truefall chaos`: the main job. Start the stack, run the experiments, judge every answer, gate, report."""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.commands.chaos_words import EXPERIMENTS, WORDS, run_word
from harness.errors import ConfigError

INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", nargs="?", choices=WORDS, help="list or explain experiments and faults; import or "
                        "export an experiment of Chaos Toolkit; without a word: the main job")  # fmt: skip
    parser.add_argument("subject", nargs="?", help="what to explain; the file to import or export")
    parser.add_argument(
        "--experiment", action="append", default=[], metavar="FILE", help="run this YAML file instead of the tests"
    )
    parser.add_argument("--stack", default=None, metavar="FILE", help="TOML file: attach to a gateway of yours")
    parser.add_argument("--seed", type=int, default=None, help="seed of every draw (default 0)")
    parser.add_argument("--profile", default=None, help="bundled profile (cpu, gpu) or a TOML file (default cpu)")
    parser.add_argument(
        "--device", default=None, choices=["auto", "cpu", "cuda"], help="where the models run (default auto)"
    )
    parser.add_argument("--policy", default=None, help="TOML file: how the gateway degrades (default: the profile's)")
    parser.add_argument("--criteria", default=None, help="TOML file: what the gate demands (default: the profile's)")
    parser.add_argument("--evalset", default=None, help="bundled evaluation set or a JSON-lines file (default support)")
    parser.add_argument("--items", type=int, default=None, help="items per experiment (default: the profile's)")
    parser.add_argument("--item", action="append", metavar="ID", help="only this item of the set; may be repeated")
    parser.add_argument(
        "--quick", action="store_true", help="few items, under three minutes; too few to pass every gate"
    )
    parser.add_argument("--resume", default=None, metavar="RUN", help="go on with a run folder that was interrupted")
    parser.add_argument("--results", default="results", help="where the run folder is made (default results/)")
    parser.add_argument(
        "--experiments", default=EXPERIMENTS, help=f"pytest files with the experiments (default {EXPERIMENTS})"
    )
    parser.add_argument("-k", dest="select", default=None, help="only experiments whose name matches (as in pytest)")


def run(args: argparse.Namespace) -> int:
    if args.word:
        return run_word(args)
    from harness.chaos_job import ChaosJob
    from harness.decision import EXIT_CODES, Verdict
    from harness.stack.signals import terminated_as_interrupt

    experiments = Path(args.experiments)
    if args.experiment:
        experiments = Path(__file__).parents[1] / "experiment_files.py"
    if not experiments.exists():
        raise ConfigError(
            f"--experiments {experiments}: no such file or folder; run in the project's root or name another"
        )
    if args.items is not None and args.items < 1:
        raise ConfigError(f"--items {args.items}: need at least 1")
    with terminated_as_interrupt():
        job = ChaosJob.prepare(args)
        print(f"run folder: {job.folder.path}", file=sys.stderr)
        if job.failed:
            print(f"this run has ended, nothing more is sent; begin a new one\nFAIL: {job.failed}", file=sys.stderr)
            return EXIT_CODES[Verdict.FAIL]
        try:
            code = job.run_experiments(experiments, args.select)
            if code != INTERRUPTED:
                return job.finish(experiments_failed=code != 0)
        except KeyboardInterrupt:  # while the answers were judged
            pass
    print(f"interrupted; go on with: {chaos_command(os.environ)} --resume {job.folder.path}", file=sys.stderr)
    return INTERRUPTED


def chaos_command(environ: Mapping[str, str]) -> str:
    """What the user typed to come here: in the nox session `truefall` is not on their PATH."""
    return "python3 -m nox -s chaos --" if environ.get("NOX_CURRENT_SESSION") == "chaos" else "truefall chaos"
