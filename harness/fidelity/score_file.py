"""Score and judge a file of pairs in bounded memory; a broken row is reported and the others go on.

What is held does not depend on how many rows there are: one block (`ROWS_AT_ONCE`, `CHARS_AT_ONCE`, `BYTES_AT_ONCE`),
one line (`MAX_LINE_BYTES`), the ids (`ids.MEMORY_BYTES`, then a temporary file), `MOST_UNUSED` names of unknown fields,
and the caches of those who score and judge, each with a limit of its own (docs/design/fidelity-scores.md).
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO

from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Judgement, Similarity
from harness.fidelity.distinct import Judge, judge_distinct
from harness.fidelity.ids import Ids
from harness.fidelity.llm_judge import unmeasured
from harness.fidelity.pairs import Row, RowError, output_row, parse_row

ROWS_AT_ONCE = 512
CHARS_AT_ONCE = 400_000
BYTES_AT_ONCE = 8 << 20  # prompts, facts and contracts included
MOST_UNUSED = 100  # unknown fields that are named
NAME_CHARS = 60
MAX_LINE_BYTES = 64 << 20
MOST_LINKS = 40  # from one to the next
_DESCRIPTOR = re.compile(r"/dev/fd/\d+|/proc/\d+/(?:task/\d+/)?fd/\d+")


class PairScorer(Protocol):
    """What is needed of a scorer."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Similarity]: ...


@dataclass(slots=True, kw_only=True)
class Tally:
    """What became of the rows so far."""

    file: Path
    scored: int = 0
    broken: int = 0
    unasked: int = 0  # rows on which the judge model has no opinion
    unused: set[str] = field(default_factory=set)  # unknown fields so far, each cut to `NAME_CHARS`


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFile:
    """One pass over a file of pairs."""

    scorer: PairScorer
    judge: Judge
    err: TextIO = field(default_factory=lambda: sys.stderr)

    def run(self, source: Path, target: Path) -> int:
        """0, or 2 when a row was broken or a judge model had no opinion on it.

        `target` is written beside its place and moved there at the end; a pipe or a device is written to directly, and
        the file that a descriptor such as /dev/stdout stands for gets the rows at its end.

        Raises NothingJudged when no row could be judged, ConfigError when both are the same or one is unusable.
        """
        partial = partial_of(target)
        for written in {target, partial}:
            if written.exists() and source.exists() and os.path.samefile(source, written):
                raise ConfigError(f"{written}: is read and would be written to; name another --output")
        tally = Tally(file=source)
        try:
            with source.open("rb") as lines, partial.open("ab" if partial == target else "wb") as out, Ids() as ids:
                self.rows(self.parsed(lines, ids, tally), out, tally)
        except OSError as error:
            if partial != target:
                partial.unlink(missing_ok=True)
            raise ConfigError(f"{error.filename or target}: {error.strerror}; nothing was kept") from None
        except BaseException:
            if partial.is_file():
                print(f"stopped: {tally.scored} scored rows are in {partial}", file=self.err)
            raise
        if not tally.scored:
            if partial != target:
                partial.unlink()
            raise NothingJudged(f"{source}: nothing judged: {tally.broken} broken rows and no other")
        if partial != target:
            partial.replace(target.resolve())
        self.summary(tally, target)
        return 2 if tally.broken or tally.unasked else 0

    def rows(self, parsed: Iterable[Row], out: BinaryIO, tally: Tally) -> None:
        for block in blocks(parsed):
            for row, judgement in self.judged(block, tally):
                text = json.dumps(output_row(row, judgement), ensure_ascii=False, allow_nan=False)
                # Half a surrogate pair cannot be written as UTF-8; as an escape it is valid JSON.
                out.write(text.encode("utf-8", "backslashreplace") + b"\n")
                tally.scored += 1
                tally.unasked += unmeasured(judgement)
            out.flush()
            print(f"{tally.scored} rows scored, {tally.broken} broken", file=self.err)

    def parsed(self, lines: BinaryIO, ids: Ids, tally: Tally) -> Iterator[Row]:
        for number, line in numbered(lines):
            try:
                row = parse_row(line, number)
                ids.add(row)
            except RowError as error:
                self.broken(number, str(error), tally)
            else:
                self.tell_unused(row, tally)
                yield row

    def tell_unused(self, row: Row, tally: Tally) -> None:
        """Name each unknown field once, and no more than `MOST_UNUSED`."""
        for name in dict.fromkeys(name[:NAME_CHARS] for name in row.unused):
            if name in tally.unused or len(tally.unused) >= MOST_UNUSED:
                continue
            tally.unused.add(name)
            more = "; no further ones are named" if len(tally.unused) == MOST_UNUSED else ""
            print(f"{tally.file}: line {row.line}: field {name!r} is not used{more}", file=self.err)

    def judged(self, block: list[Row], tally: Tally) -> list[tuple[Row, Judgement]]:
        """The block at once; row by row when something in it breaks the judge, so that only that row is lost."""
        try:
            return self.judged_together(block)
        except Exception as error:
            if len(block) == 1:
                self.broken(block[0].line, f"cannot be judged: {type(error).__name__}: {error}", tally)
                return []
        return [pair for row in block for pair in self.judged([row], tally)]

    def judged_together(self, block: list[Row]) -> list[tuple[Row, Judgement]]:
        similarities = self.scorer.score([(row.case.reference, row.case.candidate) for row in block])
        judgements = judge_distinct(self.judge, [row.case for row in block], similarities)
        return list(zip(block, judgements, strict=True))

    def broken(self, line: int, reason: str, tally: Tally) -> None:
        tally.broken += 1
        print(f"{tally.file}: line {line}: {reason}", file=self.err)

    def summary(self, tally: Tally, target: Path) -> None:
        lost = f"; {tally.broken} broken rows are missing from it, see above" if tally.broken else ""
        asked = f"; on {tally.unasked} of them the judge model has no opinion" if tally.unasked else ""
        print(f"{target}: {tally.scored} rows{lost}{asked}", file=self.err)


def partial_of(target: Path) -> Path:
    """Where the rows go until all are there: beside `target`, or beside what it is a link to."""
    if (target.exists() and not target.is_file()) or is_descriptor(target):
        return target
    return target.resolve().with_name(f"{target.name}.part")


def is_descriptor(path: Path) -> bool:
    """Whether `path` is, or links to, an open file by its number: the file belongs to whoever opened it."""
    for _ in range(MOST_LINKS):
        path = path.parent.resolve() / path.name
        if _DESCRIPTOR.fullmatch(str(path)):
            return True
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return False


def numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, counted from 1; one beyond `MAX_LINE_BYTES` is cut, and so no JSON."""
    number = 0
    while line := lines.readline(MAX_LINE_BYTES):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = lines.readline(MAX_LINE_BYTES)
        if line.strip():
            yield number, line


def blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    block: list[Row] = []
    chars = size_bytes = 0
    for row in rows:
        block.append(row)
        chars += len(row.case.reference) + len(row.case.candidate) + len(row.case.context)
        size_bytes += row.size_bytes
        if len(block) >= ROWS_AT_ONCE or chars >= CHARS_AT_ONCE or size_bytes >= BYTES_AT_ONCE:
            yield block
            block, chars, size_bytes = [], 0, 0
    if block:
        yield block
