"""Whatever JSON a gateway sends, what it says is read without an exception, and can be kept and judged."""

import json
from copy import deepcopy

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalsets.jsonl import load_set
from harness.client import Observation, take_body, take_chunk
from harness.gate_run import gate_row
from harness.reply import read_chunk, read_reply
from harness.run import as_trial
from harness.schedule import Experiment, PlannedTrial
from harness.store import line_of
from harness.trial import Outcome, Trial

ITEM = load_set("support")[0]
SKELETON = {
    "model": "m",
    "error": {"message": "no"},
    "suggestion": "later",
    "choices": [{"message": {"content": [{"type": "text", "text": "Yes."}]}, "finish_reason": "stop"}],
    "degradation": {
        "level": "degraded",
        "path": "secondary",
        "reasons": ["timeout"],
        "abstained": False,
        "notice": "n",
        "attempts": [{"path": "primary", "outcome": "failed", "reason": "timeout"}],
    },
}
CHUNK = {**SKELETON, "choices": [{"delta": SKELETON["choices"][0]["message"], "finish_reason": "stop"}]}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def places(value, place=()):
    """Every place in a value of JSON, from the whole to the leaves."""
    yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*place, key))


def put(whole, place, value):
    """A copy of `whole` with `value` at `place`."""
    if not place:
        return value
    changed = deepcopy(whole)
    at = changed
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return changed


def kept(seen):
    """The trial of an observation, as it comes back from its line in the file."""
    planned = PlannedTrial(id="e/1", item_id=ITEM.id, stream=False)
    trial = as_trial(Experiment(name="e", doses=()), planned, ITEM, seen, block_id="e#0", sent_at_s=0.0)
    return Trial.from_row(json.loads(line_of(trial.to_row())))


@pytest.mark.slow
@given(place=st.sampled_from([*places(SKELETON)]), value=anything, status=st.sampled_from([200, 206, 429, 404, 503]))
@example(place=("degradation", "level"), value=float("nan"), status=200)
@example(place=("degradation", "notice"), value="\ud800", status=200)
def test_a_body_with_anything_anywhere_is_a_row_that_can_be_kept_and_gated(place, value, status):
    seen = Observation(status=status)
    take_body(json.dumps(put(SKELETON, place, value)).encode(), seen)
    assert isinstance(seen.answer, str | None)
    row = gate_row(kept(seen), {})
    assert row.crashed == (seen.outcome in (Outcome.FAILED, Outcome.UNANSWERED))
    assert seen.outcome is not Outcome.FAILED or status == 503 or seen.wrong


@pytest.mark.slow
@given(place=st.sampled_from([*places(CHUNK)]), value=anything)
def test_a_chunk_with_anything_anywhere_is_a_row_that_can_be_kept_and_gated(place, value):
    seen = Observation(status=200, complete=True)
    text = take_chunk(json.dumps(put(CHUNK, place, value)).encode(), seen)
    assert isinstance(text, str)
    gate_row(kept(seen), {})


@pytest.mark.slow
@given(anything)
def test_json_that_is_no_chat_completion_is_never_an_answer(value):
    assert read_reply(value).text is None or isinstance(value, dict)
    assert read_chunk(value).text is None or isinstance(value, dict)


