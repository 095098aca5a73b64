"""`truefall gatekeeper`: train the small classifier L1, and measure L0, L1 and L2 on questions that it never saw."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.gatekeepers.measure import Measured
    from harness.gatekeepers.served_model import Server


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="train|eval")
    train = actions.add_parser("train", help="write a classifier for answers.classifier in the gateway's config")
    train.add_argument("--output", type=Path, required=True, metavar="FILE", help="its sha256 goes to FILE.sha256")
    train.add_argument("--responses", type=Path, metavar="FILE", help="TOML: what to answer to each intent")
    train.add_argument("--all", action="store_true", help="learn from both halves; then nothing is left to measure on")
    measure = actions.add_parser("eval", help="accuracy and coverage of each level on the held-out half")
    measure.add_argument("--model", type=Path, required=True, metavar="FILE", help="from `train` with the same seed")
    measure.add_argument("--rules", type=Path, metavar="FILE", help="the rules of L0 (TOML)")
    measure.add_argument("--min-confidence", type=float, default=0.85, metavar="SHARE", help="of L1 (default 0.85)")
    measure.add_argument("--l2-url", metavar="URL", help="an OpenAI-compatible server to measure as L2, with /v1")
    measure.add_argument("--l2-model", metavar="NAME", help="its model")
    measure.add_argument("--l2-serve", metavar="NAME", help="serve this packaged model meanwhile and measure it as L2")
    measure.add_argument("--l2-most", type=int, metavar="N", help="ask L2 the first N questions only (default: all)")
    measure.add_argument(
        "--l2-timeout-s", type=float, default=60.0, metavar="S", help="later is no answer (default 60)"
    )
    for action in (train, measure):
        action.add_argument(
            "--evalset", default="support", metavar="SET", help='a set, "questions", or a .jsonl (default support)'
        )
        action.add_argument("--seed", type=int, default=7, help="of the split in two halves (default 7)")


def run(args: argparse.Namespace) -> int:
    return _train(args) if args.action == "train" else _eval(args)


def _train(args: argparse.Namespace) -> int:
    from gateway.answers.gatekeepers import load_classifier
    from gateway.clock import SystemClock
    from harness.gatekeepers.labelled import halves, load_questions
    from harness.gatekeepers.measure import best_guess, by_classifier, measure
    from harness.gatekeepers.responses import load_responses
    from harness.gatekeepers.train import train, write

    questions = load_questions(args.evalset)
    split = halves(questions, seed=args.seed)
    learned = questions if args.all else split.training
    model = train(
        learned,
        seed=args.seed,
        trained_on=f"{args.evalset}, {len(learned)} of {len(questions)} questions, seed {args.seed}",
        responses=load_responses(args.responses) if args.responses else {},
    )
    digest = write(model, args.output)
    print(f"{args.output}: {len(model.classes)} intents, {len(learned)} questions, sha256 {digest}")
    if not args.all:
        classifier, now_s = load_classifier(args.output), SystemClock().now_s
        print(_line(measure("L1 always", best_guess(classifier), split.held_out, now_s=now_s)))
        print(_line(measure("L1 at 0.85", by_classifier(classifier, min_confidence=0.85), split.held_out, now_s=now_s)))
    return 0


def _eval(args: argparse.Namespace) -> int:
    """Raises HarnessError where the options of L2 do not fit together."""
    from harness.gatekeepers.served_model import Server, serving

    by_url = args.l2_url is not None or args.l2_model is not None
    if by_url and (args.l2_url is None or args.l2_model is None):
        raise HarnessError("--l2-url and --l2-model go together: the server, and which of its models")
    if by_url and args.l2_serve is not None:
        raise HarnessError("--l2-url and --l2-serve both name L2; there is one")
    if args.l2_most is not None and args.l2_most < 1:
        raise HarnessError(f"--l2-most is {args.l2_most}, must be at least 1")
    if not args.l2_timeout_s > 0:
        raise HarnessError(f"--l2-timeout-s is {args.l2_timeout_s:g}, must be above 0")
    if args.l2_serve is not None:
        with serving(args.l2_serve) as server:
            return _measure(args, server)
    return _measure(args, Server(args.l2_url, args.l2_model) if by_url else None)


def _measure(args: argparse.Namespace, l2: "Server | None") -> int:
    """Every level on the whole held-out half; L2 on as much of it as `--l2-most` says."""
    from gateway.answers.gatekeepers import load_classifier
    from gateway.answers.rules import load_rules
    from gateway.clock import SystemClock
    from harness.gatekeepers.by_model import by_model
    from harness.gatekeepers.labelled import halves, load_questions
    from harness.gatekeepers.measure import best_guess, by_classifier, by_rules, measure, one_after_the_other

    held_out = halves(load_questions(args.evalset), seed=args.seed).held_out
    classifier = load_classifier(args.model)
    levels = {f"L1 at {args.min_confidence}": by_classifier(classifier, min_confidence=args.min_confidence)}
    if args.rules:
        levels = {"L0 rules": by_rules(load_rules(args.rules)), **levels}
    now_s = SystemClock().now_s
    for name, level in {**levels, "L1 always": best_guess(classifier)}.items():
        print(_line(measure(name, level, held_out, now_s=now_s)), flush=True)
    asked = held_out
    if l2 is not None:
        asked = held_out[: args.l2_most]
        intents = sorted({question.intent for question in held_out})
        levels["L2 model"] = by_model(l2.url, l2.model, intents, timeout_s=args.l2_timeout_s, say=_progress)
        print(_line(measure("L2 model", levels["L2 model"], asked, now_s=now_s)), flush=True)
    together = measure("together", one_after_the_other(list(levels.values())), asked, now_s=now_s)
    print(_line(together).rpartition(", P95")[0])  # L2 has been asked already: its time would not be in it
    return 0


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _line(measured: "Measured") -> str:
    right = "no answer" if measured.accuracy is None else f"{measured.accuracy:.1%} right"
    share = f"{measured.answered} of {measured.asked} answered ({measured.coverage:.0%})"
    return f"{measured.name:<12} {share}, {right}, P95 {measured.p95_ms:.2f} ms"
