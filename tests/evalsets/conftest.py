"""One good item, as a mapping and as a file, for the tests to spoil."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsets.item import Item

GOOD: dict[str, Any] = {
    "id": "support-en-001",
    "lang": "en",
    "system": "Answer in one sentence.",
    "context": "Opened boxes cannot be returned. Unopened boxes can be returned within 30 days of the purchase.",
    "prompt": "Can I return an opened box?",
    "reference": "No, opened boxes cannot be returned.",
    "must_keep": ["cannot be returned | can't be returned"],
    "must_not": ["within 30 days"],
    "contract": None,
    "tags": ["refund", "negation"],
    "source": "written for Truefall",
    "licence": "Apache-2.0",
}


@pytest.fixture
def values() -> dict[str, Any]:
    return dict(GOOD)


@pytest.fixture
def make_item() -> Callable[..., Item]:
    def make(**changes: Any) -> Item:
        merged = {**GOOD, **changes}
        return Item(**{key: tuple(v) if isinstance(v, list) else v for key, v in merged.items()})

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_lines(*lines: dict[str, Any] | str | bytes) -> Path:
        raw = [line if isinstance(line, bytes) else _text(line).encode() for line in lines]
        path = tmp_path / "items.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in raw))
        return path

    return write_lines


def _text(line: dict[str, Any] | str) -> str:
    return line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
