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
