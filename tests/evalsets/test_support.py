"""The set `support` is what its card promises."""

from __future__ import annotations

from collections import Counter

from evalsets import lint_set, load_set


def test_the_set_is_clean():
    assert lint_set("support") == []


def test_both_languages_and_every_kind_are_there_in_numbers():
    items = load_set("support")
    langs = Counter(item.lang for item in items)
    tags = Counter(tag for item in items for tag in item.tags)
    assert langs["en"] >= 44
    assert langs["zh"] >= 28
    assert tags["long-context"] >= 8
    assert tags["final-instruction"] >= 8
    assert sum(item.contract is not None for item in items) >= 10


def test_a_final_instruction_stands_at_the_end_of_the_last_message():
    for item in load_set("support"):
        assert item.messages()[-1]["content"].endswith(item.prompt)


def test_long_contexts_say_where_the_decisive_words_stand():
    places = {"fact-near-start", "fact-near-end", "fact-cut"}
    for item in load_set("support"):
        assert ("long-context" in item.tags) == (len(places.intersection(item.tags)) == 1), item.id
