"""One question with the passage it rests on, its reference answer and what must survive degradation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypedDict

from evalsets.fields import (
    LANGUAGES,
    SEPARATOR,
    require_choice,
    require_facts,
    require_id,
    require_schema,
    require_text,
    require_texts,
)

_HAN_DIGITS = "〇零一二两三四五六七八九十百千万亿"
_NEGATIONS = ("not ", "n't ", "never ", "no ", "no longer ", "cannot ", "不", "没", "没有", "无", "未", "别")

Language = Literal["en", "zh"]


class Message(TypedDict):
    """One chat message as an OpenAI-compatible server takes it."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A support question. Raises FieldError on construction where a value is not what it should be."""

    id: str  # permanent
    lang: Language  # the language the answer has to be in
    system: str  # may be ""
    context: str  # the passage the answer must rest on; may be ""
    prompt: str  # the question; a final instruction stays last
    reference: str  # the answer given the whole context
    must_keep: tuple[str, ...]  # facts of any faithful answer; alternatives separated by " | "
    must_not: tuple[str, ...]  # what must not be claimed, same syntax
    contract: Mapping[str, object] | None = field(hash=False)  # JSON Schema of the answer text
    tags: tuple[str, ...]
    source: str
    licence: str  # SPDX id

    def __post_init__(self) -> None:
        require_id("id", self.id)
        require_choice("lang", self.lang, LANGUAGES)
        for name in ("system", "context", "source", "licence"):
            require_text(name, getattr(self, name), blank_ok=True)
        require_text("prompt", self.prompt)
        require_text("reference", self.reference)
        require_facts("must_keep", self.must_keep)
        require_facts("must_not", self.must_not)
        require_schema("contract", self.contract)
        require_texts("tags", self.tags)
        for tag in self.tags:
            require_id("tags", tag)

    def messages(self) -> list[Message]:
        """The chat: a system message unless it is blank, then context, empty line and prompt as the user."""
        asked = f"{self.context}\n\n{self.prompt}" if self.context else self.prompt
        user = Message(role="user", content=asked)
        return [Message(role="system", content=self.system), user] if self.system else [user]


def alternatives(fact: str) -> tuple[str, ...]:
    """The wordings, each good enough, of one entry of `must_keep` or `must_not`."""
    return tuple(part.strip() for part in fact.split(SEPARATOR))


def mentions(text: str, fact: str) -> bool:
    """Whether `text` holds any wording of `fact` literally.

    Case, width (１ and 1) and runs of white space do not matter. Words and numbers match whole: "20" is
    in "20 USD" but not in "120", "20.5" or "20,000", and "二十" is not in "一百二十".
    """
    folded = _folded(text)
    return any(wording in folded and _pattern(wording).search(folded) is not None for wording in _wordings(fact))


def claims(text: str, claim: str) -> bool:
    """Whether `text` holds any wording of `claim` without a negation right before it.

    "不可以退款" does not claim "可以退款", nor "not eligible for a refund" "eligible for a refund".
    """
    folded = _folded(text)
    patterns = [_pattern(wording) for wording in _wordings(claim)]
    found = [match for pattern in patterns for match in pattern.finditer(folded)]
    return any(not folded[: match.start()].endswith(_NEGATIONS) for match in found)


@lru_cache(maxsize=64)  # whole answers
def _folded(text: str) -> str:
    straight = unicodedata.normalize("NFKC", text).replace("’", "'")
    return " ".join(straight.casefold().split())


@lru_cache(maxsize=2048)
def _wordings(fact: str) -> tuple[str, ...]:
    return tuple(map(_folded, alternatives(fact)))


@lru_cache(maxsize=2048)
def _pattern(wording: str) -> re.Pattern[str]:
    return re.compile(f"{_before(wording[0])}{re.escape(wording)}{_after(wording[-1])}")


def _before(first: str) -> str:
    if first in _HAN_DIGITS:
        return f"(?<![{_HAN_DIGITS}])"
    return r"(?<![0-9a-z])(?<![0-9][.,])" if first.isascii() and first.isalnum() else ""


def _after(last: str) -> str:
    if last in _HAN_DIGITS:
        return f"(?![{_HAN_DIGITS}])"
    return r"(?![0-9a-z])(?![.,][0-9])" if last.isascii() and last.isalnum() else ""
