import io
import sqlite3

import numpy as np
import pytest

from harness.errors import ConfigError
from harness.fidelity.cache import EncodedCache
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
