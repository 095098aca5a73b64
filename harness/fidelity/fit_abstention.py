"""Fit anew what tells an abstention in e5: `python -m harness.fidelity.fit_abstention ADAPTER OUT FILE…`.

`ADAPTER` is what `train_cross_encoder` wrote. Its layers stay as they are, and so does what tells a lie; only the
last line, from the two tokens that it looks at to "does it abstain?", is fitted to the labelled rows. Of rows with
splits those of `train` and `dev` are taken, of those without a split one in five, and every abstention.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.fidelity.case import Label
from harness.fidelity.cross_encoder import HEAD, LARGE, TOKENS_AT_ONCE, Reader, with_adapter
from harness.fidelity.labelled import Labelled, load_labelled
from harness.fidelity.train_cross_encoder import SMOOTHING
from harness.fidelity.windows import batches

ABSTAINS = 1  # its line of the head
EVERY = 5  # of the answers without a split that do not abstain
SPLIT_WEIGHT = 3.0  # of a row with a split: few, and of another kind of author
PULL = 0.001  # towards the line as it was trained


def chosen(rows: Sequence[Labelled]) -> list[Labelled]:
    """What is learned from, of one file."""
    plain = [row for row in rows if not row.split]
    others = [row for row in plain if row.label is not Label.ABSTAINED][::EVERY]
    return [
        *(row for row in plain if row.label is Label.ABSTAINED),
        *others,
        *(row for row in rows if row.split in ("train", "dev")),
    ]


def looked_at(reader: Reader, rows: Sequence[Labelled]) -> tuple[Any, list[Labelled]]:
    """float32[rows, 2 × dims] that the head is given, and the rows that are short enough to be read."""
    import torch

    tokens = reader.tokens.pairs([(row.case.reference.strip(), row.case.candidate.strip()) for row in rows])
    read = [(row, one) for row, one in zip(rows, tokens, strict=True) if one is not None]
    found = torch.zeros(len(read), reader.head.in_features)
    given: list[Any] = []
    hook = reader.head.register_forward_pre_hook(lambda _, values: given.append(values[0]))
    for group in batches([len(one.ids) for _, one in read], TOKENS_AT_ONCE):
        with torch.inference_mode():
            reader.logits([read[i][1] for i in group])
        found[group] = given.pop()
    hook.remove()
    return found, [row for row, _ in read]


def fit(values: Any, rows: Sequence[Labelled], reader: Reader) -> None:
    """Change the line in place: logistic regression, pulled towards what it was."""
    import torch

    told = torch.tensor([float(row.label is Label.ABSTAINED) for row in rows]) * (1 - SMOOTHING) + SMOOTHING / 2
    weight = torch.tensor([SPLIT_WEIGHT if row.split else 1.0 for row in rows])
    start = reader.head.weight[ABSTAINS].detach().clone()
    change = torch.zeros_like(start, requires_grad=True)
    bias = reader.head.bias[ABSTAINS].detach().clone().requires_grad_()
    optimizer: Any = torch.optim.LBFGS([change, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimizer.zero_grad()
        odds = values @ (start + change) + bias
        each = torch.nn.functional.binary_cross_entropy_with_logits(odds, told, reduction="none")
        lost: Any = (weight * each).sum() / weight.sum() + PULL * (change**2).sum()
        lost.backward()
        return lost

    optimizer.step(loss)
    with torch.no_grad():
        reader.head.weight[ABSTAINS], reader.head.bias[ABSTAINS] = start + change, bias


def write_head(adapter: Path, target: Path, reader: Reader) -> None:
    """The adapter with another head."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    with safe_open(adapter, framework="pt", device="cpu") as file:
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    for name, weight in reader.head.state_dict().items():
        kept[f"{HEAD}{name}"] = weight.half().contiguous()
    save_file(kept, target, metadata=metadata)


def main(arguments: Sequence[str]) -> None:
    adapter, target, *names = arguments
    reader = with_adapter(LARGE, Path(adapter))
    values, rows = looked_at(reader, [row for name in names for row in chosen(load_labelled(name))])
    print(f"{len(rows)} rows, {sum(row.label is Label.ABSTAINED for row in rows)} of them abstain", flush=True)
    fit(values, rows, reader)
    write_head(Path(adapter), Path(target), reader)


if __name__ == "__main__":
    main(sys.argv[1:])
