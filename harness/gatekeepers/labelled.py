"""Questions with the intent that a person gave them, split in two halves that never meet."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from evalsets.item import Item
from evalsets.jsonl import load_set
from gateway.answers.gatekeepers import OTHER
from gateway.damaged import DAMAGED, why
from gateway.section import Text
from harness.errors import HarnessError

BUNDLED = Path(__file__).with_name("questions.jsonl")
# Tags of the evaluation set `support` that name a topic, in the order in which they decide; the rest is "other".
TOPICS = (
    ("refund", ("refund",)),
    ("charge", ("order-charge",)),
    ("delivery", ("delivery", "order-status")),
    ("warranty", ("warranty", "repair", "insurance")),
    ("allergy", ("allergy",)),
    ("booking", ("appointment", "booking", "hotel")),
    ("plan", ("saas-plan", "membership", "subscription")),
    ("hours", ("hours",)),
    ("invoice", ("invoice",)),
)


class LabelledQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a questions file."""

    id: Text
    lang: Literal["en", "zh"]
    intent: Text
    question: Text


class Halves(NamedTuple):
    """To learn from, and to measure on."""

    training: list[LabelledQuestion]
    held_out: list[LabelledQuestion]


def load_questions(name: str) -> list[LabelledQuestion]:
    """Of an evaluation set by its tags, `questions` (bundled), or a file. Raises HarnessError, EvalsetError."""
    if name == "questions" or name.endswith(".jsonl"):
        return _read(BUNDLED if name == "questions" else Path(name))
    return [
        LabelledQuestion(id=item.id, lang=item.lang, intent=topic_of(item), question=item.prompt)
        for item in load_set(name)
    ]


def topic_of(item: Item) -> str:
    """The topic that an item's tags name; "other" where they name none."""
    return next((topic for topic, tags in TOPICS if set(tags) & set(item.tags)), OTHER)


def halves(questions: Sequence[LabelledQuestion], *, seed: int) -> Halves:
    """Every intent and language in both halves as evenly as it goes; the same seed splits the same way.

    What is held out comes mixed, so that its first questions stand for all of it.
    """
    groups: dict[tuple[str, str], list[LabelledQuestion]] = defaultdict(list)
    for question in questions:
        groups[question.intent, question.lang].append(question)
    split = Halves([], [])
    for group in (groups[key] for key in sorted(groups)):
        for question in sorted(group, key=lambda one: _draw(one.id, seed)):
            smaller = split.training if len(split.training) <= len(split.held_out) else split.held_out
            smaller.append(question)
    return Halves(split.training, sorted(split.held_out, key=lambda one: _draw(one.id, seed)))


def _draw(identity: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}/{identity}".encode()).hexdigest()


def _read(path: Path) -> list[LabelledQuestion]:
    found: dict[str, LabelledQuestion] = {}
    for number, line in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n"), start=1):
        try:
            question = msgspec.json.decode(line, type=LabelledQuestion)
        except DAMAGED as error:
            raise HarnessError(f"{path}:{number}: {why(error)}; a line has id, lang, intent and question") from None
        if found.setdefault(question.id, question) is not question:
            raise HarnessError(f"{path}:{number}: id is {question.id!r}, as in an earlier line; each needs its own")
    return list(found.values())
