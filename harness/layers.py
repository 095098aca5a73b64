"""The picture of the four layers and the two state machines, drawn from the tables in the code."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from html import escape
from typing import NamedTuple, TypeVar

from gateway.backends import breaker
from gateway.config import UNAIDED
from gateway.health import TRANSITIONS as LEVEL_MOVES
from gateway.health import HealthMarks
from gateway.policy import Breaker, LedgerMarks, Paths, Structured, Truncation
from gateway.record import Level, Reason

WIDTH = 980
_BAND, _GAP, _LEFT = 104, 26, 20
_MACHINE = 226
_NODE_W, _NODE_H, _STEP = 120, 40, 300
_FORCED = "forced_"
_STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1c2733 }
.title { font-weight: 700; font-size: 16px } .small { font-size: 12px; fill: #4a5a6a }
.reason { font: 12px ui-monospace, monospace; fill: #8a3b12 }
.band { fill: #f3f6fa; stroke: #b6c3d1 } .node { fill: #ffffff; stroke: #4a5a6a }
.arrow { fill: none; stroke: #4a5a6a; stroke-width: 1.5; marker-end: url(#head) }
"""


Moves = Mapping[tuple[StrEnum, StrEnum], StrEnum]
State = TypeVar("State", bound=StrEnum)
Signal = TypeVar("Signal", bound=StrEnum)


class Layer(NamedTuple):
    """One layer: what sets it off, what it does, and the reasons that its answers carry."""

    name: str
    when: str
    does: str
    reasons: tuple[Reason, ...]


def layers() -> tuple[Layer, ...]:
    """The figures are the policy's defaults."""
    cut, ledger, trips = Truncation(), LedgerMarks(), Breaker()
    unaided = ", ".join(name for name in UNAIDED if name != "structured")
    return (
        Layer(
            "1  Input",
            f"a prompt over {cut.limit_tokens:,} tokens, or over the backend's context",
            "compressed, then cut at sentence and structure boundaries; the last instruction stays",
            (Reason.PROMPT_COMPRESSED, Reason.PROMPT_TRUNCATED, Reason.CONTEXT_TOO_LONG),
        ),
        Layer(
            "2  Memory",
            f"memory promised or in use over {ledger.watermark:.0%}, or free memory under the margin",
            f"prompts of {ledger.long_tokens:,} tokens and more stop being admitted; running ones finish; "
            f"a wait of {ledger.wait_s:g} s at most, then {cut.pressure_tokens:,} tokens, then the next layer",
            (Reason.MEMORY_FULL, Reason.OUT_OF_MEMORY),
        ),
        Layer(
            "3  Cascade",
            f"time-outs over {trips.timeout_share:.0%} of {trips.min_calls} calls or more, or "
            f"{trips.consecutive_failures} failures in a row",
            f"the breaker opens for {trips.open_s:g} s and the next backend answers; each at most once per request, "
            f"{Paths().max_after_death} more after one died",
            (Reason.TIMEOUT, Reason.BACKEND_ERROR, Reason.BREAKER_OPEN, Reason.HEALTH_LEVEL),
        ),
        Layer(
            "4  Without a model",
            "no backend has an answer that passes the checks",
            f"{unaided}; else a structured {Structured().status}, or 429 on purpose. Never a 5xx",
            (Reason.INVALID_OUTPUT, Reason.UNGROUNDED, Reason.QUEUE_FULL, Reason.POLICY),
        ),
    )


def picture() -> str:
    """The whole SVG."""
    bands = layers()
    top = _LEFT + 30
    parts = [_text(_LEFT, 30, "One request's way down, and what each layer does to it", "title")]
    for index, layer in enumerate(bands):
        parts += _band(layer, top + index * (_BAND + _GAP), is_last=index == len(bands) - 1)
    y = top + len(bands) * (_BAND + _GAP) + 10
    marks = HealthMarks()
    calm = f"recovered: calm for {marks.cool_down_s:g} s, one level at a time"
    parts += _machine("The gateway's level", list(Level), _as_strings(LEVEL_MOVES), y, calm)
    by_hand = f"a probe is due after {Breaker().open_s:g} s; by hand (admin): any to open, any to closed"
    parts += _machine(
        "The breaker of one backend", _BREAKER_ORDER, _as_strings(breaker.TRANSITIONS), y + _MACHINE, by_hand
    )
    height = y + 2 * _MACHINE
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    defs = f'<defs><style>{_STYLE}</style>{head}<path d="M0 0L8 4L0 8z" fill="#4a5a6a"/></marker></defs>'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="The four layers">\n{defs}\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f"{body}\n</svg>\n"
    )


