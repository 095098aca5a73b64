"""What was read is remembered up to a number of characters, not of texts."""

import gc
import weakref

import pytest

from harness.fidelity.reading.remembered import LONG_CHARS, MOST_HUGE, MOST_LONG, MOST_SHORT, SHORT_CHARS, remembered


class Made:
    """Something that may be gone."""


@pytest.mark.parametrize(
    ("chars", "most"), [(SHORT_CHARS, MOST_SHORT), (LONG_CHARS, MOST_LONG), (LONG_CHARS + 1, MOST_HUGE)]
)
def test_the_longer_the_texts_the_fewer_are_kept(chars: int, most: int) -> None:
    made: list[weakref.ref[Made]] = []

    @remembered
    def read(text: str) -> Made:
        one = Made()
        made.append(weakref.ref(one))
        return one

    for number in range(most + 10):
        read(f"{number}".ljust(chars, "x"))
    gc.collect()
    assert sum(one() is not None for one in made) == most


def test_a_text_that_is_asked_for_again_is_read_once() -> None:
    asked: list[str] = []

    @remembered
    def read(text: str, lang: str | None = None) -> int:
        asked.append(text)
        return len(text)

    assert [read("abc"), read("abc"), read("abc", "en"), read("abc", lang="en")] == [3] * 4
    assert asked == ["abc"] * 3  # how it is called makes a difference, as with any such cache


def test_long_texts_that_the_checks_read_are_let_go() -> None:
    from harness.fidelity.reading.text import read

    texts = [weakref.ref(read(f"The parcel {number} " * 1000)) for number in range(MOST_HUGE + 5)]
    gc.collect()
    assert sum(one() is not None for one in texts) <= MOST_HUGE
