import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fidelity.windows import batches, windows


@given(length=st.integers(0, 5000), size=st.integers(2, 600))
def test_windows_keep_every_token_exactly_once_and_in_order(length, size):
    kept = [token for w in windows(length, size) for token in range(w.keep_start, w.keep_stop)]
    assert kept == list(range(length))


@given(length=st.integers(0, 5000), size=st.integers(2, 600))
def test_a_window_is_never_larger_than_asked_and_holds_what_it_keeps(length, size):
    for w in windows(length, size):
        assert w.stop - w.start <= size
        assert w.start <= w.keep_start <= w.keep_stop <= w.stop


@given(length=st.integers(600, 5000))
def test_a_kept_token_inside_a_long_text_has_a_quarter_window_around_it(length):
    size = 512
    for w in windows(length, size):
        assert w.keep_start == 0 or w.keep_start - w.start >= size // 4
        assert w.keep_stop == length or w.stop - w.keep_stop >= size // 4


def test_a_window_of_one_token_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        windows(10, 1)


@given(lengths=st.lists(st.integers(1, 600), max_size=200), budget=st.integers(1, 4096))
def test_batches_hold_every_index_once_and_stay_within_the_budget(lengths, budget):
    groups = batches(lengths, budget)
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[i] for i in group) <= budget
