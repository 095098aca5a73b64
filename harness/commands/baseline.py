"""`truefall baseline`: measure what unrelated texts score with an encoder, so that BERTScore can be rescaled."""

import argparse
from pathlib import Path

from harness.commands.model_options import device
from harness.fidelity.model_folder import PACKAGED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Scores random pairs of texts in the same language that have nothing to do with each other, and writes the "
        "mean to a file that `truefall score --baseline` and `baseline` in the [encoder] section of a profile take. "
        "It holds for this encoder (its sha256) and layer only."
    )
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="baseline to write (JSON)")
    parser.add_argument(
        "--model",
        default=PACKAGED,
        metavar="NAME",
        help=f"encoder: a folder or a hub id in the cache (default: {PACKAGED})",
    )
    parser.add_argument("--layer", type=int, metavar="N", help="layer for BERTScore, from 1 (default: the last)")
    parser.add_argument(
        "--texts",
        default="support",
        metavar="FILE|SET",
        help="one text a line, JSON lines with a reference each, or an evaluation set (default: support)",
    )
    parser.add_argument("--pairs", type=int, default=1000, metavar="N", help="random pairs to score (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which pairs are drawn (default: 0)")
    parser.add_argument("--device", type=device, default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument(
        "--batch-tokens", type=int, default=4096, metavar="N", help="tokens in one pass (default: 4096)"
    )


def run(args: argparse.Namespace) -> int:
    from random import Random

    from harness.errors import ConfigError
    from harness.fidelity.baseline import compute_baseline, drawn, load_texts
    from harness.fidelity.model_folder import encoder_folder
    from harness.fidelity.scorer import Scorer

    if not args.output.resolve().parent.is_dir():
        raise FileNotFoundError(2, "no such folder for --output", str(args.output.parent))
    texts = load_texts(args.texts)
    try:
        drawn(texts, args.pairs, Random(args.seed))
    except ConfigError as error:
        raise ConfigError(f"--texts {args.texts}, --pairs {args.pairs}: {error}") from None
    folder = encoder_folder(args.model)
    scorer = Scorer(folder, args.layer, args.device, args.batch_tokens, precision=args.precision)
    measured = compute_baseline(scorer, texts, pairs=args.pairs, rng=Random(args.seed))
    measured.save(args.output)
    print(
        f"{args.output}: unrelated texts score P {measured.p:.3f}, R {measured.r:.3f}, F1 {measured.f1:.3f} "
        f"({measured.pairs} random pairs, {args.model}, layer {measured.layer})"
    )
    return 0
