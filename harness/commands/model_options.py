"""The options that `truefall score` and `truefall judge-the-judge` share: where models run, and a second opinion."""

import argparse
import re
from pathlib import Path

_DEVICE = re.compile(r"cpu|cuda(:\d+)?")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", type=device, default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    parser.add_argument(
        "--nli",
        type=model_folder,
        metavar="DIR",
        help="a local inference cross-encoder whose contradictions count as findings",
    )


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
