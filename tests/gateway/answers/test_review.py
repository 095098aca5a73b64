"""The review queue: durable, decided once, bounded, and honest about a full disk."""

import sqlite3

import pytest

from gateway.review import Held, ReviewError, ReviewQueue, Status

HELD = Held(
    path="secondary", task="entity_extraction", delta=0.5, entropy=0.2, question="Who?", answer="A", stands_for="B"
)


def queue(path, max_bytes: int = 1_000_000) -> ReviewQueue:
    return ReviewQueue(path, max_bytes=max_bytes, now_unix_s=lambda: 7.0)


def test_an_entry_is_there_for_the_next_process_and_decided_once(tmp_path):
    path = tmp_path / "review.db"
    first, second = queue(path).put(HELD), queue(path).put(HELD)
    again = queue(path)
    assert [entry.id for entry in again.entries()] == [first, second]
    settled = again.settle(first, Status.REJECTED, note="wrong name")
    assert (settled.status, settled.note, settled.settled_unix_s) == (Status.REJECTED, "wrong name", 7.0)
    assert [entry.id for entry in again.entries()] == [second]
    assert len(again.entries(None)) == 2
    with pytest.raises(ReviewError, match="is rejected already"):
        again.settle(first, Status.ACCEPTED)
    with pytest.raises(ReviewError, match="no entry 'rev-x'"):
        again.settle("rev-x", Status.ACCEPTED)


def test_a_full_queue_says_so_and_keeps_what_it_has(tmp_path):
    small = queue(tmp_path / "review.db", max_bytes=65_536)
    long = Held(path="p", task="t", delta=None, entropy=0.0, question="q" * 9000, answer="a", stands_for=None)
    small.put(long)
    kept = 1

    def fill_up() -> None:
        nonlocal kept
        for _ in range(20):
            small.put(long)
            kept += 1

    with pytest.raises(ReviewError, match="full"):
        fill_up()
    assert kept == len(small.entries())


def test_a_file_that_is_no_queue_is_refused(tmp_path):
    path = tmp_path / "review.db"
    with pytest.raises(ReviewError, match="no such review queue"):
        queue(path).entries()
    path.write_bytes(b"not a database at all, but long enough to look at" * 50)
    with pytest.raises(ReviewError):
        queue(path).put(HELD)
    path.unlink()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(ReviewError, match="version 9, this one reads 1"):
        queue(path).put(HELD)