_BREAKER_ORDER = (breaker.State.CLOSED, breaker.State.OPEN, breaker.State.HALF_OPEN)


def _as_strings(moves: Mapping[tuple[State, Signal], State]) -> Moves:
    """The same moves, without those by hand; a mapping's keys do not vary with their type."""
    return {(state, signal): after for (state, signal), after in moves.items() if not signal.startswith(_FORCED)}


def _band(layer: Layer, y: int, *, is_last: bool) -> list[str]:
    x = _LEFT + 196
    parts = [
        f'<rect class="band" x="{_LEFT}" y="{y}" width="{WIDTH - 2 * _LEFT}" height="{_BAND}" rx="8"/>',
        _text(_LEFT + 14, y + 28, layer.name, "title"),
        _text(x, y + 28, f"when   {layer.when}", ""),
    ]
    lines = _wrapped(layer.does, 112)
    parts += [_text(x, y + 50 + 18 * index, line, "small") for index, line in enumerate(lines)]
    parts.append(_text(x, y + 92, "record says   " + "  ".join(layer.reasons), "reason"))
    if not is_last:
        parts.append(f'<path class="arrow" d="M{_LEFT + 60} {y + _BAND}v{_GAP - 2}"/>')
        parts.append(_text(_LEFT + 74, y + _BAND + 18, "what this layer cannot answer", "small"))
    return parts


def _machine(title: str, states: Sequence[StrEnum], moves: Moves, y: int, note: str) -> list[str]:
    """Nodes in a row; moves to the right as arcs above, to the left below, each with its signals."""
    at = {state: 190 + index * _STEP for index, state in enumerate(states)}
    middle = y + 118
    parts = [_text(_LEFT, y + 20, title, "title"), _text(_LEFT, y + 40, note, "small")]
    for state, x in at.items():
        left, top = x - _NODE_W // 2, middle - _NODE_H // 2
        parts.append(f'<rect class="node" x="{left}" y="{top}" width="{_NODE_W}" height="{_NODE_H}" rx="20"/>')
        parts.append(_text(x, middle + 5, state, "", anchor="middle"))
    for (before, after), signals in _edges(moves).items():
        if before is not after:
            parts += _arc(at[before], at[after], middle, " or ".join(signals))
    return parts


def _edges(moves: Moves) -> dict[tuple[StrEnum, StrEnum], list[str]]:
    found: dict[tuple[StrEnum, StrEnum], list[str]] = {}
    for (before, signal), after in moves.items():
        found.setdefault((before, after), []).append(signal.replace("_", " "))
    return found


def _arc(start: int, end: int, middle: int, label: str) -> list[str]:
    side, is_long = (-1 if end > start else 1), abs(end - start) > _STEP
    lift = side * (84 if is_long else 34)
    y = middle + side * _NODE_H // 2
    inset = (1 if end > start else -1) * (8 if is_long else 30)
    bend = f"C{start + inset} {y + lift} {end - inset} {y + lift} {end - inset} {y}"
    path = f'<path class="arrow" d="M{start + inset} {y}{bend}"/>'
    label_y = round(y + lift * 0.75 + (-6 if side < 0 else 14))
    return [path, _text((start + end) // 2, label_y, label, "small", anchor="middle")]


def _wrapped(text: str, columns: int) -> Iterable[str]:
    line = ""
    for word in text.split():
        if len(line) + len(word) + 1 > columns:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def _text(x: int, y: int, words: str, kind: str, *, anchor: str = "") -> str:
    place = f' text-anchor="{anchor}"' if anchor else ""
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{kind}{place} xml:space="preserve">{escape(words)}</text>'
