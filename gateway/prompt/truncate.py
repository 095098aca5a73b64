"""Cut a prompt to a token limit, at sentence and structure boundaries, keeping what the question is about."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gateway.attention.boundaries import Boundaries, deepest
from gateway.errors import ContextTooLong
from gateway.prompt.anchors import is_instruction
from gateway.prompt.chat_template import content_text
from gateway.prompt.checkpoint import Checkpoint, nobody_leaves
from gateway.prompt.cost import MESSAGE_CHARS
from gateway.prompt.passage import OMISSION, Passage, final_instruction
from gateway.prompt.relevance import scores
from gateway.prompt.tokens import Counter, Message

MOST_PROMPT_CHARS = 500_000  # cutting takes about 2 s per million characters
HEAD_TOKENS = 128
HEAD_SHARE, NEWEST_SHARE, INSTRUCTION_SHARE = 0.125, 0.25, 0.5
_EXACT_CHARS = 100_000  # a longer prompt is counted piece by piece, until it is clear that it is too long
_CHARS_PER_TOKEN = 4  # a prompt with fewer characters per token of the limit may well fit: count it
_SAMPLE = 2000
_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A prompt that fits. `dropped_tokens`: what was left out, 0 where nothing was."""

    messages: list[Message]
    dropped_tokens: int
    prompt_tokens: int


def fit(
    messages: Sequence[Message],
    *,
    limit_tokens: int,
    count: Counter,
    most_chars: int = MOST_PROMPT_CHARS,
    boundaries: Boundaries | None = None,
    checkpoint: Checkpoint = nobody_leaves,
) -> Fit:
    """Return the messages, cut where they would take more than `limit_tokens` (the generation prompt included).

    System prompts and the final instruction are always whole; then come the start, the newest text, the sentences
    that share words with the final instruction, and of the rest the newest. Where the start ends and the newest text
    begins, `boundaries` chooses among the units' edges; it never adds to them. Raises ContextTooLong where system
    prompts and final instruction alone do not fit, and for prompts that do not fit and cost more than `most_chars`,
    each message as much as MESSAGE_CHARS of them. `checkpoint` is called between units; what it raises passes on.
    """
    chars = sum(len(content_text(message)) for message in messages)
    if chars <= max(_EXACT_CHARS, _CHARS_PER_TOKEN * limit_tokens):
        tokens = count.count_messages(messages)
        if tokens <= limit_tokens:
            return Fit(messages=list(messages), dropped_tokens=0, prompt_tokens=tokens)
    if chars + MESSAGE_CHARS * len(messages) > most_chars:
        raise ContextTooLong(
            f"messages: the prompt has {chars} characters in {len(messages)} messages and does not fit {limit_tokens} "
            f"tokens; prompts over {most_chars} characters, {MESSAGE_CHARS} more for each message, are not cut"
        )
    checkpoint()
    passage = Passage(messages, checkpoint)
    costs = _costs([unit.text for unit in passage.units], count)
    if sum(costs) <= limit_tokens and (tokens := count.count_messages(messages)) <= limit_tokens:
        return Fit(messages=list(messages), dropped_tokens=0, prompt_tokens=tokens)
    return _Cut(passage, costs, limit_tokens, count, boundaries=boundaries, checkpoint=checkpoint).fit()


