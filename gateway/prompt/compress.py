"""Say the same with fewer tokens, before anything is cut: first what loses nothing, then what loses least."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from gateway.prompt.anchors import Protected, Span
from gateway.prompt.checkpoint import Checkpoint, nobody_leaves
from gateway.prompt.cost import cost_chars
from gateway.prompt.examples import shortened
from gateway.prompt.passage import final_spans, newest_request
from gateway.prompt.repeats import merged, said_again
from gateway.prompt.segments import is_one_sentence
from gateway.prompt.structure import code_blocks, inline_spans, json_values
from gateway.prompt.tables import tables
from gateway.prompt.tokens import Counter, Message
from gateway.prompt.truncate import INSTRUCTION_SHARE, Fit

MOST_COMPRESSED_CHARS = 100_000  # a longer prompt is only cut: each step reads it all, 0.5 to 1.5 s in all

Step = Callable[[str, Sequence[Span]], str]  # the text, and what in it must stay as it is

_STRING_OR_SPACE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|\s+', re.DOTALL)
_LOOSE_SPACE = re.compile(r"(?<=\S) +(?=\n)|\n(?:[ \t]*\n){2,}")
_JSON_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*json5?[ \t]*", re.IGNORECASE)


def can_compress(messages: Sequence[Message]) -> bool:
    """Whether the prompt costs no more than MOST_COMPRESSED_CHARS (see `cost_chars`)."""
    return cost_chars(messages) <= MOST_COMPRESSED_CHARS


def compress(
    messages: Sequence[Message], *, limit_tokens: int, count: Counter, checkpoint: Checkpoint = nobody_leaves
) -> Fit:
    """Return the messages with as many steps applied as it takes to fit; may still be over `limit_tokens`.

    In order: white space and the layout of JSON; what the final instruction says again; sentences said twice and bounds
    that another one keeps; few-shot examples that show nothing but their form. Only text of users is rewritten, and the
    final instruction stays as it is, to the letter, as do code, tables, tool calls and system prompts. Where the prompt
    has to be cut afterwards, only the final instruction stands for what was said before: any other copy may be cut.
    `dropped_tokens` is what the prompt became shorter by: 0 for one that `can_compress` denies, which comes back as it
    is, with an upper bound for its tokens. `checkpoint` is called at each message, and what it raises passes on.
    """
    if not can_compress(messages):
        return Fit(messages=list(messages), dropped_tokens=0, prompt_tokens=count.upper_bound(messages))
    before = count.count_messages(messages)
    whole = Fit(messages=list(messages), dropped_tokens=0, prompt_tokens=before)
    step = partial(_stepped, before=before, limit_tokens=limit_tokens, count=count, checkpoint=checkpoint)
    sure = step(step(whole, tightened), said_again)
    shorter = step(sure, merged)
    shortest = step(shorter, shortened)
    if shortest.prompt_tokens <= limit_tokens or shorter.messages == sure.messages:
        return shortest
    return step(sure, shortened)


def _stepped(fit: Fit, step: Step, *, before: int, limit_tokens: int, count: Counter, checkpoint: Checkpoint) -> Fit:
    if fit.prompt_tokens <= limit_tokens:
        return fit
    newest = newest_request(fit.messages)
    most = int(INSTRUCTION_SHARE * limit_tokens)
    messages = [
        _applied(step, message, count=count, most_tokens=most if index == newest else None, checkpoint=checkpoint)
        for index, message in enumerate(fit.messages)
    ]
    tokens = count.count_messages(messages)
    return Fit(messages=messages, dropped_tokens=before - tokens, prompt_tokens=tokens)


def _applied(
    step: Step, message: Message, *, count: Counter, most_tokens: int | None, checkpoint: Checkpoint
) -> Message:
    """`most_tokens`: of a final instruction that it holds; None where it holds none."""
    checkpoint()
    content = message.get("content")
    if not isinstance(content, str) or message["role"] != "user" or is_one_sentence(content):
        return message
    final = [] if most_tokens is None else final_spans(content, count=count, most_tokens=most_tokens)
    shorter = step(content, final)
    return message if shorter == content or not shorter.strip() else {**message, "content": shorter}


def tightened(text: str, final: Sequence[Span] = ()) -> str:
    """Without loose white space, and with each JSON value on one line: no word and no number changes."""
    blocks = code_blocks(text)
    values = json_values(text, blocks)
    rows = [line for table in tables(text, sorted([*blocks, *values])) for line in table.lines]
    cells, inline, fixed = Protected(rows), Protected(inline_spans(text)), Protected(final)
    alone = [value for value in values if not _inside(value, cells)]
    compact = {
        **dict.fromkeys(blocks, _compact_fence),
        **{value: _compact for value in alone if not _inside(value, inline)},
    }
    solid = [span for span in (*blocks, *alone, *rows) if not _inside(span, fixed)]
    parts: list[str] = []
    position = 0
    for span in sorted([*solid, *fixed.spans]):
        parts.append(_LOOSE_SPACE.sub(_less_space, text[position : span.start]))
        inside = text[span.start : span.end]
        parts.append(compact[span](inside) if span in compact and not _inside(span, fixed) else inside)
        position = span.end
    return "".join([*parts, _LOOSE_SPACE.sub(_less_space, text[position:])])


def _inside(span: Span, protected: Protected) -> bool:
    return any(one.start <= span.start and span.end <= one.end for one in protected.within(*span))


def _less_space(match: re.Match[str]) -> str:
    return "\n\n" if match.group().startswith("\n") else ""


def _compact(value: str) -> str:
    return _STRING_OR_SPACE.sub(lambda match: "" if match.group().isspace() else match.group(), value)


def _compact_fence(block: str) -> str:
    """A block that says it is JSON, holds one JSON value and nothing else, compacted; any other block as it is."""
    lines = block.split("\n")
    closing = next((i for i in range(len(lines) - 1, 0, -1) if lines[i].strip()), 0)
    inner = "\n".join(lines[1:closing])
    if closing < 2 or _JSON_FENCE.fullmatch(lines[0]) is None:
        return block
    if json_values(inner.strip(), []) != [Span(0, len(inner.strip()))]:
        return block
    return "\n".join([lines[0], _compact(inner.strip()), *lines[closing:]])
