"""The bundled questions: each is there once, none shares its answer with another, and the card describes them."""

import json
import re
from collections import defaultdict

import pytest

from evalsets.card import card_sha256, file_sha256
from gateway.answers.cache_key import asked_of
from gateway.answers.wording import Lexicon
from gateway.request import parse
from harness.gatekeepers.labelled import BUNDLED, LabelledQuestion, load_questions
from harness.gatekeepers.write_card import facts

CARD = BUNDLED.with_name("CARD.md")
LEXICON = Lexicon()
BOTH = [*load_questions("questions"), *load_questions("support")]


def shared(questions, of):
    """Ids of the questions that have something in common; what None is of counts for nothing."""
    found = defaultdict(list)
    for one in questions:
        mark = of(one)
        if mark is not None:
            found[mark].append(one.id)
    return [ids for ids in found.values() if len(ids) > 1]


def bare(one: LabelledQuestion) -> str:
    """Its letters and digits alone."""
    return re.sub(r"[\W_]+", "", one.question.casefold())


def key(one: LabelledQuestion) -> str | None:
    """Under which the gateway would keep its answer, were nothing else in the request."""
    request = parse(json.dumps({"messages": [{"role": "user", "content": one.question}]}).encode(), max_tokens_bound=9)
    whose = {"tenant": "t", "target": "p", "language": one.lang}
    asked = asked_of(request, **whose, lexicon=LEXICON, ignored_metadata=(), forward={})
    return asked.key if asked else None


def test_no_question_is_there_twice():
    assert shared(BOTH, bare) == []


@pytest.mark.slow
def test_no_two_questions_of_both_sets_share_a_key():
    assert shared(BOTH, key) == []


def test_a_question_that_is_there_twice_would_be_seen():
    again = LabelledQuestion(id="again", lang="en", intent="hours", question="do you CLOSE for lunch")
    assert shared([*BOTH, again], bare) == [["hours-en-07", "again"]]
    assert shared([BOTH[0], BOTH[0]], key) == [[BOTH[0].id] * 2]


def test_the_card_says_what_the_file_holds():
    assert card_sha256(CARD) == file_sha256(BUNDLED)
    for name, value in facts():
        assert f"| {name} | {value} |" in CARD.read_text("utf-8"), name
