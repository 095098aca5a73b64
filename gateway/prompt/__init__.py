"""Making the prompt fit: count, compress, truncate."""

from gateway.prompt.compress import compress
from gateway.prompt.tokens import CharCounter, Counter, Message, TokenCounter
from gateway.prompt.truncate import Fit, fit

__all__ = ["CharCounter", "Counter", "Fit", "Message", "TokenCounter", "compress", "fit"]
