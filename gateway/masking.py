"""The configured keys, and how they are kept out of what a backend's texts lead to.

A backend that quotes a key in an error has that text masked; one that quotes it in an answer has not answered.
Keys that are no secret (`EMPTY`, `none`) are short: masking those would only damage texts.
"""

from collections.abc import Iterable, Mapping

import msgspec

from gateway.answers.validate import invalid
from gateway.config import Config

MASK = "[key]"
LEAST_CHARS = 8  # of a key that is masked in errors and logs
_LEAST_IN_ANSWERS = 16  # an answer is only given up for a key that no text holds by chance
_LEAST_BEGUN = 6  # so much of a key is shown of a stream before the rest is waited for


class Secrets:
    """What must not be told."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = tuple(sorted({key for key in keys if len(key) >= LEAST_CHARS}, key=len, reverse=True))
        self._raw = tuple(form for key in self._keys for form in _forms(key))
        self.in_answers = tuple(key for key in self._keys if len(key) >= _LEAST_IN_ANSWERS)
        self._raw_in_answers = tuple(form for key in self.in_answers for form in _forms(key))

    def masked(self, text: str) -> str:
        """An error text without keys."""
        for key in self._keys:
            text = text.replace(key, MASK)
        return text

    def masked_raw(self, raw: bytes) -> bytes:
        """JSON, or an error's bytes, without keys."""
        for form in self._raw:
            if form in raw:
                raw = raw.replace(form, MASK.encode())
        return raw

    def require_none(self, raw: bytes) -> None:
        """Raises UpstreamError where an answer, or one event of it, quotes a key."""
        for form in self._raw_in_answers:
            if form in raw:
                raise quoted()

    def require_none_in(self, text: str) -> None:
        """The same for a text that was put together."""
        if any(key in text for key in self.in_answers):
            raise quoted()


class KeyWatch:
    """Watches a text that comes in pieces; raises UpstreamError at a key."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys
        self._kept_chars = max(map(len, keys), default=1) - 1
        self._tail = ""
        self.pending = False  # what came last may be the beginning of a key

    def add(self, text: str) -> None:
        if not self._keys:
            return
        tail = self._tail + text
        self.pending = False
        for key in self._keys:
            if key[:_LEAST_BEGUN] in tail:
                if key in tail:
                    raise quoted()
                begun = range(_LEAST_BEGUN, len(key))
                self.pending = self.pending or any(tail.endswith(key[:chars]) for chars in begun)
        self._tail = tail[-self._kept_chars :]


def quoted() -> Exception:
    return invalid("an answer that quotes a key of this gateway")


def secrets_of(config: Config, environ: Mapping[str, str]) -> Secrets:
    """Every key that the config names, its own admin token, and the address of Redis where it holds a password."""
    named = [backend.api_key_env for backend in config.backends]
    named += [config.answers.embeddings.api_key_env if config.answers.embeddings is not None else None]
    named += [config.shared_ledger.url_env]
    keys = [environ[name] for name in named if name is not None and name in environ]
    return Secrets([*keys, config.server.token() or ""])


def _forms(key: str) -> tuple[bytes, ...]:
    """As it is, and as JSON writes it."""
    inside = msgspec.json.encode(key)[1:-1]
    return tuple(dict.fromkeys((key.encode(), inside, inside.replace(b"/", rb"\/"))))
