"""Counting words and telling the language of a text, for the linters."""

from __future__ import annotations

import re

_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’.,:/-][^\W_]+)*")
_LEAST_LETTERS = 12  # shorter texts (an order number) have no language


def words(text: str) -> list[str]:
    """Words and numbers of `text`, case-folded; a Chinese character counts as a word."""
    return _WORD.findall(text.casefold())


def wrong_language(text: str, lang: str) -> str | None:
    """Why `text` does not look like `lang` ("en" or "zh"); None where it does or is too short to say."""
    letters = [char for char in text if char.isalpha()]
    chinese = sum(bool(_CJK.match(char)) for char in letters)
    if len(letters) < _LEAST_LETTERS and not chinese:
        return None
    if (lang == "zh" and chinese < 0.3 * len(letters)) or (lang == "en" and chinese > 0.1 * len(letters)):
        return f"lang is {lang}, but {chinese} of {len(letters)} letters are Chinese"
    return None
