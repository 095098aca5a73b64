"""The options that `truefall score` and `truefall judge-the-judge` share: where models run, and a second opinion."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigError
from harness.fidelity.entailment import TRUST

if TYPE_CHECKING:
    from harness.fidelity.entailment import Entailment

_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", type=device, default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    parser.add_argument(
        "--nli",
        type=model_folder,
        metavar="DIR",
        help="a local inference cross-encoder whose contradictions count",
    )
    parser.add_argument(
        "--nli-trust",
        type=trust,
        metavar="SHARE",
        help="risk, in (0, 1], of an answer that it is sure contradicts (one that it is less sure of counts half; "
        f"default: {TRUST:g})",
    )


def entailment_of(args: argparse.Namespace) -> "Entailment | None":
    """The inference model that the options name. Raises ConfigError for a trust in none, ModelError."""
    if not args.nli:
        if args.nli_trust:
            raise ConfigError("--nli-trust: needs --nli")
        return None
    from harness.fidelity.entailment import Entailment

    return Entailment(args.nli, device=args.device, trust=args.nli_trust or TRUST)


def trust(text: str) -> float:
    """Raises ArgumentTypeError unless it is in (0, 1]."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share in (0, 1]")
    return share


def device(text: str) -> str:
    """Raises ArgumentTypeError for what is no device; whether it is there, the encoder says."""
    if _DEVICE.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no device; use cpu, cuda or cuda:N")
    return text


def model_folder(text: str) -> Path:
    """Raises ArgumentTypeError for what is no folder with a config.json."""
    if not (Path(text) / "config.json").is_file():
        raise argparse.ArgumentTypeError(f"{text}: no model folder: config.json is missing")
    return Path(text)
