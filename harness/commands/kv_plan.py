"""`truefall kv-plan`: what the KV cache of a model takes on a device, and how many requests fit at once.

A request fits by the most that it takes while it runs, as the gateway's ledger reserves it: a prefill holds every token
in the sliding layers, too, before their window cuts them.
"""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gateway.damaged import why
from gateway.memory.estimate import DTYPE_BITS, KvShape, kv_bytes, kv_peak_bytes
from harness.errors import ConfigError

DEFAULT_TOKENS = (2048, 4096, 8192, 16384, 32768)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LEVELS = ((0.60, "safe"), (0.50, "controlled"), (0.0, "warning"))  # least share of the device that stays free


class Row(NamedTuple):
    """One length: decimal GB, what is left of the device, and how many fit at once.

    `one_gb` and `batch_gb` are held between two steps; `peak_gb` is the most that one takes, by which it fits.
    """

    tokens: int
    one_gb: float
    peak_gb: float
    batch_gb: float
    left_gb: float
    level: str
    fits: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=Path, help="a model's config.json, or the folder that holds it")
    parser.add_argument("--device-size", type=parse_size, default="80GB", metavar="SIZE", help="such as 80GB (decimal)")
    parser.add_argument("--weights-size", type=parse_size, default="16GB", metavar="SIZE", help="what the weights take")
    parser.add_argument("--margin-size", type=parse_size, default="0GB", metavar="SIZE", help="what has to stay free")
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=DEFAULT_TOKENS, help="lengths, prompt and answer together"
    )
    parser.add_argument("--batch", type=int, default=4, help="requests at once in the third column")
    parser.add_argument("--cache-dtype", choices=sorted(DTYPE_BITS), help="default: the model's own")
    parser.add_argument(
        "--scale-values", type=int, default=0, help="values that share a scale in a quantised cache; 0: no scales"
    )
    parser.add_argument("--block-tokens", type=int, default=1, help="block size of a paged cache (vLLM: 16)")
    parser.add_argument("--tensor-parallel", type=int, default=1, help="devices that share the heads")


def run(args: argparse.Namespace) -> int:
    shape = KvShape.from_config(
        read_config(args.config),
        cache_dtype=args.cache_dtype,
        block_tokens=args.block_tokens,
        tensor_parallel=args.tensor_parallel,
        scale_values=args.scale_values,
    )
    rows = plan(
        shape,
        args.tokens,
        batch=args.batch,
        device_bytes=args.device_size,
        taken_bytes=args.weights_size + args.margin_size,
    )
    print(table(rows, batch=args.batch))
    return 0


def plan(shape: KvShape, lengths: Sequence[int], *, batch: int, device_bytes: int, taken_bytes: int) -> list[Row]:
    """One row per length. `taken_bytes`: weights and margin; raises ConfigError when they leave nothing."""
    free_bytes = device_bytes - taken_bytes
    if free_bytes <= 0:
        raise ConfigError(
            f"weights and margin take {taken_bytes:,} bytes of a device of {device_bytes:,} bytes: nothing is left"
        )
    return [_row(shape, tokens, batch, device_bytes, free_bytes) for tokens in lengths]


def _row(shape: KvShape, tokens: int, batch: int, device_bytes: int, free_bytes: int) -> Row:
    if tokens < 1 or batch < 1:
        raise ConfigError(f"tokens and batch must be 1 or more, got {tokens} and {batch}")
    one, many = kv_bytes(shape, tokens), kv_bytes(shape, tokens, batch)
    left = free_bytes - many
    level = next((name for share, name in _LEVELS if left >= share * device_bytes), "critical (OOM)")
    peak = kv_peak_bytes(shape, tokens)  # the prompt may be all of it
    return Row(tokens, one / 1e9, peak / 1e9, many / 1e9, left / 1e9, level, free_bytes // peak)


def table(rows: Sequence[Row], *, batch: int) -> str:
    """The rows under their headings, columns aligned."""
    heads = ["tokens", "one request GB", f"{batch} requests GB", "left GB", "level", "peak of one GB", "fit by peak"]
    cells = [
        [
            f"{r.tokens:,}",
            *(f"{size_gb:.2f}" for size_gb in (r.one_gb, r.batch_gb, r.left_gb)),
            r.level,
            f"{r.peak_gb:.2f}",
            f"{r.fits:,}",
        ]
        for r in rows
    ]
    widths = [max(len(line[column]) for line in [heads, *cells]) for column in range(len(heads))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [heads, *cells]]
    return "\n".join(lines)


def read_config(path: Path) -> dict[str, Any]:
    """A model's config; raises ConfigError naming the file and what is wrong with it."""
    file = path / "config.json" if path.is_dir() else path
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{file}: there is no such file; name a model's config.json or its folder") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not JSON: {why(error)}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"{file}: must hold a JSON object, holds a {type(config).__name__}")
    return config


def parse_size(text: str) -> int:
    """Bytes from "80GB" (decimal) or "74.5GiB" (binary)."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write such as 80GB or 74.5GiB")
    number, unit, binary = match.groups()
    base = 1024.0 if binary else 1000.0
    bytes_: float = float(number) * base ** _POWERS[unit.lower()]
    return round(bytes_)
