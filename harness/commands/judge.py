"""`truefall judge-the-judge`: measure the verdict, and the scores it replaces, on labelled answers."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.fidelity.case import Similarity
    from harness.fidelity.judge_the_judge import Measured, Range
    from harness.fidelity.labelled import Labelled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads labelled answers (JSON lines with id, reference, candidate, label and optional prompt, context, lang, "
        "must_keep, must_not, contract, degraded, mode, split) or a set of counterexamples such as collapse, and "
        "prints how well cosine, BERTScore F1, the composite score and the verdict tell misleading answers from "
        "faithful ones."
    )
    parser.add_argument("input", metavar="FILE|SET", help="a labelled .jsonl file, or the name of a set (collapse)")
    parser.add_argument("--split", choices=("dev", "test"), help="only the rows of this split")
    parser.add_argument("--ablation", action="store_true", help="leave out one check at a time")
    parser.add_argument(
        "--errors", action="store_true", help="list the rows that the verdict got wrong, with its reasons"
    )
    parser.add_argument("--by-mode", action="store_true", help="a line per mode as well")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the reliability of the risk (.png, .svg, .pdf)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument("--model", type=Path, metavar="DIR", help="encoder (default: the packaged all-MiniLM-L6-v2)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")


def run(args: argparse.Namespace) -> int:
    from harness.errors import ConfigError, NothingJudged
    from harness.fidelity.judge_the_judge import ablated, judges_of, measure
    from harness.fidelity.labelled import load_labelled
    from harness.fidelity.scorer import Scorer

    if args.plot and args.plot.suffix not in (".png", ".svg", ".pdf"):
        raise ConfigError(f"--plot {args.plot}: the ending has to be .png, .svg or .pdf")
    rows = [row for row in load_labelled(args.input) if args.split in (None, row.split)]
    if not rows:
        raise NothingJudged(f"{args.input} has no rows of split {args.split!r}; leave --split out to take all")
    scorer = Scorer(args.model, device=args.device)
    try:
        similarities = scorer.score([(row.case.reference, row.case.candidate) for row in rows])
    finally:
        scorer.close()
    measured = measure(rows, ablated(rows, similarities) if args.ablation else judges_of(rows, similarities))
    modes = {row.mode for row in rows}
    shown = [m for m in measured if args.by_mode or m.group not in modes]
    print("\n".join(table([m for m in shown if m.group == "all"] if args.ablation else shown)))
    if not args.ablation:
        _print_reliability(rows, similarities, args.plot)
    if args.errors:
        _print_errors(rows, similarities)
    if args.json:
        args.json.write_text(json.dumps([_plain(m) for m in measured], ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0


def _print_reliability(rows: "Sequence[Labelled]", similarities: "Sequence[Similarity]", path: Path | None) -> None:
    from harness.fidelity.case import Label
    from harness.fidelity.reliability import plot, reliability
    from harness.fidelity.verdict import judge

    if all(row.label is Label.ABSTAINED for row in rows):
        return
    found = reliability(rows, judge([row.case for row in rows], similarities))
    print(f"\nthe risk is off by {found.ece:.3f} on average (ECE, ten bins); Brier score {found.brier:.3f}")
    if path:
        plot(found, path, "Reliability of the risk")


def _print_errors(rows: "Sequence[Labelled]", similarities: "Sequence[Similarity]") -> None:
    from harness.fidelity.verdict import judge

    for row, judged in zip(rows, judge([row.case for row in rows], similarities), strict=True):
        if row.label is not judged.label:
            print(f"\n{row.case.id}: {row.label} called {judged.label} at risk {judged.risk:.2f}")
            print(f"  reference  {_short(row.case.reference)}\n  candidate  {_short(row.case.candidate)}")
            print("\n".join(f"  because    {reason}" for reason in judged.reasons))


def _short(text: str) -> str:
    return " ".join(text.split())[:160]


def table(measured: Sequence["Measured"]) -> list[str]:
    """The figures as lines of text, one per judge and group."""
    width = max(len(m.judge) for m in measured)
    head = f"{'group':18} {'judge':{width}} {'lies':>5} {'true':>5} {'abst':>5}  "
    lines = [f"{head}{'AUROC':18} {'lies accepted':18} {'truths rejected':18} abstentions recognised"]
    for m in measured:
        figures = " ".join(f"{_shown(r):18}" for r in (m.auroc, m.accepted, m.rejected, m.recognised))
        lines.append(
            f"{m.group:18} {m.judge:{width}} {m.n_misleading:5} {m.n_faithful:5} {m.n_abstained:5}  {figures}".rstrip()
        )
    return lines


def _shown(figure: "Range | None") -> str:
    return "-" if figure is None else f"{figure.value:.3f} [{figure.low:.2f}, {figure.high:.2f}]"


def _plain(measured: "Measured") -> dict[str, object]:
    from dataclasses import asdict

    return {k: v._asdict() if hasattr(v, "_asdict") else v for k, v in asdict(measured).items()}
