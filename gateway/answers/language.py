"""Which of the two languages a text is in."""

import re
from collections.abc import Iterable

from gateway.policy import Language

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_MIN_SIGNS = 4


def language_of(texts: Iterable[str], *, default: Language = "en") -> Language:
    """The language of the first text that has one: Chinese where characters outnumber Latin words."""
    for text in texts:
        han, latin = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
        if han + latin:
            return "zh" if han > latin else "en"
    return default


def clearly_other(text: str, expected: Language) -> bool:
    """Whether `text` is beyond doubt in the other of the two languages."""
    han, latin = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if han + latin < _MIN_SIGNS:
        return False
    return han == 0 if expected == "zh" else han > latin
