"""A conversation as one line of units to keep or drop: the segments of all messages that may be cut."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gateway.prompt.anchors import Span, is_instruction
from gateway.prompt.chat_template import content_text
from gateway.prompt.checkpoint import Checkpoint, nobody_leaves
from gateway.prompt.segments import Kind, Segment, segments
from gateway.prompt.tokens import Counter, Message

OMISSION = "[…]"
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_FIXED_ROLES = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Unit:
    """Segments that stay or go together.

    `message`: its index; `needs`: units it would mislead without; `goes_on`: its sentence began in the unit before.
    """

    message: int
    text: str
    needs: tuple[int, ...]
    is_block: bool
    goes_on: bool


class Passage:
    """The units of a conversation, in order; messages that may not be cut have none."""

    def __init__(self, messages: Sequence[Message], checkpoint: Checkpoint = nobody_leaves) -> None:
        self.messages = list(messages)
        self.units: list[Unit] = []
        self._turns = _turns(self.messages)
        for index, message in enumerate(self.messages):
            checkpoint()
            if _may_be_cut(message):
                self._add(index, content_text(message), checkpoint)

    def _add(self, message: int, text: str, checkpoint: Checkpoint) -> None:
        found = segments(text, checkpoint)
        first = len(self.units)
        unit_of: list[int] = []
        for segment in found:
            glues = segment.glued and bool(unit_of)
            unit_of.append(unit_of[-1] if glues else (unit_of[-1] + 1 if unit_of else first))
        groups: dict[int, list[Segment]] = {}
        for unit, segment in zip(unit_of, found, strict=True):
            groups.setdefault(unit, []).append(segment)
        for unit, members in groups.items():
            above = {segment.parent for segment in members} | {head for segment in members for head in segment.heads}
            needs = {unit_of[one] for one in above if one is not None} - {unit}
            whole = text[members[0].start : members[-1].end]
            solid = any(segment.kind is Kind.BLOCK for segment in members)
            self.units.append(Unit(message, whole, tuple(sorted(needs)), solid, members[0].goes_on))

    @cached_property
    def last_user(self) -> int | None:
        """Index of the newest message of the user; None where there is none that can be cut."""
        return newest_request(self.messages)

    def of_message(self, message: int) -> list[int]:
        """The units of one message."""
        return [index for index, unit in enumerate(self.units) if unit.message == message]

    def turn(self, message: int) -> int:
        """Index of the user message that opens the turn of `message`; 0 before the first."""
        return self._turns[message]

    def with_needs(self, unit: int) -> set[int]:
        """A unit and all it needs, and what those need."""
        closed: set[int] = set()
        open_ = [unit]
        while open_:
            one = open_.pop()
            if one not in closed:
                closed.add(one)
                open_ += self.units[one].needs
        return closed

    def rebuilt(self, kept: set[int]) -> list[Message]:
        """The conversation with the kept units only; each gap is marked; old turns of which nothing is left go."""
        by_message: dict[int, list[int]] = {}
        for index, unit in enumerate(self.units):
            by_message.setdefault(unit.message, []).append(index)
        alive = self._living_turns(kept)
        rebuilt: list[Message] = []
        for index, message in enumerate(self.messages):
            if message["role"] in _FIXED_ROLES or index not in by_message:
                if message["role"] in _FIXED_ROLES or self.turn(index) in alive:
                    rebuilt.append(message)
            elif self.turn(index) in alive:
                own = by_message[index]
                whole = all(unit in kept for unit in own)
                rebuilt.append(message if whole else {**message, "content": self._joined(own, kept)})
        return rebuilt

    def _living_turns(self, kept: set[int]) -> set[int]:
        newest = self.turn(len(self.messages) - 1) if self.messages else 0
        return {newest, *(self.turn(self.units[unit].message) for unit in kept)}

    def _joined(self, units: Sequence[int], kept: set[int]) -> str:
        parts: list[str] = []
        gap = False
        for unit in units:
            if unit in kept:
                parts.append(self.units[unit].text)
                gap = False
            elif not gap:
                parts.append(OMISSION + ("\n" if self.units[unit].text.endswith("\n") or not parts else " "))
                if len(parts) > 1 and not parts[-2][-1:].isspace():
                    parts.insert(-1, " ")
                gap = True
        return "".join(parts).rstrip("\n") if gap else "".join(parts)


def _turns(messages: Sequence[Message]) -> list[int]:
    """For each message the index of the user message that opens its turn; 0 before the first."""
    turns: list[int] = []
    opened = 0
    for index, message in enumerate(messages):
        opened = index if message["role"] == "user" else opened
        turns.append(opened)
    return turns


def _may_be_cut(message: Message) -> bool:
    """Text of users, assistants and tools; not system prompts, tool calls, or messages with pictures."""
    content = message.get("content")
    if message["role"] in _FIXED_ROLES or message.get("tool_calls") or not content:
        return False
    return isinstance(content, str) or all(part.get("type", "text") == "text" for part in content)


def final_instruction(passage: Passage, *, costs: Sequence[int], most_tokens: int) -> set[int]:
    """The units that say what is wanted: the end of the newest user message.

    The last paragraph where it takes no more than `most_tokens`; else its last sentence (of one in several units the
    last ones) with the questions and imperatives right before it, as far as they fit. Where none of that asks for
    anything, what was asked before the text ("Summarise this: …") and what was asked last (before "Thank you!") as
    well; not with a `most_tokens` of 0, which stands for as little as can be.
    """
    if passage.last_user is None:
        return set()
    own = passage.of_message(passage.last_user)
    paragraph = _last_paragraph(passage, own)
    if len(paragraph) < len(own) and sum(costs[unit] for unit in paragraph) <= most_tokens:
        wanted = set().union(*(passage.with_needs(unit) for unit in paragraph))
    else:
        wanted = _last_sentences(passage, paragraph, costs=costs, most_tokens=most_tokens)
    if not any(is_instruction(passage.units[unit].text) for unit in wanted):
        wanted |= _asked_before(passage, own, wanted, costs=costs, most_tokens=most_tokens)
    return wanted


def _asked_before(
    passage: Passage, own: Sequence[int], wanted: set[int], *, costs: Sequence[int], most_tokens: int
) -> set[int]:
    """`wanted` with the first thing that is asked for, and with the rest of it and the last one, as far as they fit."""
    asked = [unit for unit in own if is_instruction(passage.units[unit].text)]
    if not asked or most_tokens == 0:
        return wanted
    wanted = wanted | passage.with_needs(asked[0])
    first = [unit for index, unit in enumerate(asked) if unit - index == asked[0]]
    last = [unit for index, unit in enumerate(reversed(asked)) if unit + index == asked[-1]]
    for unit in (*last, *first):
        longer = wanted | passage.with_needs(unit)
        if sum(costs[one] for one in longer) <= most_tokens:
            wanted = longer
    return wanted


def final_spans(text: str, *, count: Counter, most_tokens: int) -> list[Span]:
    """Where the final instruction stands in the text of the newest user message, in order."""
    passage = Passage([{"role": "user", "content": text}])
    costs = count.count_texts([unit.text for unit in passage.units])
    wanted = final_instruction(passage, costs=costs, most_tokens=most_tokens)
    spans: list[Span] = []
    start = 0
    for index, unit in enumerate(passage.units):
        end = start + len(unit.text)
        if index in wanted:
            spans.append(Span(start, end))
        start = end
    return spans


def newest_request(messages: Sequence[Message]) -> int | None:
    """Index of the newest message of the user that may be cut; None where there is none."""
    mine = (i for i in range(len(messages) - 1, -1, -1) if messages[i]["role"] == "user")
    return next((i for i in mine if _may_be_cut(messages[i]) and content_text(messages[i])), None)


def _last_paragraph(passage: Passage, own: Sequence[int]) -> list[int]:
    """Its units, the last one first."""
    paragraph: list[int] = []
    for unit in reversed(own):
        if paragraph and _BLANK_LINE.search(_blanks_after(passage.units[unit].text)):
            break
        paragraph.append(unit)
    return paragraph


def _blanks_after(text: str) -> str:
    return text[len(text.rstrip()) :]


def _last_sentences(passage: Passage, paragraph: Sequence[int], *, costs: Sequence[int], most_tokens: int) -> set[int]:
    wanted = passage.with_needs(paragraph[0])
    for unit in paragraph[1:]:
        longer = wanted | passage.with_needs(unit)
        wished = passage.units[unit + 1].goes_on or is_instruction(passage.units[unit].text)
        if not wished or sum(costs[one] for one in longer) > most_tokens:
            break
        wanted = longer
    return wanted
