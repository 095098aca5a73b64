"""What is remembered of the rows of a file does not grow with them."""

import io
import json
import tracemalloc
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.fidelity.case import Case, Judgement, Label, Similarity
from harness.fidelity.ids import Ids
from harness.fidelity.pairs import Row, RowError
from harness.fidelity.score_file import MOST_UNUSED, ScoreFile

SCORES = dict.fromkeys(("bertscore_p", "bertscore_r", "bertscore_f1", "cosine", "composite"), 0.5)
SMALL_BYTES = 64 << 10


def row(identity: str | int, line: int) -> Row:
    return Row(line, identity, Case(id=str(identity), reference="r", candidate="c"), ())


class Same:
    """Stands for the scorer and the judge."""

    def score(self, pairs):
        return [Similarity(**SCORES)] * len(pairs)

    def judge(self, cases, similarities):
        return [
            Judgement(id=case.id, label=Label.FAITHFUL, risk=0.1, reasons=(), similarity=one)
            for case, one in zip(cases, similarities, strict=True)
        ]


def peak_bytes(folder: Path, rows: int) -> int:
    """Most that `truefall score` holds at once in objects of Python's own."""
    source = folder / f"{rows}.jsonl"
    with source.open("w") as lines:
        for i in range(rows):
            lines.write(json.dumps({"id": f"row {i}", "reference": "r", "candidate": "c", f"field {i}": 1}) + "\n")
    both = Same()
    tracemalloc.start()
    try:
        with (folder / "err").open("w") as err:
            ScoreFile(scorer=both, judge=both.judge, err=err).run(source, folder / "out")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_id_is_known_again_long_after_its_place_in_memory_was_needed_by_others() -> None:
    with Ids(memory_bytes=SMALL_BYTES) as ids:
        for line in range(1, 5001):
            ids.add(row(f"id {line}", line))
        (size,) = ids._database.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchone()
        assert size > 2 * SMALL_BYTES  # more than it may hold, so the rest is in the file
        with pytest.raises(RowError, match='id "id 1" stands in line 1 too'):
            ids.add(row("id 1", 5001))
        ids.add(row("id 5001", 5002))


def test_the_memory_of_the_ids_has_a_limit() -> None:
    with Ids(memory_bytes=SMALL_BYTES) as ids:
        assert ids._database.execute("PRAGMA cache_size").fetchone() == (-64,)


def test_a_number_is_the_same_id_as_its_digits() -> None:
    with Ids() as ids:
        ids.add(row(7, 1))
        with pytest.raises(RowError, match='id "7" stands in line 1 too'):
            ids.add(row("7", 2))


def test_a_full_disk_is_told_in_one_line() -> None:
    def add_many(ids: Ids) -> None:
        for line in range(5000):
            ids.add(row(line, line))

    with Ids(memory_bytes=SMALL_BYTES) as ids:
        ids._database.execute("PRAGMA max_page_count = 8")
        with pytest.raises(ConfigError, match="free some space or set TMPDIR"):
            add_many(ids)


@pytest.mark.slow
def test_four_times_the_rows_need_no_more_memory(tmp_path: Path) -> None:
    peak_bytes(tmp_path, 600)  # what is loaded once
    # What comes once, whenever it comes (a table of the interpreter that grows), is not in the least of three.
    few, many = (min(peak_bytes(tmp_path, rows) for _ in range(3)) for rows in (1_100, 4_400))
    assert many < few + 60_000  # 20 bytes for each row more would be too much


def test_no_more_unknown_fields_are_named_than_are_remembered(tmp_path: Path) -> None:
    given = {"reference": "r", "candidate": "c"}
    rows = [{"id": i, **given, f"field {i:03}": 1} for i in range(MOST_UNUSED + 20)]
    (tmp_path / "in").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    both, err = Same(), io.StringIO()
    assert ScoreFile(scorer=both, judge=both.judge, err=err).run(tmp_path / "in", tmp_path / "out") == 0
    told = [line for line in err.getvalue().splitlines() if "is not used" in line]
    assert len(told) == MOST_UNUSED
    assert told[-1].endswith("is not used; no further ones are named")
