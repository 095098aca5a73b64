"""AUROC of Chinese truths above lies by BERTScore F1 and by the cosine of mean tokens, layer by layer, two encoders.

`python -m harness.fidelity.measure_layers [ROWS]`: 600 of `data/dev.jsonl`, seed 0; docs/design/fidelity-scores.md.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.bertscore import bertscore
from harness.fidelity.case import Label
from harness.fidelity.embedding import cosine
from harness.fidelity.encoder import Encoded, unit_rows
from harness.fidelity.labelled import DATA, Labelled, load_labelled
from harness.fidelity.model_folder import encoder_path, load
from harness.fidelity.packaged_e5 import open_e5

ROWS, SEED, PAIRS_AT_ONCE = 600, 0, 32
Read = Callable[[Sequence[str]], list[list[int]]]  # texts to token ids, the two special ones included


def minilm() -> tuple[Read, Any]:
    tokenizer, model = load(encoder_path(), device="cpu", precision="float32")
    return lambda texts: list(tokenizer(list(texts), truncation=False, padding=False)["input_ids"]), model


def e5() -> tuple[Read, Any]:
    tokenizer, encoder, begin, end, _ = open_e5()
    encode = partial(tokenizer.encode_batch_fast, add_special_tokens=False)
    return lambda texts: [[begin, *out.ids, end] for out in encode(list(texts))], encoder


def by_layer(rows: Sequence[list[int]], model: Any) -> list[list[Encoded]]:
    """Each text as every layer sees it, the first layer first."""
    import torch

    more = [max(map(len, rows)) - len(row) for row in rows]
    ids = torch.tensor([row + [0] * pad for row, pad in zip(rows, more, strict=True)])
    mask = torch.tensor([[1] * len(row) + [0] * pad for row, pad in zip(rows, more, strict=True)])
    with torch.inference_mode():
        layers = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[1:]
    return [[_seen(row, layer[at, : len(row)].numpy()) for at, row in enumerate(rows)] for layer in layers]


def _seen(row: list[int], hidden: NDArray[np.float32]) -> Encoded:
    content, spans = np.array([False, *[True] * (len(row) - 2), False]), np.zeros((len(row), 2), dtype=np.int32)
    mean = unit_rows(hidden.mean(axis=0)[None, :])[0]
    return Encoded(ids=np.array(row), spans=spans, content=content, tokens=unit_rows(hidden), sentence=mean)


def scores(rows: Sequence[Labelled], read: Read, model: Any) -> NDArray[np.float64]:
    """float64[layers, 2, rows]: BERTScore F1 and cosine."""
    blocks = []
    for start in range(0, len(rows), PAIRS_AT_ONCE):
        part = [row.case for row in rows[start : start + PAIRS_AT_ONCE]]
        layers = by_layer(read([text for case in part for text in (case.reference, case.candidate)]), model)
        pairs = [list(zip(texts[::2], texts[1::2], strict=True)) for texts in layers]
        blocks.append([[[bertscore(a, b).f1, cosine(a.sentence, b.sentence)] for a, b in layer] for layer in pairs])
    return np.concatenate([np.array(block) for block in blocks], axis=1).transpose(0, 2, 1)


def main(arguments: Sequence[str]) -> None:
    from sklearn.metrics import roc_auc_score

    told = [row for row in load_labelled(str(DATA / "dev.jsonl")) if row.label is not Label.ABSTAINED]
    known = [row for row in told if row.case.lang == "zh" and row.case.candidate.strip()]
    rows = Random(SEED).sample(known, int(arguments[0]) if arguments else ROWS)
    truth = np.array([row.label is Label.FAITHFUL for row in rows])
    for name, (read, model) in {"all-MiniLM-L6-v2": minilm(), "multilingual-e5-small": e5()}.items():
        cells = [[roc_auc_score(truth, one) for one in layer] for layer in scores(rows, read, model)]
        print(f"| {name} | {' | '.join(f'{f1:.3f} / {cos:.3f}' for f1, cos in cells)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
