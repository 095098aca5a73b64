"""`truefall judge-the-judge`: measure the verdict, and the scores it replaces, on labelled answers."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.judge_options import add_judge_options, llm_judge_of
from harness.commands.model_options import add_model_options, entailment_of
from harness.whole_file import write_whole

if TYPE_CHECKING:
    from harness.fidelity.case import Judgement, Similarity
    from harness.fidelity.judge_the_judge import Measured
    from harness.fidelity.labelled import Labelled
    from harness.fidelity.scorer import Scorer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads labelled answers (JSON lines with id, reference, candidate, label and optional prompt, context, lang, "
        "must_keep, must_not, contract, degraded, mode, split), a set of counterexamples such as collapse, or what the "
        "generator of perturbations makes (generated), and prints how well cosine, BERTScore F1, the composite score "
        "and the verdict tell misleading answers from faithful ones, on all rows, by language and by mode. "
        "A lie is accepted unless it is called misleading (called abstained, it is accepted), a truth is rejected "
        "unless it is called faithful (called abstained, it is rejected), and an abstention is recognised when it is "
        "called abstained. Rows that the verdict learned from are counted beside each set."
    )
    parser.add_argument(
        "input",
        nargs="+",
        metavar="FILE|SET",
        help="labelled .jsonl files, or names of sets (collapse, generated, generated_fresh, generated_rewordings)",
    )
    parser.add_argument("--split", choices=("dev", "test"), help="of files and sets with splits only these rows")
    parser.add_argument("--ablation", action="store_true", help="leave out one check at a time; prints Markdown")
    parser.add_argument(
        "--errors", action="store_true", help="list the rows that the verdict got wrong, with its reasons"
    )
    parser.add_argument("--short", action="store_true", help="all rows together only, no languages and no modes")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the reliability of the risk (.png, .svg, .pdf)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="encoder of the scores (default: the packaged all-MiniLM-L6-v2)"
    )
    add_model_options(parser)
    add_judge_options(parser)


def run(args: argparse.Namespace) -> int:
    from harness.fidelity.cross_encoder import shipped_cross_encoder
    from harness.fidelity.judge_the_judge import ablated, judges_of, measure, plain
    from harness.fidelity.llm_judge import unmeasured
    from harness.fidelity.risk import shipped_model
    from harness.fidelity.verdict import decide, heard, heard_wholly, see

    _require_plot(args)
    sets = {shown: _rows(name, args.split) for shown, name in named_apart(args.input).items()}
    asked = entailment_of(args), llm_judge_of(args)
    reader = shipped_cross_encoder(args.device)
    scorers = _scorers(args)
    figures, tables, unasked = [], {}, 0
    try:
        for name, rows in sets.items():
            similarities, fitted = _scored(rows, scorers)
            seen = see([row.case for row in rows], *asked)
            seen = heard_wholly(seen, reader) if args.ablation else heard(seen, fitted, reader, model=shipped_model())
            judged = [decide(one, s, model=shipped_model()) for one, s in zip(seen, fitted, strict=True)]
            unasked += sum(map(unmeasured, judged))
            judges = ablated(seen, fitted) if args.ablation else judges_of(similarities, judged)
            tables[name] = measure(rows, judges)
            figures += [plain(found, name) for found in tables[name]]
            if not args.ablation:
                _print_set(name if len(sets) > 1 else "", rows, judged, tables[name], args)
    finally:
        scorers[0].close()
    _print_ablation(args, tables)
    if args.json:
        write_whole(args.json, json.dumps(figures, ensure_ascii=False, indent=1) + "\n")
    return _complete(unasked)


def named_apart(inputs: Sequence[str]) -> dict[str, str]:
    """Each input once, by a name of its own: without folder and ending where no other input is called so."""
    distinct = list(dict.fromkeys(inputs))
    stems = [Path(name).stem for name in distinct]
    shown = [stem if stems.count(stem) == 1 else name for stem, name in zip(stems, distinct, strict=True)]
    if len(set(shown)) < len(shown):  # a stem may be another input's whole name
        shown = distinct
    return dict(zip(shown, distinct, strict=True))


def _scorers(args: argparse.Namespace) -> list["Scorer"]:
    """That of the scores and, where it is another one, that which the verdict looks through."""
    from harness.fidelity.scorer import Scorer
    from harness.judge import eyes_beside

    scorer = Scorer(args.model, device=args.device)
    eyes = eyes_beside(scorer, args.device)
    return [scorer] if eyes is None else [scorer, eyes]


def _scored(rows: "Sequence[Labelled]", scorers: "Sequence[Scorer]") -> tuple[list["Similarity"], list["Similarity"]]:
    """What is shown, and what the verdict goes by."""
    pairs = [(row.case.reference, row.case.candidate) for row in rows]
    found = [scorer.score(pairs) for scorer in scorers]
    return found[0], found[-1]


def _require_plot(args: argparse.Namespace) -> None:
    from harness.errors import ConfigError

    if args.plot and (args.plot.suffix not in (".png", ".svg", ".pdf") or len(args.input) > 1):
        raise ConfigError(f"--plot {args.plot}: needs one input, and an ending .png, .svg or .pdf")


def _complete(unasked: int) -> int:
    """The exit code: 2 where a judge model was to be asked about rows and had no opinion."""
    if unasked:
        print(f"on {unasked} rows the judge model has no opinion", file=sys.stderr)
    return 2 if unasked else 0


def _rows(name: str, split: str | None) -> list["Labelled"]:
    """The rows of `split`; of a file without splits all of them."""
    from harness.errors import NothingJudged
    from harness.fidelity.labelled import load_labelled

    rows = load_labelled(name)
    chosen = [row for row in rows if split in (None, row.split)] if any(row.split for row in rows) else rows
    if not chosen:
        raise NothingJudged(f"{name} has no rows of split {split!r}; leave --split out to take all")
    return chosen


def _print_set(
    name: str,
    rows: "Sequence[Labelled]",
    judged: "Sequence[Judgement]",
    measured: "Sequence[Measured]",
    args: argparse.Namespace,
) -> None:
    from harness.commands.judge_lines import short_table, table
    from harness.fidelity.learned import told

    if name:
        print(f"\n{name}")
    print(told(rows))
    print("\n".join((short_table if args.short else table)(measured)))
    _print_reliability(rows, judged, args.plot)
    if args.errors:
        _print_errors(rows, judged)


def _print_ablation(args: argparse.Namespace, tables: "dict[str, list[Measured]]") -> None:
    from harness.commands.judge_lines import ablation_table

    if args.ablation:
        print("\n".join(ablation_table(tables)))


def _print_reliability(rows: "Sequence[Labelled]", judged: "Sequence[Judgement]", path: Path | None) -> None:
    from harness.fidelity.case import Label
    from harness.fidelity.reliability import plot, reliability

    if all(row.label is Label.ABSTAINED for row in rows):
        return
    found = reliability(rows, judged)
    print(f"\nthe risk is off by {found.ece:.3f} on average (ECE, ten bins); Brier score {found.brier:.3f}")
    if path:
        plot(found, path, "Reliability of the risk")


def _print_errors(rows: "Sequence[Labelled]", judgements: "Sequence[Judgement]") -> None:
    for row, judged in zip(rows, judgements, strict=True):
        if row.label is not judged.label:
            print(f"\n{row.case.id}: {row.label} called {judged.label} at risk {judged.risk:.2f}")
            print(f"  reference  {_short(row.case.reference)}\n  candidate  {_short(row.case.candidate)}")
            print("\n".join(f"  because    {reason}" for reason in judged.reasons))


def _short(text: str) -> str:
    return " ".join(text.split())[:160]
