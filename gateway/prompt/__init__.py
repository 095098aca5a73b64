"""Making the prompt fit: count, compress, truncate."""

from gateway.prompt.compress import MOST_COMPRESSED_CHARS, can_compress, compress
from gateway.prompt.tokens import CharCounter, Counter, Message, TokenCounter
from gateway.prompt.truncate import Fit, fit

__all__ = [
    "MOST_COMPRESSED_CHARS",
    "CharCounter",
    "Counter",
    "Fit",
    "Message",
    "TokenCounter",
    "can_compress",
    "compress",
    "fit",
]
