"""What a prompt costs to look at, in characters of one text: many small messages cost more than what they say."""

from collections.abc import Sequence

from gateway.prompt.chat_template import content_text
from gateway.prompt.tokens import Message

MESSAGE_CHARS = 32  # one message takes as long as so many characters more


def cost_chars(messages: Sequence[Message]) -> int:
    """Characters of text, and MESSAGE_CHARS for each message."""
    return sum([len(content_text(message)) for message in messages]) + MESSAGE_CHARS * len(messages)
