"""How often the cache has the answer to a question that was answered before: asked again word by word, or reworded.

`python -m harness.gatekeepers.hit_rate` prints it for the bundled questions and their rewordings.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from gateway.answers.cache import AnswerCache, Entry, Found, Outcome, hashed_place
from gateway.answers.cache_key import Asked, asked_of
from gateway.answers.wording import Lexicon
from gateway.policy import CacheMarks
from gateway.request import parse
from harness.gatekeepers.labelled import LabelledQuestion, load_questions

REWORDED = Path(__file__).with_name("reworded.jsonl")
_LEXICON, _MARKS = Lexicon(), CacheMarks()


class Reworded(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same question as the labelled one with the id `of`, by another person."""

    id: str
    of: str
    kind: Literal["polite", "free"]  # the same words and a greeting or thanks; or as one happens to say it
    question: str


class HitRate(NamedTuple):
    """`right` hits found the answer to the very question, `wrong` ones that to another; None is never kept."""

    asked: int
    right: int
    wrong: int
    bypassed: int


def load_reworded() -> list[Reworded]:
    return [msgspec.json.decode(line, type=Reworded) for line in REWORDED.read_bytes().splitlines()]


def cache_of(questions: Sequence[LabelledQuestion]) -> AnswerCache:
    """Every question answered once; the answer is its id."""
    cache = AnswerCache(now_unix_s=lambda: 0.0)
    for one in questions:
        asked = asked_for(one.question, one.lang)
        if asked is not None:
            place = hashed_place(asked.vector)
            entry = Entry(key=asked.key, text=one.id, model="m", stored_unix_s=0.0, places=(place,))
            cache.put(entry, max_entries=len(questions), max_bytes=2**30)
    return cache


def hit_rate(cache: AnswerCache, asked: Iterable[tuple[str, Literal["en", "zh"], str]]) -> HitRate:
    """`asked`: (id of the question that it is, language, its words)."""
    counts = {"asked": 0, "right": 0, "wrong": 0, "bypassed": 0}
    for identity, lang, text in asked:
        found = _found(cache, text, lang)
        counts["asked"] += 1
        counts["bypassed"] += found.outcome is Outcome.BYPASS
        if found.hit is not None:
            counts["right" if found.hit.entry.text == identity else "wrong"] += 1
    return HitRate(**counts)


def _found(cache: AnswerCache, text: str, lang: Literal["en", "zh"]) -> Found:
    asked = asked_for(text, lang)
    if asked is None:
        return Found(Outcome.BYPASS)
    place, marks = hashed_place(asked.vector), _MARKS
    return cache.look_up(asked.key, places=(place,), max_age_s=marks.max_age_s, min_similarity=marks.min_similarity)


def asked_for(text: str, lang: Literal["en", "zh"]) -> Asked | None:
    """The question as the gateway's cache sees it, with the policy's defaults and nothing else in the request."""
    raw = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    request = parse(raw, max_tokens_bound=9)
    return asked_of(request, tenant="t", target="p", language=lang, lexicon=_LEXICON, ignored_metadata=(), forward={})


def measured() -> dict[str, HitRate]:
    """Of the bundled questions: "again" word by word, and by kind of rewording."""
    questions = load_questions("questions")
    cache, language = cache_of(questions), {one.id: one.lang for one in questions}
    rates = {"again": hit_rate(cache, ((one.id, one.lang, one.question) for one in questions))}
    reworded = load_reworded()
    for kind in ("polite", "free"):
        same = [one for one in reworded if one.kind == kind]
        rates[kind] = hit_rate(cache, ((one.of, language[one.of], one.question) for one in same))
    return rates


if __name__ == "__main__":
    for name, rate in measured().items():
        print(f"{name:<7} {rate.right} of {rate.asked} found, {rate.wrong} wrong, {rate.bypassed} never kept")
