"""What the parts of a prompt take that are no text: so many tokens each, as nobody here looks into them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gateway.prompt.tokens import Counter, Message

_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_PICTURES = frozenset({"image_url", "input_image", "image"})
_SOUNDS = frozenset({"input_audio", "audio_url", "audio"})


class PartTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one part of each kind; `file`: of any other kind."""

    picture: int
    sound: int
    file: int

    def of(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """What all such parts take together."""
        contents = [message.get("content") for message in messages]
        return sum(self._of_part(part) for content in contents if isinstance(content, list) for part in content)

    def _of_part(self, part: Mapping[str, Any]) -> int:
        kind = part.get("type")
        if kind in _TEXTS:
            return 0
        if kind in _PICTURES:
            return self.picture
        return self.sound if kind in _SOUNDS else self.file


class WithParts:
    """Another counter, which sees text alone, for messages that hold other parts too."""

    def __init__(self, counter: Counter, parts: PartTokens) -> None:
        self._counter = counter
        self._parts = parts

    def count_text(self, text: str) -> int:
        return self._counter.count_text(text)

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        return self._counter.count_texts(texts)

    def count_messages(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self._counter.count_messages(messages, tools=tools) + self._parts.of(messages)

    def upper_bound(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self._counter.upper_bound(messages, tools=tools) + self._parts.of(messages)
