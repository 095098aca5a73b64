import io
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from harness.errors import ConfigError
from harness.fidelity.cache import EncodedCache, damaged, remedy
from harness.fidelity.encoder import Encoded


def encoded(value: float, tokens: int = 4) -> Encoded:
    return Encoded(
        ids=np.arange(tokens),
        spans=np.zeros((tokens, 2), np.int32),
        content=np.ones(tokens, np.bool_),
        tokens=np.full((tokens, 8), value, np.float32),
        sentence=np.full(8, value, np.float32),
        unknown=("雨",),
        flags=("windowed",),
    )


@pytest.fixture
def cache(tmp_path):
    made = EncodedCache(tmp_path, settings="a")
    yield made
    made.close()


def test_what_was_put_comes_back_whole(cache):
    cache.put({"x": encoded(0.5)})
    found = cache.get(["x", "y"])
    assert list(found) == ["x"]
    assert np.array_equal(found["x"].tokens, encoded(0.5).tokens)
    assert (found["x"].flags, found["x"].unknown) == (("windowed",), ("雨",))


def test_other_settings_share_nothing(cache, tmp_path):
    cache.put({"x": encoded(0.5)})
    other = EncodedCache(tmp_path, settings="b")
    assert other.get(["x"]) == {}
    other.close()


def test_the_least_recently_used_go_first(tmp_path):
    probe = EncodedCache(tmp_path / "probe", settings="a")
    probe.put({"x": encoded(1)})
    size = probe.size_bytes()
    probe.close()
    cache = EncodedCache(tmp_path / "real", settings="a", limit_bytes=3 * size)
    for name in "abc":
        cache.put({name: encoded(1)})
    cache.get(["a"])
    cache.put({"d": encoded(1)})
    assert sorted(cache.get("abcd")) == ["a", "c", "d"]
    assert cache.size_bytes() <= 3 * size
    cache.close()


def test_a_damaged_entry_is_a_miss(cache, tmp_path):
    cache.put({"x": encoded(0.5)})
    with sqlite3.connect(tmp_path / "encoded.sqlite") as database:
        database.execute("UPDATE encoded SET data = substr(data, 1, 700)")
    database.close()
    assert cache.get(["x"]) == {}


def test_a_damaged_file_is_made_anew(tmp_path):
    (tmp_path / "encoded.sqlite").write_bytes(b"not a database at all" * 100)
    cache = EncodedCache(tmp_path, settings="a")
    cache.put({"x": encoded(0.5)})
    assert list(cache.get(["x"])) == ["x"]
    cache.close()


def test_a_bound_of_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="limit_bytes is 0"):
        EncodedCache(tmp_path, settings="a", limit_bytes=0)


def spoil(path):
    """Overwrite all pages but the first, which is the one that is looked at when the file is opened."""
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def test_damage_found_while_reading_is_mended_and_told_once(tmp_path):
    full = EncodedCache(tmp_path, settings="a")
    full.put({f"{i}": encoded(0.5, tokens=100) for i in range(20)})
    full.close()
    spoil(tmp_path / "encoded.sqlite")
    err = io.StringIO()
    cache = EncodedCache(tmp_path, settings="a", err=err)
    assert cache.get(["1"]) == {}
    cache.put({"x": encoded(0.5)})
    assert list(cache.get(["x", "1"])) == ["x"]
    assert err.getvalue().count("\n") == 1
    assert "damaged" in err.getvalue()
    assert "made anew" in err.getvalue()
    cache.close()


def test_a_table_of_another_shape_is_made_anew(tmp_path):
    with sqlite3.connect(tmp_path / "encoded.sqlite") as database:
        database.execute("CREATE TABLE encoded (text TEXT)")
    database.close()
    err = io.StringIO()
    cache = EncodedCache(tmp_path, settings="a", err=err)
    cache.put({"x": encoded(0.5)})
    assert list(cache.get(["x"])) == ["x"]
    assert err.getvalue().count("made anew") == 1
    cache.close()


