"""`truefall ab RUN_A RUN_B`: compare two degradation policies on the same items."""

import argparse
import math
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compares the answers under faults of two runs with the same items, seed and models, request "
        "by request, and says in one sentence which policy to choose. Writes ab.html and ab.json. "
        "Exit 0 decided, 3 undecided, 2 not comparable."
    )
    parser.add_argument("run_a", metavar="RUN_A", type=Path, help="run folder of policy A")
    parser.add_argument("run_b", metavar="RUN_B", type=Path, help="run folder of policy B")
    parser.add_argument(
        "--events",
        type=Path,
        metavar="CSV",
        help="what users did: time,policy,item_id,impressions,clicks,csat (ISO 8601; A or B; csat in [0, 1] or blank)",
    )
    parser.add_argument(
        "--load",
        type=share,
        default=0.0,
        metavar="SHARE",
        help="load at which to weigh, as a share of the peak: the semantic weight is 1 at 0 and falls to 0.6 at 1; the "
        "business weight follows the variance of the last hour's CTR, whatever the load (default 0)",
    )
    parser.add_argument(
        "--margin",
        type=share,
        default=0.05,
        metavar="SHARE",
        help="most that a policy chosen for other reasons may exceed the share of misleading items (default 0.05)",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: results/ab-<A>-<B>)")
    parser.add_argument("--judge-again", action="store_true", help="score and judge the answers of both runs anew")


def run(args: argparse.Namespace) -> int:
    from harness.ab import compare, conclude
    from harness.ab.events import read_events
    from harness.ab.runs import policy_name, read_answers, require_comparable, require_same_judge, same_policy
    from harness.gate_run import judge_locked
    from harness.report.ab import Sides, show, write_ab
    from harness.store import RunFolder

    a, b = RunFolder.open(args.run_a), RunFolder.open(args.run_b)
    require_comparable(a, b)
    scores_a, scores_b = (judge_locked(folder.path, again=args.judge_again) for folder in (a, b))
    require_same_judge(a.path / scores_a, b.path / scores_b)
    answers_a, answers_b = read_answers(a, scores_a), read_answers(b, scores_b)
    items = {answer.item_id for answer in (*answers_a, *answers_b)}
    events = read_events(args.events, items) if args.events else []
    found = compare(answers_a, answers_b, events, load=args.load)
    conclusion = conclude(found, margin=args.margin)
    sides = Sides(
        run_a=a.path.name, run_b=b.path.name, policy_a=policy_name(a), policy_b=policy_name(b), same=same_policy(a, b)
    )
    out = args.output or Path("results") / f"ab-{a.path.resolve().name}-{b.path.resolve().name}"
    show(found, conclusion, sides)
    print(write_ab(out, found, conclusion, sides))
    return conclusion.exit_code


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; it has to be in [0, 1]")
    return value
