"""`truefall score`: score and judge pairs of reference and candidate from a file."""

import argparse
from pathlib import Path

from harness.commands.judge_options import add_judge_options, llm_judge_of
from harness.commands.model_options import add_model_options, entailment_of
from harness.fidelity.model_folder import PACKAGED

INTERRUPTED = 130  # exit code of a command that was stopped from the keyboard


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads one JSON object a line (id, reference, candidate; optional prompt, context, lang, must_keep, must_not, "
        "contract, degraded) and writes one a line in the same order (id, bertscore_p, bertscore_r, bertscore_f1, "
        "cosine, composite, verdict, risk, reasons). degraded says whether the answer was marked as degraded: one that "
        "only says that it is no answer is abstained if it was (true), and misleading if it was not (false); missing "
        "or null, it is taken as marked. Exit 2 when a row was broken, or a judge model had no opinion on one; all "
        "others are written all the same."
    )
    parser.add_argument("--input", required=True, type=Path, metavar="FILE", help="JSON lines to read")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="JSON lines to write")
    parser.add_argument(
        "--model",
        default=PACKAGED,
        metavar="NAME",
        help=f"encoder of the scores: a folder or a hub id in the cache (default: {PACKAGED}, always the verdict's)",
    )
    parser.add_argument("--layer", type=int, metavar="N", help="layer for BERTScore, from 1 (default: the last)")
    add_model_options(parser)
    add_judge_options(parser)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument(
        "--batch-tokens", type=int, default=4096, metavar="N", help="tokens in one pass (default: 4096)"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep encoded texts here (default: nowhere)")
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="rescale BERTScore with this model's baseline, which `truefall baseline` makes",
    )


def run(args: argparse.Namespace) -> int:
    if not args.input.is_file():
        raise FileNotFoundError(2, "no such file", str(args.input))
    from harness.fidelity.model_folder import encoder_folder
    from harness.fidelity.score_file import ScoreFile
    from harness.fidelity.scorer import Scorer
    from harness.judge import eyes_beside, verdict_of

    llm_judge = llm_judge_of(args)
    scorer = Scorer(
        encoder_folder(args.model),
        args.layer,
        args.device,
        args.batch_tokens,
        args.cache,
        precision=args.precision,
        baseline=args.baseline,
    )
    eyes = eyes_beside(scorer, args.device, args.cache)
    try:
        entailment = entailment_of(args)
        judged_by = verdict_of(args.device, eyes=eyes, entailment=entailment, llm_judge=llm_judge)
        return ScoreFile(scorer=scorer, judge=judged_by).run(args.input, args.output)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        scorer.close()
        if eyes:
            eyes.close()
