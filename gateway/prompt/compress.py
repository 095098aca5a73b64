"""Say the same with fewer tokens, before anything is cut: first what loses nothing, then what loses least."""

import re
from collections.abc import Callable, Sequence

from gateway.prompt.anchors import Span
from gateway.prompt.chat_template import content_text
from gateway.prompt.constraints import implied
from gateway.prompt.examples import shortened
from gateway.prompt.segments import Kind, segments
from gateway.prompt.structure import code_blocks, json_values
from gateway.prompt.tokens import Counter, Message
from gateway.prompt.truncate import Fit

MOST_CHARS = 100_000

_STRING_OR_SPACE = re.compile(r'"(?:[^"\\]|\\.)*"|\s+', re.DOTALL)
_LOOSE_SPACE = re.compile(r"[ \t]+(?=\n)|\n(?:[ \t]*\n){2,}")
_LEAST_REPEATED_CHARS = 40


def compress(messages: Sequence[Message], *, limit_tokens: int, count: Counter) -> Fit:
    """Return the messages with as many steps applied as it takes to fit; may still be over `limit_tokens`.

    In order: white space and the layout of JSON; sentences said twice and constraints that another one implies;
    few-shot examples that show nothing but their form. Code, tables and tool calls stay as they are.
    `dropped_tokens` is what the prompt became shorter by. A prompt over MOST_CHARS comes back as it is, with an
    upper bound for its tokens: counting it over and over takes longer than what it would win.
    """
    if sum(len(content_text(message)) for message in messages) > MOST_CHARS:
        return Fit(messages=list(messages), dropped_tokens=0, prompt_tokens=count.upper_bound(messages))
    before = tokens = count.count_messages(messages)
    current = list(messages)
    for step in (tightened, merged, shortened):
        if tokens <= limit_tokens:
            break
        current = [_applied(step, message) for message in current]
        tokens = count.count_messages(current)
    return Fit(messages=current, dropped_tokens=before - tokens, prompt_tokens=tokens)


def tightened(text: str) -> str:
    """Without loose white space, and with each JSON value on one line: no word and no number changes."""
    blocks = code_blocks(text)
    values = json_values(text, blocks)
    parts: list[str] = []
    position = 0
    for span in sorted([*blocks, *values]):
        parts.append(_LOOSE_SPACE.sub(_less_space, text[position : span.start]))
        inside = text[span.start : span.end]
        parts.append(_compact(inside) if span in values else _compact_fence(inside))
        position = span.end
    return "".join([*parts, _LOOSE_SPACE.sub(_less_space, text[position:])])


def merged(text: str) -> str:
    """Without sentences that were said before, word for word, and constraints that another one implies."""
    found = segments(text)
    tied = {one.parent for one in found} | {index - 1 for index, one in enumerate(found) if one.glued}
    free = [
        index
        for index, one in enumerate(found)
        if one.kind in (Kind.SENTENCE, Kind.ITEM) and not one.glued and index not in tied
    ]
    sentences = [text[found[index].start : found[index].end] for index in free]
    gone = {free[index] for index in implied(sentences) | _repeated(sentences)}
    return "".join(text[one.start : one.end] for index, one in enumerate(found) if index not in gone)


def _repeated(sentences: Sequence[str]) -> set[int]:
    seen: set[str] = set()
    twice: set[int] = set()
    for index, sentence in enumerate(sentences):
        words = " ".join(sentence.split())
        if len(words) >= _LEAST_REPEATED_CHARS and words in seen:
            twice.add(index)
        seen.add(words)
    return twice


def _applied(step: Callable[[str], str], message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, str) or message["role"] not in ("system", "developer", "user"):
        return message
    shorter = step(content)
    return message if shorter == content or not shorter.strip() else {**message, "content": shorter}


def _less_space(match: re.Match[str]) -> str:
    return "\n\n" if match.group().startswith("\n") else ""


def _compact(value: str) -> str:
    return _STRING_OR_SPACE.sub(lambda match: "" if match.group().isspace() else match.group(), value)


def _compact_fence(block: str) -> str:
    """A fenced block that holds one JSON value and nothing else, compacted; any other block as it is."""
    lines = block.split("\n")
    closing = next((i for i in range(len(lines) - 1, 0, -1) if lines[i].strip()), 0)
    inner = "\n".join(lines[1:closing])
    if closing < 2 or json_values(inner.strip(), []) != [Span(0, len(inner.strip()))]:
        return block
    return "\n".join([lines[0], _compact(inner.strip()), *lines[closing:]])
