"""How fast the gateway answers without a model: rules (P95 < 5 ms), kept answers, L1 and intents (milliseconds).

The asserted figures are the thread's own CPU time, since a busy machine must not decide; pytest-benchmark shows the
wall time.
"""

import json
import time
from pathlib import Path

import pytest

from gateway.answers.cache import AnswerCache, Entry, hashed_place
from gateway.answers.cache_key import asked_of
from gateway.answers.embedding import HASHED, embed, mean
from gateway.answers.gatekeepers import Classifier, Model
from gateway.answers.intents import Intent, Intents
from gateway.answers.rules import Asked, load_rules
from gateway.answers.wording import Lexicon
from gateway.request import parse
from harness.gatekeepers.labelled import load_questions

pytestmark = pytest.mark.slow

RULES = Path(__file__).parents[2] / "examples" / "rules.toml"
QUESTIONS = load_questions("questions")
CENTRES = {
    intent: mean(embed(one.question) for one in QUESTIONS if one.intent == intent)
    for intent in sorted({one.intent for one in QUESTIONS})
}
SIZES = {"rounds": 5, "iterations": 1, "warmup_rounds": 1}


def p95_ms_per_question(benchmark, tell, work):
    """95th percentile of CPU time over all questions of all rounds."""
    took_s = []

    def ask_all():
        for question in QUESTIONS:
            began_s = time.thread_time()
            work(question)
            took_s.append(time.thread_time() - began_s)

    benchmark.pedantic(ask_all, **SIZES)
    p95_ms = sorted(took_s)[int(0.95 * len(took_s))] * 1000
    benchmark.extra_info["p95_ms_per_question"] = round(p95_ms, 4)
    tell(f"P95 {p95_ms:.3f} ms of CPU per question")
    return p95_ms


def test_rules_answer_within_5_ms(benchmark, tell):
    rules = load_rules(RULES)
    p95_ms = p95_ms_per_question(
        benchmark, tell, lambda one: rules.answer(Asked(text=one.question, language=one.lang, metadata={}))
    )
    assert p95_ms < 5


def test_the_classifier_answers_within_5_ms(benchmark, tell):
    intents = tuple(CENTRES)
    weights = {
        place: tuple(CENTRES[intent].get(place, 0.0) for intent in intents)
        for centre in CENTRES.values()
        for place in centre
    }
    bias = (0.0,) * len(intents)
    classifier = Classifier(Model(truefall_gatekeeper=1, space=HASHED, classes=intents, bias=bias, weights=weights))
    assert p95_ms_per_question(benchmark, tell, lambda one: classifier.guess(one.question)) < 5


def test_an_intent_is_found_within_5_ms(benchmark, tell):
    centres = list(CENTRES.values()) * 2
    intents = Intents(
        [Intent(id=f"INT-{number:02d}", centre=centre, radius=0.2) for number, centre in enumerate(centres)],
        space=HASHED,
    )
    assert p95_ms_per_question(benchmark, tell, lambda one: intents.match(embed(one.question))) < 5


def test_a_kept_answer_is_found_within_5_ms_among_a_thousand(benchmark, tell):
    lexicon, cache = Lexicon(), AnswerCache(now_unix_s=lambda: 0.0)

    def asked(text):
        body = {"messages": [{"role": "system", "content": "Shop."}, {"role": "user", "content": f"Text. {text}"}]}
        request = parse(json.dumps(body).encode(), max_tokens_bound=9)
        return asked_of(request, tenant="t", target="p", language="en", lexicon=lexicon, ignored_metadata=())

    for number in range(1000):
        one = asked(f"{QUESTIONS[number % len(QUESTIONS)].question} {number}")
        if one is not None:
            entry = Entry(key=one.key, text="x" * 200, model="m", stored_unix_s=0, places=(hashed_place(one.vector),))
            cache.put(entry, max_entries=1000, max_bytes=2**26)

    def look_up(question):
        one = asked(question.question)
        if one is not None:
            cache.look_up(one.key, places=(hashed_place(one.vector),), max_age_s=9, min_similarity=0.3)

    assert p95_ms_per_question(benchmark, tell, look_up) < 5
