"""The data that ships is the data that the card describes."""

import hashlib
import re
from pathlib import Path

import harness.fidelity

DATA = Path(harness.fidelity.__file__).parent / "data"


def test_the_card_holds_the_sum_of_every_data_file() -> None:
    card = dict(re.findall(r"\| `([\w.]+)` .*`([0-9a-f]{64})` \|", (DATA / "CARD.md").read_text("utf-8")))
    files = {path.name for path in DATA.iterdir() if path.suffix in {".jsonl", ".json", ".txt", ".tsv", ".safetensors"}}
    assert set(card) == files
    for name, digest in card.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == digest, name
