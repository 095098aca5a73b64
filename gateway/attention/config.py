"""The local model whose attention is looked at."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gateway.section import Count, Positive, Section

DEFAULT_LAYER = 12


class AttentionConfig(Section, frozen=True, kw_only=True):
    """Needs torch and transformers, which are imported only where `model_dir` is set."""

    model_dir: Path | None = None  # a transformers folder with tokenizer.json; None: off
    layer: Count = DEFAULT_LAYER  # counted from 1; the layers after it are not loaded. A smaller model: its last
    max_tokens: Annotated[int, Meta(ge=32, le=8192)] = 256  # read at most; time and memory grow with the square
    timeout_s: Positive = 1.0  # of one reading; later, the gateway goes on without it
    threads: Count = 1  # of torch
    failures: Count = 5  # readings in a row that fail or are late; then the probe is off until a restart
