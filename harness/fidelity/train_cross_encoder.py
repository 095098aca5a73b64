"""Train a cross-encoder: `python -m harness.fidelity.train_cross_encoder BASE OUT FILE…`, labelled files or sets.

`BASE` is minilm, which learns what misleads, or e5, which learns what abstains as well. With `--start ADAPTER --rate
RATE` one that is trained learns on, for one pass; `--rehearse SHARE` adds that share of `dev.jsonl` and `collapse`, so
that it does not forget.

All layers of the packaged encoder are trained, of its embeddings only those that tell the two texts apart. What changed
in each matrix is then kept at a low rank (a truncated singular value decomposition), so that 1 and 11 MB go along and
not 90 each. Of a set with splits the dev rows are taken. Half an hour (minilm) and an hour (e5) on two cores for
10,000 rows.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.fidelity.case import Label
from harness.fidelity.cross_encoder import BASES, Reader, open_base, with_adapter, write_adapter
from harness.fidelity.labelled import DATA, load_labelled
from harness.fidelity.pair_tokens import PairTokens

PAIRS_AT_ONCE = 32
HEAD_TIMES = 8  # as fast as the layers the head of a trained one learns
WEIGHT_DECAY, SMOOTHING, CLIP = 0.01, 0.04, 1.0
COPIES = 8  # every eighth reference is a faithful answer to itself, too
SEED = 20


class Row(NamedTuple):
    """One pair to learn from."""

    tokens: PairTokens
    misleads: float  # 0 or 1; of an abstention it is not asked
    abstains: float  # 0 or 1


def rows_of(names: Sequence[str], reader: Reader) -> list[Row]:
    """What the files hold, and some references as answers to themselves."""
    labelled = [row for name in names for row in load_labelled(name) if row.split in ("", "dev")]
    pairs = [(row.case.reference, row.case.candidate) for row in labelled]
    told = [(float(row.label is Label.MISLEADING), float(row.label is Label.ABSTAINED)) for row in labelled]
    references = sorted({reference for reference, _ in pairs})
    random.Random(SEED).shuffle(references)
    copied = references[: len(references) // COPIES]
    read = reader.tokens.pairs([*pairs, *((one, one) for one in copied)])
    told += [(0.0, 0.0)] * len(copied)
    return [Row(one, *labels) for one, labels in zip(read, told, strict=True) if one is not None]


def batches(rows: Sequence[Row], rng: random.Random) -> list[list[Row]]:
    """All rows once, those of about one length together, in random order; what is left over waits for another epoch."""
    order = sorted(rows, key=lambda row: len(row.tokens.ids) + rng.random() * 12)
    parts = [order[i : i + PAIRS_AT_ONCE] for i in range(0, len(order) - PAIRS_AT_ONCE + 1, PAIRS_AT_ONCE)]
    rng.shuffle(parts)
    return parts


class Schedule(NamedTuple):
    """Passes over all rows, and the highest learning rates, reached after a tenth of the steps."""

    epochs: int = 4
    layers_rate: float = 8e-5
    head_rate: float = 1e-3


FROM_NOTHING = Schedule()


def train(rows: Sequence[Row], reader: Reader, schedule: Schedule = FROM_NOTHING) -> None:
    """Change the weights of `reader` in place."""
    import torch

    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    layers = []
    for name, weight in reader.encoder.named_parameters():
        learns = name.startswith(("encoder.", "embeddings.token_type_embeddings."))
        weight.requires_grad_(learns)
        layers += [weight] * learns
    groups = [
        {"params": layers, "lr": schedule.layers_rate},
        {"params": reader.head.parameters(), "lr": schedule.head_rate},
    ]
    optimizer: Any = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)
    steps = schedule.epochs * (len(rows) // PAIRS_AT_ONCE)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=[schedule.layers_rate, schedule.head_rate], total_steps=steps + 1, pct_start=0.1
    )
    reader.encoder.train()
    for epoch in range(schedule.epochs):
        lost = 0.0
        parts = batches(rows, rng)
        for number, part in enumerate(parts, 1):
            loss = _loss(reader.logits([row.tokens for row in part]), part)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*layers, *reader.head.parameters()], CLIP)
            optimizer.step()
            rate.step()
            lost += float(loss.detach())
            if number % 20 == 0 or number == len(parts):
                print(
                    f"epoch {epoch + 1} of {schedule.epochs}, step {number} of {len(parts)}: loss {lost / number:.3f}",
                    flush=True,
                )
    reader.encoder.eval()


def _loss(logits: Any, part: Sequence[Row]) -> Any:
    """Cross-entropy of both questions; whether an abstention misleads is not asked."""
    import torch

    labels = torch.tensor([(row.misleads, row.abstains) for row in part])
    asked = torch.stack([1 - labels[:, 1], torch.ones(len(part))], 1)
    labels, asked = labels[:, : logits.shape[1]], asked[:, : logits.shape[1]]
    wanted = labels * (1 - SMOOTHING) + SMOOTHING / 2
    told = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, weight=asked, reduction="none")
    return told.sum() / len(part)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m harness.fidelity.train_cross_encoder", description=__doc__)
    parser.add_argument("base", choices=tuple(BASES))
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="+", metavar="FILE|SET")
    parser.add_argument("--start", type=Path, metavar="ADAPTER", help="what it has learned so far")
    parser.add_argument("--rate", type=float, default=6e-5, help="highest learning rate with --start (default 6e-5)")
    parser.add_argument("--rehearse", type=float, default=0.0, metavar="SHARE", help="of dev.jsonl and collapse")
    args = parser.parse_args(arguments)
    reader = with_adapter(args.base, args.start) if args.start else open_base(args.base, seed=SEED)
    rows = rows_of(args.names, reader)
    if args.rehearse:
        known = rows_of([str(DATA / "dev.jsonl"), "collapse"], reader)
        random.Random(SEED).shuffle(known)
        rows += known[: int(len(known) * args.rehearse)]
    print(f"{len(rows)} rows, {sum(row.misleads for row in rows):.0f} of them misleading", flush=True)
    train(rows, reader, Schedule(1, args.rate, HEAD_TIMES * args.rate) if args.start else FROM_NOTHING)
    write_adapter(args.base, args.out, reader)


if __name__ == "__main__":
    main(sys.argv[1:])
