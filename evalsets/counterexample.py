"""A labelled case of semantic collapse: the answer that misleads beside a faithful one far from the reference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalsets.errors import FieldError
from evalsets.fields import LANGUAGES, require_choice, require_id, require_text
from evalsets.item import Language
from evalsets.jsonl import find_records, load_rows

COUNTEREXAMPLES_FILE = "counterexamples.jsonl"

Mode = Literal["context-stripping", "state-coupling", "inversion", "value-distortion", "hollow-output"]
Split = Literal["dev", "test"]

MODES: tuple[Mode, ...] = ("context-stripping", "state-coupling", "inversion", "value-distortion", "hollow-output")
SPLITS: tuple[Split, ...] = ("dev", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """One collapse and its faithful counterpart. Raises FieldError on construction."""

    id: str  # permanent
    mode: Mode
    lang: Language  # of question and answers
    split: Split  # thresholds and rules may be tuned on dev; test only measures
    context: str  # what the answer must rest on: policy, user facts, or what a service answered
    prompt: str
    reference: str
    collapsed: str  # fluent, close to the reference, and misleading
    faithful: str  # says what the reference says, in other words
    why: str  # what is wrong with `collapsed`

    def __post_init__(self) -> None:
        require_id("id", self.id)
        require_choice("mode", self.mode, MODES)
        require_choice("lang", self.lang, LANGUAGES)
        require_choice("split", self.split, SPLITS)
        for name in ("context", "prompt", "reference", "collapsed", "faithful", "why"):
            require_text(name, getattr(self, name))
        if self.collapsed in (self.reference, self.faithful):
            raise FieldError("collapsed", self.collapsed, "an answer other than the reference and the faithful one")


def load_counterexamples(name_or_path: str | Path = "collapse") -> tuple[Counterexample, ...]:
    """The counterexamples of a set that comes along, a folder or a file, in file order. Raises EvalsetError."""
    path = find_records(name_or_path, COUNTEREXAMPLES_FILE)
    return tuple(row.record for row in load_rows(path, Counterexample))