@pytest.mark.parametrize("locked_first", [True, False])
def test_a_cache_that_another_process_locks_is_kept_and_done_without(tmp_path, locked_first):
    filled = EncodedCache(tmp_path, settings="a")
    filled.put({"x": encoded(0.5)})
    filled.close()
    file, err = tmp_path / "encoded.sqlite", io.StringIO()
    cache = None if locked_first else EncodedCache(tmp_path, settings="a", busy_s=0.01, err=err)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE" if locked_first else "PRAGMA busy_timeout = 0")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("INSERT INTO encoded VALUES ('k', 1, 1, x'00')")
    cache = cache or EncodedCache(tmp_path, settings="a", busy_s=0.01, err=err)
    inode = file.stat().st_ino
    assert cache.get(["x"]) == {}
    cache.put({"y": encoded(0.5)})
    assert (cache.get(["y"]), cache.size_bytes()) == ({}, 0)
    assert err.getvalue().count("\n") == 1
    assert "going on without it" in err.getvalue()
    assert file.stat().st_ino == inode
    cache.close()
    other.execute("ROLLBACK")
    other.close()
    again = EncodedCache(tmp_path, settings="a")
    assert list(again.get(["x"])) == ["x"]
    again.close()


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT_INDEX])
def test_malformed_and_no_database_are_damage(code):
    assert damaged(sqlite_error(code))


@pytest.mark.parametrize(
    ("code", "to_do"),
    [
        (sqlite3.SQLITE_ERROR, "remove the file if nothing else needs it"),
        (sqlite3.SQLITE_FULL, "free some space"),
        (sqlite3.SQLITE_BUSY, "wait until that has ended"),
        (sqlite3.SQLITE_LOCKED, "wait until that has ended"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "make the file and its folder writable"),
        (sqlite3.SQLITE_CANTOPEN, "make the file and its folder readable"),
        (sqlite3.SQLITE_IOERR_READ, "its disk cannot be read or written"),
    ],
)
def test_an_error_that_is_no_damage_says_what_to_do(code, to_do):
    assert not damaged(sqlite_error(code))
    assert to_do in remedy(sqlite_error(code))


def test_an_error_of_how_it_is_used_is_no_damage():
    assert not damaged(sqlite3.ProgrammingError("Cannot operate on a closed database."))


def a_file_that_may_not_be_written(path):
    """A whole file of a later format, which SQLite reads and does not write; rights would not keep root from it."""
    data = bytearray(path.read_bytes())
    data[18] = 3
    path.write_bytes(data)


def a_file_without_its_table(path):
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE encoded")
        database.execute("CREATE VIEW encoded AS SELECT 'x' AS key, 1 AS used, 1 AS size_bytes, x'00' AS data")
    database.close()


@pytest.mark.parametrize("spoil_it", [a_file_that_may_not_be_written, a_file_without_its_table])
def test_a_file_that_is_whole_and_cannot_be_used_stays_as_it_is(tmp_path, spoil_it):
    filled = EncodedCache(tmp_path, settings="a")
    filled.put({"x": encoded(0.5)})
    filled.close()
    file, err = tmp_path / "encoded.sqlite", io.StringIO()
    spoil_it(file)
    before = file.stat().st_ino, file.read_bytes()
    cache = EncodedCache(tmp_path, settings="a", err=err)
    cache.put({"y": encoded(0.5)})
    assert cache.get(["x", "y"]) == {}
    cache.close()
    assert (file.stat().st_ino, file.read_bytes()) == before
    assert err.getvalue().count("\n") == 1
    assert "name another folder" in err.getvalue()
    assert "going on without it" in err.getvalue()


def test_of_a_file_with_a_table_of_another_shape_the_rest_stays(tmp_path):
    with sqlite3.connect(tmp_path / "encoded.sqlite") as database:
        database.execute("CREATE TABLE encoded (text TEXT)")
        database.execute("CREATE TABLE notes AS SELECT 'mine' AS text")
    database.close()
    err = io.StringIO()
    cache = EncodedCache(tmp_path, settings="a", err=err)
    cache.put({"x": encoded(0.5)})
    assert list(cache.get(["x"])) == ["x"]
    cache.close()
    with sqlite3.connect(tmp_path / "encoded.sqlite") as database:
        assert database.execute("SELECT text FROM notes").fetchall() == [("mine",)]
    database.close()
    assert "text, and not key, used, size_bytes, data" in err.getvalue()


def test_use_in_another_thread_costs_no_file(tmp_path):
    err = io.StringIO()
    cache = EncodedCache(tmp_path, settings="a", err=err)
    cache.put({"x": encoded(0.5)})
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(cache.get, ["x"]).result() == {}
    assert "use it in the thread that made it" in err.getvalue()
    cache.close()
    again = EncodedCache(tmp_path, settings="a")
    assert list(again.get(["x"])) == ["x"]
    again.close()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "taken").write_text("x")
    with pytest.raises(ConfigError, match=r"taken cannot be the folder of the cache: .*; name another"):
        EncodedCache(tmp_path / "taken", settings="a")
