"""A model's tokenizer as long as it can be believed, and the careful estimate in pieces of words where it cannot."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from gateway.prompt.read_back import LEAST, Back, Trust
from gateway.prompt.tokens import CharCounter, Message, TokenCounter

S = TypeVar("S")
T = TypeVar("T")
_LOOK_CHARS = 256  # of a text are read back at a time
_STRIDE = 997  # another place of a long text each time


class WatchedCounter:
    """Counts exactly; degraded, it counts three ASCII letters, or half of another character, as one token.

    `tell` hears when that changes.
    """

    def __init__(
        self,
        exact: TokenCounter,
        *,
        most_errors: Callable[[], float],
        tell: Callable[[str], None] = lambda _: None,
        now_s: Callable[[], float] | None = None,
    ) -> None:
        self._exact = exact
        self._estimate = CharCounter()
        self._trust = Trust(most_errors, now_s=now_s)
        self._tell = tell
        self._looks = 0

    @property
    def has_template(self) -> bool:
        return self._exact.has_template

    @property
    def degraded(self) -> bool:
        """Whether the estimate counts."""
        return self._trust.degraded

    def carried(self, text: str) -> Back:
        """What becomes of the whole text on its way through the tokenizer."""
        return self._exact.read_back(_encodable(text))

    def count_text(self, text: str) -> int:
        text = _encodable(text)
        self._look((text,))
        return self._counted(self._exact.count_text, self._estimate.count_text, text)

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        texts = [_encodable(text) for text in texts]
        self._look(texts)
        return self._counted(self._exact.count_texts, self._estimate.count_texts, texts)

    def count_messages(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        return self.count_text(self._exact.render(messages, tools=tools))

    def upper_bound(self, messages: Sequence[Message], *, tools: Sequence[Message] | None = None) -> int:
        """The estimate never exceeds a text's bytes, and so no bound of the exact count's that is made of bytes."""
        text = _encodable(self._exact.render(messages, tools=tools))
        return self._counted(self._exact.upper_bound_of, self._estimate.count_text, text)

    def _counted(self, exactly: Callable[[S], T], nearly: Callable[[S], T], what: S) -> T:
        """A tokenizer that cannot even count is degraded at once."""
        if self._trust.degraded:
            return nearly(what)
        try:
            return exactly(what)
        except Exception:  # tokenizers raises bare Exception
            self._note(error=True, times=LEAST)
            return nearly(what)

    def _look(self, texts: Sequence[str]) -> None:
        if not texts or not self._trust.due():
            return
        self._looks += 1
        text = texts[self._looks % len(texts)]
        if text.strip():
            start = self._looks * _STRIDE % max(1, len(text) - _LOOK_CHARS + 1)
            back = self._exact.read_back(text[start : start + _LOOK_CHARS])
            self._note(error=back is not Back.WHOLE)

    def _note(self, *, error: bool, times: int = 1) -> None:
        before = self._trust.degraded
        self._trust.note(error=error, times=times)
        if self._trust.degraded is not before:
            self._tell("counted by estimate" if self._trust.degraded else "counted exactly again")


def _encodable(text: str) -> str:
    """Without halves of characters, which no tokenizer takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