@pytest.mark.parametrize("levels", [30, 400, 100_000])
def test_endless_nesting_is_no_record_and_no_answer(levels):
    deep = f"{'[' * levels}{']' * levels}"
    for body in (deep, f'{{"choices": [{{"message": {{"content": "Yes."}}}}], "degradation": {{"x": {deep}}}}}'):
        seen = Observation(status=200)
        take_body(body.encode(), seen)
        assert seen.record == {}
        assert seen.wrong
        kept(seen)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ((), None, "no chat completion: it is missing or null; need an object"),
        (("choices",), [None], "no chat completion: choices[0] is missing or null; need an object"),
        (("choices",), {"0": 1}, "no chat completion: choices is an object; need a list"),
        (("choices", 0, "message"), "hi", "no chat completion: choices[0].message is 'hi'; need an object"),
        (("choices", 0, "message", "content"), 7, "choices[0].message.content is 7; need a text or a list of parts"),
        (("choices", 0, "message", "content", 0, "text"), 7, "choices[0].message.content[0].text is 7; need a text"),
        (("choices", 0, "message", "content"), None, "choices[0].message.content holds no text"),
    ],
)
def test_a_200_without_an_answer_fails_and_says_which_field_was_wrong(place, value, said):
    seen = Observation(status=200)
    take_body(json.dumps(put(SKELETON, place, value)).encode(), seen)
    assert seen.outcome is Outcome.FAILED
    assert said in seen.wrong


@pytest.mark.parametrize("choices", ["x", {"0": 1}, [None], [{"message": 7}], [{"message": {"content": 7}}]])
def test_a_server_that_says_what_went_wrong_beside_choices_of_no_use_is_heard(choices):
    seen = Observation(status=200)
    take_body(json.dumps({"choices": choices, "error": {"message": "the quota is used up"}}).encode(), seen)
    assert seen.outcome is Outcome.FAILED
    assert seen.wrong.startswith("the quota is used up; no chat completion: choices")


def test_an_error_beside_an_answer_does_not_count():
    reply = read_reply({"choices": [{"message": {"content": "Yes."}}], "error": {"message": "busy"}})
    assert (reply.text, reply.error) == ("Yes.", None)


@pytest.mark.parametrize("error", ["busy", {"message": "busy"}])
def test_an_error_is_a_text_or_an_object_with_a_message(error):
    assert read_reply({"error": error}).error == "busy"
    assert read_chunk({"error": error}).error == "busy"


@pytest.mark.parametrize("error", [["busy"], {"code": 5}, 5, True, {"message": None, "x": float("inf")}])
def test_an_error_that_is_told_in_any_other_way_is_one_all_the_same(error):
    assert read_reply({"error": error}).error
    assert read_chunk({"error": error}).error


def test_parts_of_an_answer_are_joined_and_those_that_are_no_text_left_out():
    parts = [{"type": "text", "text": "Ye"}, {"type": "refusal", "refusal": "no"}, {"type": "text", "text": "s."}]
    assert read_reply({"choices": [{"message": {"content": parts}}]}).text == "Yes."
    assert read_chunk({"choices": [{"delta": {"content": parts}}]}).text == "Yes."


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("fallback", "degradation is 'fallback'; need an object"),
        ({"path": ["a"]}, "degradation.path is a list; need a text"),
        ({"level": 3}, "degradation.level is 3; need a text"),
        ({"attempts": 2}, "degradation.attempts is 2; need a list of objects"),
        ({"attempts": "many"}, "degradation.attempts is 'many'; need a list of objects"),
        ({"attempts": [None]}, "degradation.attempts is a list; need a list of objects"),
        ({"reasons": [1]}, "degradation.reasons is a list; need a list of texts"),
        ({"abstained": "no"}, "degradation.abstained is 'no'; need true or false"),
    ],
)
def test_what_a_record_says_with_the_wrong_type_is_left_out_and_said_and_the_answer_stays(record, said):
    seen = Observation(status=200)
    take_body(json.dumps({"choices": [{"message": {"content": "Yes."}}], "degradation": record}).encode(), seen)
    assert (seen.outcome, seen.answer, seen.record) == (Outcome.OK, "Yes.", {})
    assert said in seen.wrong


@pytest.mark.parametrize("name", ["level", "path", "reasons", "abstained", "attempts", "notice"])
def test_null_in_a_record_is_the_same_as_nothing(name):
    seen = Observation(status=200)
    content = {"choices": [{"message": {"content": "Yes."}}], "degradation": {"level": "degraded", name: None}}
    take_body(json.dumps(content).encode(), seen)
    assert seen.wrong is None
    gate_row(kept(seen), {})
