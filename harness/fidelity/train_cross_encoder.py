"""Train a cross-encoder: `python -m harness.fidelity.train_cross_encoder BASE OUT FILE…`, labelled files or sets.

`BASE` is minilm, which learns what misleads, or e5, which learns what abstains as well.

All layers of the packaged encoder are trained, of its embeddings only those that tell the two texts apart. What changed
in each matrix is then kept at a low rank (a truncated singular value decomposition), so that 1 and 11 MB go along and
not 90 each. Of a set with splits the dev rows are taken. Half an hour (minilm) and an hour (e5) on two cores for
10,000 rows.
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

EPOCHS, PAIRS_AT_ONCE = 4, 32
LAYERS_RATE, HEAD_RATE = 8e-5, 1e-3  # highest learning rates, reached after a tenth of the steps
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


def train(rows: Sequence[Row], reader: Reader) -> None:
    """Change the weights of `reader` in place."""
    import torch

    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    layers = []
    for name, weight in reader.encoder.named_parameters():
        learns = name.startswith(("encoder.", "embeddings.token_type_embeddings."))
        weight.requires_grad_(learns)
        layers += [weight] * learns
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
            loss = _loss(reader.logits([row.tokens for row in part]), part)
            optimizer.zero_grad()
            loss.backward()
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
    base, target, *names = arguments
    reader = open_base(base, seed=SEED)
    rows = rows_of(names, reader)
    print(f"{len(rows)} rows, {sum(row.misleads for row in rows):.0f} of them misleading", flush=True)
    train(rows, reader)
    write_adapter(base, Path(target), reader)


if __name__ == "__main__":
    main(sys.argv[1:])
