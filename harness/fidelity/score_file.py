"""Score and judge a file of pairs in bounded memory; a broken row is reported and the others go on."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO

from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Judgement, Similarity
from harness.fidelity.distinct import Judge, judge_distinct
from harness.fidelity.llm_judge import unmeasured
from harness.fidelity.pairs import Ids, Row, RowError, output_row, parse_row

ROWS_AT_ONCE = 512
CHARS_AT_ONCE = 400_000
MAX_LINE_BYTES = 64 << 20


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
    unused: set[str] = field(default_factory=set)
    ids: Ids = field(default_factory=Ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFile:
    """One pass over a file of pairs."""

    scorer: PairScorer
    judge: Judge
    err: TextIO = field(default_factory=lambda: sys.stderr)

    def run(self, source: Path, target: Path) -> int:
        """0, or 2 when a row was broken or a judge model had no opinion on it.

        `target` is written beside its place and moved there at the end.

        Raises NothingJudged when no row could be judged, ConfigError when both are the same or one is unusable.
        """
        if target.exists() and source.exists() and os.path.samefile(source, target):
            raise ConfigError(f"{target}: input and output are the same file; name another --output")
        partial = target.with_name(f"{target.name}.part")
        tally = Tally(file=source)
        try:
            with source.open("rb") as lines, partial.open("wb") as out:
                self.rows(lines, out, tally)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise ConfigError(f"{error.filename or target}: {error.strerror}; nothing was kept") from None
        except BaseException:
            if partial.exists():
                print(f"stopped: {tally.scored} scored rows are in {partial}", file=self.err)
            raise
        if not tally.scored:
            partial.unlink()
            raise NothingJudged(f"{source}: nothing judged: {tally.broken} broken rows and no other")
        partial.replace(target)
        self.summary(tally, target)
        return 2 if tally.broken or tally.unasked else 0

    def rows(self, lines: BinaryIO, out: BinaryIO, tally: Tally) -> None:
        for block in blocks(self.parsed(lines, tally)):
            for row, judgement in self.judged(block, tally):
                text = json.dumps(output_row(row, judgement), ensure_ascii=False, allow_nan=False)
                # Half a surrogate pair cannot be written as UTF-8; as an escape it is valid JSON.
                out.write(text.encode("utf-8", "backslashreplace") + b"\n")
                tally.scored += 1
                tally.unasked += unmeasured(judgement)
            out.flush()
            print(f"{tally.scored} rows scored, {tally.broken} broken", file=self.err)

    def parsed(self, lines: BinaryIO, tally: Tally) -> Iterator[Row]:
        for number, line in numbered(lines):
            try:
                row = parse_row(line, number)
                tally.ids.add(row)
            except RowError as error:
                self.broken(number, str(error), tally)
            else:
                for name in set(row.unused) - tally.unused:
                    print(f"{tally.file}: line {number}: field {name!r} is not used", file=self.err)
                tally.unused.update(row.unused)
                yield row

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
    chars = 0
    for row in rows:
        block.append(row)
        chars += len(row.case.reference) + len(row.case.candidate) + len(row.case.context)
        if len(block) >= ROWS_AT_ONCE or chars >= CHARS_AT_ONCE:
            yield block
            block, chars = [], 0
    if block:
        yield block
