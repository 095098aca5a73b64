"""A prompt in ASCII where its tokenizer loses other characters: each takes its ASCII form, and none is left out."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.prompt.read_back import Back

_PAIRS = {
    **dict.fromkeys("“”„‟«»「」『』", '"'),
    **dict.fromkeys("‘’‚‛‹›′", "'"),
    **dict.fromkeys("–—‒―−‐‑", "-"),
    **dict.fromkeys("•·‧∙", "*"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u2060\ufeff\u00ad", ""),
    **{"…": "...", "×": "x", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "←": "<-"},
    **{"€": "EUR ", "£": "GBP ", "©": "(c)", "®": "(R)", "™": "(TM)", "、": ", ", "。": ". "},
    **{
        "ß": "ss",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
    },
}
_WIDE_FIRST, _WIDE_LAST, _WIDE_STEP = 0xFF01, 0xFF5E, 0xFEE0  # full-width forms of ! to ~


class Plain(NamedTuple):
    """`replaced`: characters that stand in ASCII now. `lost`: whether the tokenizer still loses something."""

    messages: list[Any]
    replaced: int
    lost: bool


def folded(text: str) -> str:
    """Each character in its ASCII form, or as it is where it has none.

    Nothing here changes a value: ½ and ² stay, which beside a digit would become part of its number.
    """
    return "".join(one if one.isascii() else _ascii(one) for one in unicodedata.normalize("NFC", text))


def _ascii(one: str) -> str:
    if one in _PAIRS:
        return _PAIRS[one]
    if _WIDE_FIRST <= ord(one) <= _WIDE_LAST:
        return chr(ord(one) - _WIDE_STEP)
    bare = "".join(part for part in unicodedata.normalize("NFD", one) if not unicodedata.combining(part))
    return bare if bare.isascii() and bare else one


def in_ascii(messages: Sequence[Mapping[str, Any]], carried: Callable[[str], Back]) -> Plain:
    """Every text that does not come through the tokenizer whole, folded; the others as they are."""
    replaced, lost = 0, False

    def through(text: str) -> str:
        nonlocal replaced, lost
        if text.isascii() or carried(text) is Back.WHOLE:
            return text
        plain = folded(text)
        replaced += sum(not one.isascii() for one in text) - sum(not one.isascii() for one in plain)
        lost = lost or carried(plain) is Back.LOST
        return plain

    return Plain([_with_text(message, through) for message in messages], replaced, lost)


def _with_text(message: Mapping[str, Any], through: Callable[[str], str]) -> Mapping[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": through(content)}
    if isinstance(content, list):
        parts = [
            {**part, "text": through(part["text"])} if isinstance(part.get("text"), str) else part for part in content
        ]
        return {**message, "content": parts}
    return message
