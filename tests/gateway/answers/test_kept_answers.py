"""Kept answers: bounds, ages, keys, and the file they survive a restart in."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answers import cache_file
from gateway.answers.cache import AnswerCache, Entry, Outcome, Place, hashed_place
from gateway.answers.cache_key import asked_of, tenant_of
from gateway.answers.embedding import embed
from gateway.answers.wording import Lexicon
from gateway.errors import ConfigError
from gateway.request import parse


class Wall:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def entry(key: str, text: str = "answer", at_s: float = 1000.0) -> Entry:
    return Entry(key=key, text=text, model="m", stored_unix_s=at_s, places=(hashed_place(embed("refund")),))


def get(cache: AnswerCache, key: str, question: str = "refund", **marks):
    limits = {"max_age_s": 60.0, "min_similarity": 0.3, **marks}
    return cache.look_up(key, places=(hashed_place(embed(question)),), **limits).hit


def test_an_answer_is_found_with_its_age_and_similarity_until_it_is_too_old():
    wall = Wall()
    cache = AnswerCache(now_unix_s=wall)
    cache.put(entry("k"), max_entries=9, max_bytes=99_999)
    wall.now_s = 1042.0
    hit = get(cache, "k")
    assert hit is not None
    assert (hit.age_s, round(hit.similarity, 6)) == (42.0, 1.0)
    assert get(cache, "other") is None
    wall.now_s = 1061.0
    assert get(cache, "k") is None
    assert len(cache) == 0


def test_an_answer_kept_by_a_clock_that_was_ahead_is_of_no_known_age_and_not_given():
    wall = Wall()
    cache = AnswerCache(now_unix_s=wall)
    cache.put(entry("k"), max_entries=9, max_bytes=99_999)
    wall.now_s = 999.0
    places = (hashed_place({}),)
    assert cache.look_up("k", places=places, max_age_s=60, min_similarity=0.0) == (Outcome.EXPIRED, None)
    wall.now_s = 1000.0
    assert get(cache, "k") is None  # nor when that time comes: it would be older than it says


def test_an_unlike_question_is_no_hit_even_under_the_same_key():
    cache = AnswerCache(now_unix_s=Wall())
    cache.put(entry("k"), max_entries=9, max_bytes=99_999)
    assert get(cache, "k", "opening hours of the museum") is None
    elsewhere = (Place(space="endpoint:x", vector={0: 1.0}),)
    assert cache.look_up("k", places=elsewhere, max_age_s=9, min_similarity=0.1).hit is None


def test_a_question_without_a_word_that_counts_is_found_again():
    cache = AnswerCache(now_unix_s=Wall())
    cache.put(msgspec.structs.replace(entry("k"), places=(hashed_place({}),)), max_entries=9, max_bytes=99_999)
    assert get(cache, "k", "Why?").similarity == 1.0
    assert get(cache, "k", "Why the refund?") is None


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 400)), max_size=40))
def test_the_cache_never_holds_more_than_its_bounds_and_knows_its_size(puts):
    cache = AnswerCache(now_unix_s=Wall())
    for key, size in puts:
        cache.put(entry(key, "x" * size), max_entries=4, max_bytes=20_000)
        assert len(cache) <= 4
        assert cache.held_bytes == sum(one.cost_bytes for one in cache) <= 20_000


def test_the_least_recently_used_goes_first():
    cache = AnswerCache(now_unix_s=Wall())
    for key in "abc":
        cache.put(entry(key), max_entries=3, max_bytes=99_999)
    get(cache, "a")
    cache.put(entry("d"), max_entries=3, max_bytes=99_999)
    assert [one.key for one in cache] == ["c", "a", "d"]


BASE = {
    "messages": [
        {"role": "system", "content": "You answer for Northfell."},
        {"role": "user", "content": "Orders over 50 USD ship free.\n\nIs shipping free for order A-1?"},
    ]
}


def key_of(body, *, tenant="t", target="primary", ignored=(), **forward):
    asked = asked_of(
        parse(json.dumps(body).encode(), max_tokens_bound=9999),
        tenant=tenant,
        target=target,
        language="en",
        lexicon=Lexicon(),
        ignored_metadata=ignored,
        forward={name.replace("_", "-"): value for name, value in forward.items()},
    )
    return asked.key if asked else None


def with_text(index: int, text: str):
    messages = [dict(message) for message in BASE["messages"]]
    messages[index]["content"] = text
    return {**BASE, "messages": messages}


@pytest.mark.parametrize(
    "other",
    [
        with_text(0, "You answer for Southfell."),
        with_text(1, "Orders over 60 USD ship free.\n\nIs shipping free for order A-1?"),
        with_text(1, "Orders over 50 USD ship free.\n\nIs shipping free for order A-2?"),
        {**BASE, "messages": [*BASE["messages"][:1], {"role": "assistant", "content": "Hm."}, BASE["messages"][1]]},
        {**BASE, "messages": [BASE["messages"][0], {**BASE["messages"][1], "name": "anna"}]},
        {**BASE, "metadata": {"region": "EU"}},
        {**BASE, "user": "anna"},
        {**BASE, "max_tokens": 9},
        {**BASE, "temperature": 1},
        {**BASE, "response_format": {"type": "json_object"}},
    ],
)
def test_whatever_may_change_the_answer_changes_the_key(other):
    assert key_of(other) != key_of(BASE)


def test_headers_that_the_backend_is_sent_change_the_key_and_those_of_one_request_do_not():
    regions = {key_of(BASE), key_of(BASE, x_region="de"), key_of(BASE, x_region="us"), key_of(BASE, x_plan="de")}
    assert len(regions) == 4
    assert key_of(BASE, x_truefall_trial="7f/3", x_request_id="1", traceparent="2") == key_of(BASE)


@pytest.mark.parametrize("more", [{"logprobs": True}, {"top_logprobs": 2}, {"audio": {"voice": "alloy"}}])
def test_what_has_to_hold_more_than_words_has_no_key(more):
    assert key_of({**BASE, **more}) is None
    assert key_of({**BASE, **dict.fromkeys(more)}) is not None


def test_what_a_user_asked_before_a_tool_spoke_changes_the_key():
    found = {"role": "tool", "tool_call_id": "1", "content": "Order A-1: shipped."}
    one, other = ([{"role": "user", "content": f"{do} order A-1?"}, found] for do in ("Find", "Cancel"))
    assert key_of({"messages": one}) != key_of({"messages": other})


def test_one_event_is_not_anothers():
    shipped, delivered, again = (
        key_of(with_text(1, text))
        for text in ("Was order A-1234 shipped?", "Was order A-1234 delivered?", "Hi, was order a-1234 shipped")
    )
    assert shipped == again != delivered


def test_tenant_and_target_change_the_key_and_the_way_it_is_sent_does_not():
    assert len({key_of(BASE), key_of(BASE, tenant="u"), key_of(BASE, target="secondary")}) == 3
    assert key_of({**BASE, "stream": True, "model": "truefall"}) == key_of(BASE)
    traced = {**BASE, "metadata": {"trace": "1", "user": {"id": 7, "trace": "2"}}}
    again = {**BASE, "metadata": {"trace": "9", "user": {"id": 7, "trace": "8"}}}
    assert key_of(traced) != key_of(again)
    assert key_of(traced, ignored=("trace", "user.trace")) == key_of(again, ignored=("trace", "user.trace"))


ASKED = BASE["messages"][1]["content"]


@pytest.mark.parametrize(
    "text",
    [
        f"Hello!\n\n{ASKED}",
        f"{ASKED} Thank you.",
        f"{ASKED}\n\nMany thanks in advance!",
        f"Good morning, thanks. {ASKED} 谢谢！",
    ],
)
def test_greetings_and_thanks_around_it_do_not_change_the_key(text):
    assert key_of(with_text(1, text)) == key_of(BASE)


@pytest.mark.parametrize("more", ["We do.", "Not so.", "Thanks to rule 7 it is.", "谢谢参与的客户免运费。"])
def test_a_short_sentence_that_tells_something_changes_the_key(more):
    assert key_of(with_text(1, f"{more} {ASKED}")) != key_of(BASE)
    alone = "Is shipping free for order A-1?"
    assert key_of(with_text(1, f"{alone} {more}")) != key_of(with_text(1, alone))


@pytest.mark.parametrize(
    "body",
    [
        {**BASE, "tools": [{"type": "function", "function": {"name": "f"}}]},
        with_text(1, "Is shipping free today?"),
        with_text(1, [{"type": "text", "text": "Free?"}, {"type": "image_url", "image_url": {"url": "x"}}]),
        with_text(1, ""),
    ],
)
def test_tools_images_and_questions_about_now_are_never_shared(body):
    assert key_of(body) is None


def test_tenants_are_told_apart_by_their_headers():
    names = ("Authorization", "x-tenant-id")
    anna, bert = (b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")
    assert tenant_of([anna], names) != tenant_of([bert], names)
    assert tenant_of([anna, (b"accept", b"x")], names) == tenant_of([(b"authorization", b"Bearer a")], names)
    assert "Bearer" not in tenant_of([anna], names)


def test_kept_answers_survive_in_a_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    cache_file.save(path, [entry("a"), entry("b")], space="s", wording="w")
    assert [one.key for one in cache_file.load(path, space="s", wording="w")] == ["a", "b"]
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda raw: raw.replace(b'"truefall_cache":1', b'"truefall_cache":2'), "version 2 of kept answers"),
        (lambda raw: raw.replace(b'"space":"s"', b'"space":"t"', 1), "kept with embedding 't'"),
        (lambda raw: raw.replace(b'"wording":"w"', b'"wording":"v"', 1), "kept with lexicon 'v'"),
        (lambda raw: raw[:-20], ":2: not a kept answer"),
        (lambda raw: b"", ":1: not a file of kept answers"),
        (lambda raw: b"\xff\n", ":1: not a file of kept answers"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_line(tmp_path, change, told):
    path = tmp_path / "answers.jsonl"
    cache_file.save(path, [entry("a")], space="s", wording="w")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ConfigError) as refused:
        cache_file.load(path, space="s", wording="w")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
