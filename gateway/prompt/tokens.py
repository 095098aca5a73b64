"""How many tokens a prompt takes: by the model's own tokenizer and chat template, or by a careful estimate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

Message = Mapping[str, Any]


class Counter(Protocol):
    """What truncation and compression need to know about tokens."""

    def count_text(self, text: str) -> int: ...
    def count_texts(self, texts: Sequence[str]) -> list[int]: ...
    def count_messages(self, messages: Sequence[Message]) -> int: ...
    def upper_bound(self, messages: Sequence[Message]) -> int: ...


class TokenCounter:
    """Counts with a model folder's `tokenizer.json` and chat template."""

    has_template: bool

    @classmethod
    def load(cls, model_dir: Path) -> "TokenCounter":
        raise NotImplementedError

    def count_text(self, text: str) -> int:
        raise NotImplementedError

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        raise NotImplementedError

    def count_messages(self, messages: Sequence[Message]) -> int:
        raise NotImplementedError

    def upper_bound(self, messages: Sequence[Message]) -> int:
        raise NotImplementedError


class CharCounter:
    """A careful estimate where no tokenizer is configured: never fewer than the UTF-8 bytes over three."""

    has_template = False

    def count_text(self, text: str) -> int:
        raise NotImplementedError

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        raise NotImplementedError

    def count_messages(self, messages: Sequence[Message]) -> int:
        raise NotImplementedError

    def upper_bound(self, messages: Sequence[Message]) -> int:
        raise NotImplementedError
