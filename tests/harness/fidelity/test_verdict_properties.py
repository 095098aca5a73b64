"""What has to hold of the verdict as a run is judged by it, whatever the reference: encoder, checks and cross-encoder.

References are those of the data to tune on, of the dev half of `collapse` and of the evaluation set; none is frozen.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalsets
from harness.fidelity.case import Case, Judgement, Label
from harness.fidelity.checks.abstention import admission
from harness.fidelity.labelled import DATA
from harness.fidelity.perturb_lies import LIES, lies
from harness.fidelity.perturb_truths import paraphrases
from harness.fidelity.scorer import Scorer
from harness.fidelity.verdict import ADMITTED_RISK
from harness.judge import verdict_of

pytestmark = [pytest.mark.slow, pytest.mark.models]

LANGUAGES = ("en", "zh")
REWORDED = 40  # references of each language
LIES_PER_KIND = 8  # in each language, where the first `LOOKED_AT` references allow as many
LOOKED_AT = 300
# Of these references every one is asked about: a denied word that denies something itself was once taken for a
# contradiction of itself, and one that admits not to answer takes another way through the verdict.
TWICE_DENIED = re.compile(r"\b(?:not|cannot) (?:un|im)")
# Measured with an earlier generator, which read as the judge does, on 121 English and 124 Chinese references (with the
# present one the bounds below hold; figures were not taken). A rewording raises the risk by 0.032 and 0.057 on average;
# 6 of 172 and 11 of 261 raise it by more than 0.1, 2 and 7 are called misleading. Every lie raises it, by 0.97, and
# 405 of 407 and 392 of 395 are called misleading; numbers in Chinese are the weakest kind with 41 of 44.
MUCH = 0.1  # a fifth of the way to the threshold
Ask = Callable[[Sequence[tuple[str, str]], str], list[Judgement]]


class Told(NamedTuple):
    """A reference told otherwise, and how it was judged; `honest`: the risk of the reference itself."""

    lang: str
    kind: str
    reference: str
    text: str
    judged: Judgement
    honest: float


@cache
def references(lang: str) -> tuple[str, ...]:
    """Distinct, in an order that new rows do not change."""
    sets = Path(evalsets.__file__).parent
    files = (DATA / "dev.jsonl", sets / "collapse" / "counterexamples.jsonl", sets / "support" / "items.jsonl")
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    found = {row["reference"] for row in rows if row["lang"] == lang and row.get("split", "dev") == "dev"}
    return tuple(sorted(found, key=lambda text: blake2b(text.encode()).digest()))


@cache
def answering(lang: str) -> tuple[str, ...]:
    """Those that do not admit not to answer: what is said otherwise of such a one has a fixed risk, too."""
    return tuple(text for text in references(lang) if not admission(text))


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    scorer, judge = Scorer(), verdict_of()

    def asked(pairs: Sequence[tuple[str, str]], lang: str) -> list[Judgement]:
        cases = [Case(id=str(i), reference=one, candidate=other, lang=lang) for i, (one, other) in enumerate(pairs)]
        return judge(cases, scorer.score(pairs))

    yield asked
    scorer.close()


def told_otherwise(ask: Ask, lang: str, made: Sequence[tuple[str, str, str]]) -> list[Told]:
    """`made`: reference, kind, text."""
    texts = list(dict.fromkeys(reference for reference, _, _ in made))
    honest = dict(zip(texts, (one.risk for one in ask([(text, text) for text in texts], lang)), strict=True))
    judged = ask([(reference, text) for reference, _, text in made], lang)
    return [Told(lang, kind, one, text, j, honest[one]) for (one, kind, text), j in zip(made, judged, strict=True)]


@pytest.fixture(scope="module")
def reworded(ask: Ask) -> list[Told]:
    found = []
    for lang in LANGUAGES:
        texts = answering(lang)[:REWORDED]
        found += told_otherwise(ask, lang, [(text, p.kind, p.text) for text in texts for p in paraphrases(text, lang)])
    return found


@pytest.fixture(scope="module")
def lied(ask: Ask) -> list[Told]:
    return [one for lang in LANGUAGES for one in told_otherwise(ask, lang, some_lies(lang))]


def some_lies(lang: str) -> list[tuple[str, str, str]]:
    """Reference, kind, text: equally many of each kind, as far as there are."""
    rng, found = Random(11), []
    left = Counter(dict.fromkeys(LIES, LIES_PER_KIND))
    for text in answering(lang)[:LOOKED_AT]:
        made = [one for one in lies(text, rng, lang) if left[one.kind] > 0]
        left.subtract(one.kind for one in made)
        found += [(text, one.kind, one.text) for one in made]
    return found


def missed(told: Sequence[Told]) -> str:
    return "\n".join(f"{t.lang} {t.kind} {t.judged.risk:.3f}: {t.reference} | {t.text}" for t in told)


@pytest.mark.parametrize("lang", LANGUAGES)
@given(data=st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_the_reference_itself_is_faithful(ask: Ask, lang: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(references(lang)))
    (found,) = ask([(text, text)], lang)
    assert found.label is Label.FAITHFUL, (text, found.reasons)
    assert found.risk <= ADMITTED_RISK, (text, found.reasons)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_reference_itself_is_faithful_where_it_denies_twice_or_admits_not_to_know(ask: Ask, lang: str) -> None:
    texts = [text for text in references(lang) if TWICE_DENIED.search(text) or admission(text)]
    found = zip(texts, ask([(text, text) for text in texts], lang), strict=True)
    assert texts
    assert not [(t, j.reasons) for t, j in found if j.label is not Label.FAITHFUL or j.risk > ADMITTED_RISK]


@pytest.mark.parametrize(
    "text",
    [
        '{"covered": false, "reason": "进水不在保修范围"}',
        "把 nginx 的 client_max_body_size 改成 50m 然后 reload 即可。",
        "Kubernetes 1.25 起移除了 PodSecurityPolicy。",
    ],
)
def test_the_reference_itself_is_faithful_where_most_letters_are_latin(ask: Ask, text: str) -> None:
    assert ask([(text, text)], "zh")[0].label is Label.FAITHFUL


@pytest.mark.parametrize(
    "text",
    [
        "It is not uncommon for the parser to reject tabs.",
        "It is not impossible to change your seat after check-in.",
        "We cannot unlock the account unless you verify your identity on a video call.",
    ],
)
def test_the_reference_itself_is_faithful_where_it_denies_twice(ask: Ask, text: str) -> None:
    assert ask([(text, text)], "en")[0].label is Label.FAITHFUL


@pytest.mark.parametrize("lang", LANGUAGES)
def test_other_words_for_the_same_do_not_raise_the_risk_much(reworded: list[Told], lang: str) -> None:
    told = [one for one in reworded if one.lang == lang]
    raised = [one.judged.risk - one.honest for one in told]
    much = [one for one, more in zip(told, raised, strict=True) if more > MUCH]
    rejected = [one for one in told if one.judged.label is not Label.FAITHFUL]
    assert len(told) >= REWORDED
    assert sum(raised) / len(raised) <= MUCH, missed(much)
    assert len(much) <= 0.12 * len(told), missed(much)
    assert len(rejected) <= 0.08 * len(told), missed(rejected)


def test_every_lie_raises_the_risk_above_that_of_the_reference(lied: list[Told]) -> None:
    assert not [one for one in lied if one.judged.risk <= one.honest]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nearly_every_lie_is_called_misleading(lied: list[Told], lang: str) -> None:
    told = [one for one in lied if one.lang == lang]
    accepted = [one for one in told if one.judged.label is not Label.MISLEADING]
    assert len(told) >= 7 * LIES_PER_KIND
    assert len(accepted) <= 0.03 * len(told), missed(accepted)


def test_no_kind_of_lie_gets_through(lied: list[Told]) -> None:
    kinds = defaultdict(list)
    for one in lied:
        kinds[one.kind].append(one)
    assert set(kinds) == set(LIES)
    for told in kinds.values():
        accepted = [one for one in told if one.judged.label is not Label.MISLEADING]
        assert len(accepted) <= max(1, 0.15 * len(told)), missed(accepted)