def _costs(texts: Sequence[str], count: Counter) -> list[int]:
    """Tokens of each text; of a great many, from the tokens per byte of an even sample. The final count is exact."""
    if len(texts) <= _SAMPLE:
        return count.count_texts(texts)
    sample = texts[:: len(texts) // _SAMPLE]
    rate = sum(count.count_texts(sample)) / max(1, sum(_bytes(text) for text in sample))
    return [math.ceil(rate * _bytes(text)) for text in texts]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _narrowed(room: int, over: int) -> int:
    """Less room, as what filled it took `over` tokens more than there are; in proportion where that is more than all.

    So it is with many short messages, whose roles and marks take more than their text.
    """
    return room - over if over < room else room * room // (room + over)


class _Cut:
    """One prompt being cut."""

    def __init__(
        self,
        passage: Passage,
        costs: Sequence[int],
        limit_tokens: int,
        count: Counter,
        *,
        boundaries: Boundaries | None,
        checkpoint: Checkpoint,
    ) -> None:
        self._checkpoint = checkpoint
        self._boundaries = boundaries
        self._passage = passage
        self._costs = costs
        self._limit_tokens = limit_tokens
        self._count = count
        self._marker_tokens = count.count_text(OMISSION + "\n") + 1

    def fit(self) -> Fit:
        required = self._required()
        bare_tokens = self._tokens(required)
        room = self._limit_tokens - bare_tokens
        ranking = self._ranking(required, room)
        kept = required
        for _ in range(_ROUNDS):
            chosen = self._chosen(ranking, required, room)
            over = self._tokens(chosen) - self._limit_tokens
            if over <= 0:
                kept = chosen
                break
            room = _narrowed(room, over + self._marker_tokens)
        final = self._passage.rebuilt(kept)
        tokens = self._count.count_messages(final)
        dropped = sum(cost for unit, cost in enumerate(self._costs) if unit not in kept)
        return Fit(messages=final, dropped_tokens=dropped, prompt_tokens=tokens)

    def _required(self) -> set[int]:
        """The final instruction, as much of it as fits with the system prompts; raises ContextTooLong."""
        half = int(INSTRUCTION_SHARE * self._limit_tokens)
        left = self._limit_tokens - self._tokens(set()) - 2 * self._marker_tokens
        for most in (half, max(0, min(half, left)), 0):
            required = final_instruction(self._passage, costs=self._costs, most_tokens=most)
            tokens = self._tokens(required)
            if tokens <= self._limit_tokens:
                return required
        raise ContextTooLong(
            f"messages: the system prompt and the final instruction alone take {tokens} tokens, "
            f"the bound is {self._limit_tokens}"
        )

    def _tokens(self, kept: set[int]) -> int:
        self._checkpoint()
        return self._count.count_messages(self._passage.rebuilt(kept))

    def _ranking(self, required: set[int], room: int) -> list[int]:
        """All other units, the ones to keep first in front."""
        others = [unit for unit in range(len(self._costs)) if unit not in required]
        newest = self._settled(self._within(reversed(others), int(NEWEST_SHARE * room)))
        head = self._settled(self._within(self._head(others), min(HEAD_TOKENS, int(HEAD_SHARE * room))))
        edges = {*newest, *head}
        middle = [unit for unit in others if unit not in edges]
        self._checkpoint()
        relevance = scores([self._passage.units[unit].text for unit in middle], self._question(required))
        order = sorted(zip(relevance, middle, strict=True), key=lambda entry: (-entry[0], -entry[1]))
        return [*head, *newest, *(unit for _, unit in order)]

    def _head(self, others: Sequence[int]) -> list[int]:
        """The start of the newest user message where it asks for something, else the start of everything."""
        asked = [u for u in others if self._passage.units[u].message == self._passage.last_user]
        return asked if asked and is_instruction(self._passage.units[asked[0]].text) else list(others)

    def _within(self, units: Iterable[int], tokens: int) -> list[int]:
        """The first ones, until the next does not fit."""
        taken: list[int] = []
        for unit in units:
            tokens -= self._costs[unit]
            if tokens < 0:
                break
            taken.append(unit)
        return taken

    def _settled(self, taken: list[int]) -> list[int]:
        """`taken` up to the edge, in the half that was taken last, where the text falls into parts most clearly.

        Only edges between neighbours count; where nobody can read, or the text falls nowhere, all of it stays.
        """
        least = len(taken) - len(taken) // 2
        step = 1 if len(taken) < 2 or taken[1] > taken[0] else -1
        row = taken[max(0, least - 1) :]
        beyond = row[-1] + step if row else -1
        if self._boundaries is None or len(row) < 2 or not 0 <= beyond < len(self._costs):
            return taken
        if any(after - before != step for before, after in pairwise(row)):
            return taken
        read = sorted([*row, beyond])
        drops = self._boundaries.drops([self._passage.units[unit].text for unit in read])
        edge = deepest(drops) if drops else None
        if edge is None:
            return taken
        last = read[edge] if step > 0 else read[edge + 1]
        return taken[: taken.index(last) + 1]

    def _question(self, required: set[int]) -> str:
        return "\n".join(self._passage.units[unit].text for unit in sorted(required))

    def _chosen(self, ranking: Sequence[int], required: set[int], room: int) -> set[int]:
        """Take units in the order of their rank as long as they, what they need and the marks of gaps fit."""
        chosen = set(required)
        room -= self._marker_tokens
        for unit in ranking:
            if room <= 0:
                break
            new = self._passage.with_needs(unit) - chosen
            cost = sum(self._costs[one] for one in new) + self._marker_tokens * self._gaps_opened(unit, chosen)
            if new and cost <= room:
                chosen |= new
                room -= cost
        return chosen

    def _gaps_opened(self, unit: int, chosen: set[int]) -> int:
        return 1 - ((unit - 1) in chosen) - ((unit + 1) in chosen)
