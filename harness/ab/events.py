"""What users did with the answers: a CSV of events, read strictly.

    time,policy,item_id,impressions,clicks,csat
    2026-03-01T12:05:00Z,A,support-en-001,120,9,0.9
    2026-03-01T12:05:00Z,B,support-en-001,118,11,

`time`: ISO 8601 with its offset. `policy`: A or B, in the order of the command line. `item_id`: an item of both runs.
`impressions`: how often the answer was shown, at least 1; `clicks`: how many of them were clicked. `csat`: mean
satisfaction of those who were asked, in [0, 1], blank when nobody was.
"""

import csv
import io
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from harness.errors import ConfigError
from harness.stats import mean

COLUMNS = ("time", "policy", "item_id", "impressions", "clicks", "csat")
POLICIES = ("A", "B")
MOST_DIGITS = 15  # of a count: no count is longer, and Python refuses to read one of over 4,300
MOST_SHOWN = 40  # characters of a value in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One row: answers to one item, shown and clicked."""

    at_s: float  # Unix time
    policy: str  # "A" or "B"
    item_id: str
    impressions: int
    clicks: int
    csat: float | None = None  # in [0, 1]; None: nobody was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEvents:
    """The events of one policy."""

    events: tuple[Event, ...]

    @classmethod
    def of(cls, policy: str, events: Sequence[Event]) -> "PolicyEvents":
        return cls(events=tuple(event for event in events if event.policy == policy))

    def ctr_of_items(self) -> dict[str, float]:
        """Clicks over impressions, in [0, 1]."""
        return {
            item: sum(event.clicks for event in rows) / sum(event.impressions for event in rows)
            for item, rows in by_item(self.events).items()
        }

    def csat_of_items(self) -> dict[str, float]:
        """Mean over the rows that have one; items without any are left out."""
        found = {item: [e.csat for e in rows if e.csat is not None] for item, rows in by_item(self.events).items()}
        return {item: mean(values) for item, values in found.items() if values}


def by_item(events: Sequence[Event]) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for event in events:
        found.setdefault(event.item_id, []).append(event)
    return found


def read_events(file: Path, items: Collection[str]) -> list[Event]:
    """Raises ConfigError with file, line, field and value for the first thing that is wrong."""
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    rows = list(numbered_rows(file, text))
    if not rows:
        raise ConfigError(f"{file}: no event below the header; leave --events out where there are none")
    return [event_of(f"{file}, line {number}", row, items) for number, row in rows]


def numbered_rows(file: Path, text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Each row below the header with its line number."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        require_header(file, header)
        for cells in filter(None, reader):
            if len(cells) != len(COLUMNS):
                raise ConfigError(
                    f"{file}, line {reader.line_num}: {len(cells)} cells; need {len(COLUMNS)} ({','.join(COLUMNS)})"
                )
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise ConfigError(f"{file}, line {reader.line_num}: not CSV: {error}") from None


def require_header(file: Path, header: Sequence[str]) -> None:
    wanted = f"the header has to be {','.join(COLUMNS)}"
    if unknown := [name for name in header if name not in COLUMNS]:
        raise ConfigError(f"{file}, line 1: unknown column {unknown[0]!r}; {wanted}")
    if missing := [name for name in COLUMNS if name not in header]:
        raise ConfigError(f"{file}, line 1: column {missing[0]!r} is missing; {wanted}")
    if len(header) != len(COLUMNS):
        raise ConfigError(f"{file}, line 1: a column is there twice; {wanted}")


def event_of(place: str, row: Mapping[str, str], items: Collection[str]) -> Event:
    if row["policy"] not in POLICIES:
        raise ConfigError(f"{place}: policy is {shown(row['policy'])}; it has to be A or B")
    if row["item_id"] not in items:
        raise ConfigError(f"{place}: item_id is {shown(row['item_id'])}; neither run has such an item")
    impressions = count_of(place, "impressions", row["impressions"], least=1)
    clicks = count_of(place, "clicks", row["clicks"], least=0)
    if clicks > impressions:
        raise ConfigError(f"{place}: clicks is {clicks}; it has to be at most impressions ({impressions})")
    return Event(
        at_s=time_of(place, row["time"]),
        policy=row["policy"],
        item_id=row["item_id"],
        impressions=impressions,
        clicks=clicks,
        csat=csat_of(place, row["csat"]),
    )


def time_of(place: str, text: str) -> float:
    wanted = "it has to be ISO 8601 with an offset, as 2026-03-01T12:05:00Z"
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{place}: time is {shown(text)}; {wanted}") from None
    if time.tzinfo is None:
        raise ConfigError(f"{place}: time is {shown(text)}, without an offset; {wanted}")
    return time.timestamp()


def count_of(place: str, name: str, text: str, *, least: int) -> int:
    digits = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    if not digits or int(text) < least:
        most = f"at least {least} and of at most {MOST_DIGITS} digits"
        raise ConfigError(f"{place}: {name} is {shown(text)}; it has to be a whole number, {most}")
    return int(text)


def csat_of(place: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        wanted = "in [0, 1] or blank (five stars: (stars − 1) / 4; percent: / 100)"
        raise ConfigError(f"{place}: csat is {shown(text)}; it has to be {wanted}")
    return value


def shown(text: str) -> str:
    """Short enough for one line."""
    return repr(text) if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]!r}… ({len(text)} characters)"
