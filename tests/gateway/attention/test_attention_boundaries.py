"""Where the attention's entropy falls, a text may be cut; the rest of truncation does not change."""

from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.attention.boundaries import deepest, drops_between, relative
from gateway.prompt import CharCounter, fit
from gateway.prompt.passage import OMISSION

COUNT = CharCounter()
TOPICS = ["Cats sleep all day.", "Cats eat fish.", "Cats hate rain.", "Trains run hourly.", "Trains cost little."]
ASKED = "What do cats eat?"


class Told:
    """Says what a test wants to hear, and remembers what it was asked."""

    def __init__(self, *drops):
        self.told = list(drops)
        self.asked = []

    def drops(self, pieces):
        self.asked.append([piece.strip() for piece in pieces])
        return self.told.pop(0) if self.told else None


def chat(*sentences):
    return [{"role": "user", "content": " ".join(sentences) + f"\n\n{ASKED}"}]


def test_entropy_is_a_share_of_what_a_token_can_have():
    assert relative([0.0, 0.0, log(2), log(3) / 2]) == pytest.approx([0.0, 0.0, 1.0, 0.5])


def test_a_drop_is_the_fall_from_the_end_of_one_piece_to_the_start_of_the_next():
    starts = (0, 2, 4, 6, 8, 10)
    entropies = (0.0, 0.0, log(2), log(3), 0.0, log(5))
    found = drops_between(["aaaaaaaa", "bb", "cc", "dd"], starts=starts, entropies=entropies)
    assert found == [pytest.approx(0.5), pytest.approx(-1.0), None]  # nothing of the last piece was read


def test_the_deepest_drop_is_taken_and_none_where_nothing_falls():
    assert deepest([0.1, None, 0.4, 0.4, -0.2]) == 3
    assert deepest([-0.1, None, 0.0]) is None
    assert deepest([]) is None


def contents(messages, limit, boundaries):
    cut = fit(messages, limit_tokens=limit, count=COUNT, boundaries=boundaries)
    assert cut.prompt_tokens <= limit
    return cut.messages[-1]["content"]


def test_the_newest_text_begins_and_the_start_ends_where_the_entropy_falls():
    messages = chat(*TOPICS * 12)
    limit = COUNT.count_messages(messages) // 2
    without = contents(messages, limit, None)
    told = Told(None, None)
    assert contents(messages, limit, told) == without
    newest, head = told.asked
    assert len(newest) > 2
    assert len(head) > 2
    falls_last = [None] * (len(newest) - 2) + [0.5]
    falls_first = [0.5] + [None] * (len(head) - 2)
    heard = Told(falls_last, falls_first)
    assert contents(messages, limit, heard) != without
    assert heard.asked == told.asked  # the same places are looked at, whatever is said of them


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    sentences=st.lists(st.sampled_from([*TOPICS, "| a | b |\n|---|---|\n| 1 | 2 |\n", "Never do that."]), min_size=3),
    share=st.floats(0.3, 0.95),
    said=st.lists(st.one_of(st.none(), st.floats(-1, 1)), min_size=40, max_size=40),
)
def test_whatever_is_said_the_prompt_fits_and_ends_with_the_question(sentences, share, said):
    class Says:
        def drops(self, pieces):
            return (said * 20)[: len(pieces) - 1]

    messages = chat(*sentences * 3)
    limit = max(80, int(share * COUNT.count_messages(messages)))
    text = contents(messages, limit, Says())
    assert text.endswith(ASKED)
    original = messages[0]["content"]
    assert all(piece.strip() in original for piece in text.split(OMISSION))
