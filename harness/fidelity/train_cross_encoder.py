"""Train the cross-encoder: `python -m harness.fidelity.train_cross_encoder OUT FILE…`, labelled files or sets.

All layers of the packaged encoder are trained, its embeddings are not. What changed in each matrix is then kept at a
low rank (a truncated singular value decomposition), so that 2 MB go along and not 90. Of a set with splits the dev rows
are taken; abstentions are left out. Half an hour on two cores for 8,000 rows.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.fidelity.case import Label
from harness.fidelity.cross_encoder import Reader, open_base, write_adapter
from harness.fidelity.labelled import load_labelled
from harness.fidelity.pair_tokens import PairTokens

EPOCHS, PAIRS_AT_ONCE = 5, 32
LAYERS_RATE, HEAD_RATE = 1e-4, 1e-3  # highest learning rates, reached after a tenth of the steps
WEIGHT_DECAY, SMOOTHING, CLIP = 0.01, 0.04, 1.0
COPIES = 8  # every eighth reference is a faithful answer to itself, too
SEED = 20


class Row(NamedTuple):
    """One pair to learn from."""

    tokens: PairTokens
    misleads: float  # 0 or 1


def rows_of(names: Sequence[str], reader: Reader) -> list[Row]:
    """What the files hold, and some references as answers to themselves."""
    labelled = [
        row
        for name in names
        for row in load_labelled(name)
        if row.split in ("", "dev") and row.label is not Label.ABSTAINED
    ]
    pairs = [(row.case.reference, row.case.candidate) for row in labelled]
    told = [float(row.label is Label.MISLEADING) for row in labelled]
    references = sorted({reference for reference, _ in pairs})
    random.Random(SEED).shuffle(references)
    copied = references[: len(references) // COPIES]
    read = reader.tokens.pairs([*pairs, *((one, one) for one in copied)])
    return [Row(one, label) for one, label in zip(read, [*told, *[0.0] * len(copied)], strict=True) if one is not None]


def batches(rows: Sequence[Row], rng: random.Random) -> list[list[Row]]:
    """All rows once, those of about one length together, in random order; what is left over waits for another epoch."""
    order = sorted(rows, key=lambda row: len(row.tokens.ids) + rng.random() * 12)
    parts = [order[i : i + PAIRS_AT_ONCE] for i in range(0, len(order) - PAIRS_AT_ONCE + 1, PAIRS_AT_ONCE)]
    rng.shuffle(parts)
    return parts


def train(rows: Sequence[Row], reader: Reader) -> None:
    """Change the weights of `reader` in place."""
    import torch

    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    layers = [weight for name, weight in reader.encoder.named_parameters() if not name.startswith("embeddings.")]
    for name, weight in reader.encoder.named_parameters():
        weight.requires_grad_(not name.startswith("embeddings."))
    groups = [{"params": layers, "lr": LAYERS_RATE}, {"params": reader.head.parameters(), "lr": HEAD_RATE}]
    optimizer: Any = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)
    steps = EPOCHS * (len(rows) // PAIRS_AT_ONCE)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=[LAYERS_RATE, HEAD_RATE], total_steps=steps + 1, pct_start=0.1
    )
    reader.encoder.train()
    for epoch in range(EPOCHS):
        lost = 0.0
        parts = batches(rows, rng)
        for number, part in enumerate(parts, 1):
            wanted = torch.tensor([row.misleads for row in part]) * (1 - SMOOTHING) + SMOOTHING / 2
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                reader.logits([row.tokens for row in part]), wanted
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_([*layers, *reader.head.parameters()], CLIP)
            optimizer.step()
            rate.step()
            lost += float(loss.detach())
            if number % 20 == 0 or number == len(parts):
                print(
                    f"epoch {epoch + 1} of {EPOCHS}, step {number} of {len(parts)}: loss {lost / number:.3f}",
                    flush=True,
                )
    reader.encoder.eval()


def main(arguments: Sequence[str]) -> None:
    target, *names = arguments
    reader = open_base(seed=SEED)
    rows = rows_of(names, reader)
    print(f"{len(rows)} rows, {sum(row.misleads for row in rows):.0f} of them misleading", flush=True)
    train(rows, reader)
    write_adapter(Path(target), reader)


if __name__ == "__main__":
    main(sys.argv[1:])
