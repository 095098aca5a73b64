"""What came of a storm, side by side. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.storm.plan import Size


class End(StrEnum):
    """How a request ended for its client."""

    WHOLE = "answered by the model, whole prompt"
    CUT = "answered by the model, prompt cut and said so"
    HONEST = "told honestly that there is no answer now"
    LOST = "lost"  # a 5xx, a broken or missing answer, or none in time


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One request's end; `why` is told for those that were lost."""

    size: Size
    end: End
    took_s: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One way of serving the same requests. `peak_share`: of the memory left for requests, used at the worst moment."""

    name: str
    ended: tuple[Ended, ...]
    deaths: int
    failed_allocations: int
    peak_share: float
    down_s: float = 0.0  # after deaths, until it was ready again
    longest_down_s: float = 0.0

    def of(self, end: End) -> int:
        return sum(one.end is end for one in self.ended)

    def answered_share(self) -> float:
        """Availability as its clients see it: everything but the lost ones."""
        return 1 - self.of(End.LOST) / len(self.ended) if self.ended else math.nan

    def quantile_s(self, share: float, *, sizes: Sequence[Size] = tuple(Size)) -> float:
        """Of the time that model answers took; NaN where there were none."""
        times = sorted(one.took_s for one in self.ended if one.end in (End.WHOLE, End.CUT) and one.size in sizes)
        return times[min(len(times) - 1, int(share * len(times)))] if times else math.nan


def rows(columns: Sequence[Column]) -> list[tuple[str, list[str]]]:
    """The table, line by line."""
    table = [("requests", [str(len(column.ended)) for column in columns])]
    table += [(end.value, [str(column.of(end)) for column in columns]) for end in End]
    for size in Size:
        told = [f"{sum(one.size is size and one.end is End.LOST for one in column.ended)}" for column in columns]
        table.append((f"  lost, {size}", told))
    table += [
        ("availability", [f"{column.answered_share():.0%}" for column in columns]),
        ("backend deaths", [str(column.deaths) for column in columns]),
        ("  down, all cold starts: s", [f"{column.down_s:.1f}" for column in columns]),
        ("  longest cold start: s", [f"{column.longest_down_s:.1f}" for column in columns]),
        ("allocations that failed", [str(column.failed_allocations) for column in columns]),
        ("peak of the memory for requests", [f"{column.peak_share:.0%}" for column in columns]),
        ("model answers: P50 s", [f"{column.quantile_s(0.5):.2f}" for column in columns]),
        ("model answers: P99 s", [f"{column.quantile_s(0.99):.2f}" for column in columns]),
        ("  short ones: P99 s", [f"{column.quantile_s(0.99, sizes=[Size.SHORT]):.2f}" for column in columns]),
    ]
    return table


def markdown(columns: Sequence[Column]) -> str:
    """The table as Markdown whose columns stand under each other as plain text, too."""
    lines = [["", *(column.name for column in columns)], *([name, *cells] for name, cells in rows(columns))]
    widths = [max(3, *(len(line[index]) for line in lines)) for index in range(len(lines[0]))]
    head, *body = [_line(line, widths) for line in lines]
    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([head, f"|{rule}|", *body])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Names to the left, figures to the right."""
    figures = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return f"| {' | '.join([cells[0].ljust(widths[0]), *figures])} |"
