"""Whether a tokenizer can be believed: what it makes of a text is turned back into text and compared with it."""

import unicodedata
from collections import deque
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WINDOW = 100  # texts that the share of errors looks back on
LEAST = 20  # of them before anything is said
_EVERY = 16  # of the texts is read back while all goes well, …
_PAUSE_S = 0.05  # … but no more than one in so long
_HEALED_SHARE = 0.2  # of the bound: under it a tokenizer is believed again
_SIGNS = frozenset({"Sc", "Sm", "Pd"})  # beside letters and digits: €, <, -


class Back(StrEnum):
    """What became of a text on its way to tokens and back."""

    WHOLE = "whole"
    LOST = "lost"  # letters, digits or signs of it are in none of its tokens
    FAILED = "failed"  # the tokenizer failed: nothing can be said


def decoded(tokenizer: "Tokenizer", ids: Sequence[int]) -> str:
    """The tokens as text."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=False))


def read_back(tokenizer: "Tokenizer", text: str, *, unknown: int | None) -> Back:
    """Encode and decode `text`. `unknown`: the token for what has none; a tokenizer that says so has lost nothing."""
    try:
        ids = tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids
        back = text if unknown is not None and unknown in ids else decoded(tokenizer, ids)
    except Exception:  # tokenizers raises bare Exception
        return Back.FAILED
    return Back.WHOLE if back == text or _substance(back) == _substance(text) else Back.LOST


def _substance(text: str) -> str:
    """Letters, digits and signs, without what tokenizers are known to even out: case, accents, forms, white space."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(one for one in plain if (kind := unicodedata.category(one))[0] in "LN" or kind in _SIGNS)


class Trust:
    """The share of errors among the texts that were read back lately, and what follows from it."""

    def __init__(self, most_errors: Callable[[], float], *, now_s: Callable[[], float] | None = None) -> None:
        """Without `now_s` looks are spaced by the texts alone."""
        self._most_errors = most_errors
        self._now_s = now_s
        self._rests_until_s = 0.0
        self._window: deque[bool] = deque(maxlen=WINDOW)  # True: an error
        self._seen = 0
        self.degraded = False

    def due(self) -> bool:
        """Whether the next text is to be read back: each while there is doubt, else one now and then."""
        self._seen += 1
        if self.degraded or len(self._window) < LEAST:
            return True
        usual = self._seen % _EVERY == 0 and self._rested()
        return usual or True in self._window

    def _rested(self) -> bool:
        if self._now_s is None:
            return True
        now_s = self._now_s()
        rested = now_s >= self._rests_until_s
        if rested:
            self._rests_until_s = now_s + _PAUSE_S
        return rested

    def note(self, *, error: bool, times: int = 1) -> None:
        """One text was read back. `times`: LEAST for what says enough by itself."""
        self._window.extend([error] * times)
        share = sum(self._window) / len(self._window)
        most = self._most_errors()
        if self.degraded:
            self.degraded = share > _HEALED_SHARE * most
        else:
            self.degraded = len(self._window) >= LEAST and share > most
