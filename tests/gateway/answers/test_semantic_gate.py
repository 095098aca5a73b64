"""The decision matrix, entropy and tasks."""

import json
from math import log

import pytest

from gateway.answers.semantic_gate import Decision, Task, closest_passage, decide, entropy_of, task_of
from gateway.errors import ConfigError
from gateway.policy import Extract, GateMarks
from gateway.request import parse

MARKS = GateMarks()


@pytest.mark.parametrize(
    ("task", "delta", "entropy", "decision"),
    [
        (Task.QUERY, 0.11, 1.41, Decision.PASS),
        (Task.QUERY, 0.12, 1.41, Decision.NEXT),
        (Task.QUERY, 0.11, 1.40, Decision.NEXT),
        (Task.SUMMARY, 0.24, 1.11, Decision.CACHE),
        (Task.SUMMARY, 0.25, 1.11, Decision.NEXT),
        (Task.SUMMARY, 0.24, 1.10, Decision.NEXT),
        (Task.EXTRACTION, 0.31, 0.89, Decision.REVIEW),
        (Task.EXTRACTION, 0.31, 0.90, Decision.NEXT),
        (Task.EXTRACTION, 0.30, 0.10, Decision.PASS),
        (Task.QUERY, None, 0.0, Decision.PASS),
    ],
)
def test_the_matrix(task, delta, entropy, decision):
    assert decide(task, delta=delta, entropy=entropy, marks=MARKS) is decision


def test_what_cannot_be_measured_goes_on_where_the_policy_says_so():
    marks = GateMarks(unmeasured="next")
    assert decide(Task.QUERY, delta=None, entropy=9.0, marks=marks) is Decision.NEXT


@pytest.mark.parametrize("delta", [float("nan"), float("inf"), -0.1, 2.1])
def test_a_difference_that_is_no_number_never_passes(delta):
    with pytest.raises(ConfigError):
        decide(Task.QUERY, delta=delta, entropy=2.0, marks=MARKS)
    with pytest.raises(ConfigError):
        decide(Task.QUERY, delta=0.0, entropy=delta if delta != 2.1 else float("nan"), marks=MARKS)


def test_entropy_counts_words_and_signs():
    assert entropy_of("") == entropy_of("yes yes YES") == 0.0
    assert entropy_of("one two three four") == pytest.approx(log(4))
    assert entropy_of("退款") == pytest.approx(log(2))


def task(text: str, **fields):
    body = {"messages": [{"role": "user", "content": text}], **fields}
    return task_of(parse(json.dumps(body).encode(), max_tokens_bound=99))


def test_the_task_is_told_or_read_from_the_question():
    assert task("Where is it?") is Task.QUERY
    assert task("Please summarise this") is Task.SUMMARY
    assert task("请总结一下") is Task.SUMMARY
    assert task("Extract the names") is Task.EXTRACTION
    assert task("Where?", response_format={"type": "json_object"}) is Task.EXTRACTION
    assert task("Where?", metadata={"task": "summary"}) is Task.SUMMARY
    assert task("Where?", metadata={"task": "dance"}) is Task.QUERY


def test_an_answer_stands_for_the_passage_that_answers_best():
    text = "The shop opens at nine. Returns take five days.\n\nHow many days do returns take?"
    assert closest_passage([{"role": "user", "content": text}], Extract()) == "Returns take five days."
    assert closest_passage([{"role": "user", "content": "Why?"}], Extract()) is None
