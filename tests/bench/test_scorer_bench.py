"""How much faster one pass is than bert-score and sentence-transformers one after the other, on the same pairs."""

import time
from random import Random

import pytest

from evalsets.jsonl import load_set
from harness.fidelity.case import Case
from harness.fidelity.distinct import judge_distinct
from harness.fidelity.model_folder import encoder_path
from harness.fidelity.scorer import Scorer
from harness.judge import verdict_of

pytestmark = [pytest.mark.slow, pytest.mark.models]

PAIRS = 2_000
TEMPLATES = (
    "We cannot answer this right now. Please try again in a few minutes, or call the help desk.",
    "我们现在无法回答这个问题，请几分钟后再试，或致电客服。",
)


def degraded_answers(count, rng):
    """Cases as a run gives them: a few dozen items under many faults, answered by templates, backups and fresh text.

    A quarter of the answers is a template, 35% one of three answers that a backup gives to that item whatever the
    fault, the rest is unlike any other.
    """
    items = load_set("support")
    return [case(items[k % len(items)], k, rng) for k in range(count)]


def case(item, k, rng):
    kind = rng.random()
    words = item.reference.split(" ") if item.lang == "en" else list(item.reference)
    joint = " " if item.lang == "en" else ""
    if kind < 0.25:
        candidate = TEMPLATES[item.lang == "zh"]
    elif kind < 0.60:
        candidate = joint.join(words[: max(1, len(words) * rng.choice((2, 3, 4)) // 4)])
    else:
        kept = [word for word in words if rng.random() > 0.15]
        candidate = joint.join([*kept, f"({k})"])
    return Case(
        id=str(k),
        reference=item.reference,
        candidate=candidate,
        prompt=item.prompt,
        context=item.context,
        lang=item.lang,
        must_keep=item.must_keep,
        must_not=item.must_not,
        degraded=True,
    )


def timed(work):
    began_s = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began_s


@pytest.mark.filterwarnings("ignore")
def test_one_pass_is_at_least_three_times_as_fast_as_the_two_libraries_and_equal_to_them(tell):
    from bert_score import BERTScorer
    from sentence_transformers import SentenceTransformer

    cases = degraded_answers(PAIRS, Random(20))
    references, candidates = [c.reference for c in cases], [c.candidate for c in cases]
    path = str(encoder_path())
    scorer, bert, sentence = (
        Scorer(),
        BERTScorer(model_type=path, num_layers=6),
        SentenceTransformer(path, device="cpu"),
    )
    scorer.score([("warm", "up")])
    bert.score(["up"], ["warm"])

    def libraries():
        scores = bert.score(candidates, references)
        left, right = (sentence.encode(texts, normalize_embeddings=True) for texts in (references, candidates))
        return scores, (left * right).sum(axis=1)

    ours, ours_s = timed(lambda: scorer.score(list(zip(references, candidates, strict=True))))
    judge = verdict_of()  # loads its cross-encoder, as the others have loaded theirs
    _, checks_s = timed(lambda: judge_distinct(judge, cases, ours))
    ((_, _, f1), cosine), theirs_s = timed(libraries)
    with_checks_s = ours_s + checks_s
    tell(
        f"{PAIRS} pairs, {len({*references, *candidates})} texts: one pass {ours_s:.1f} s, checks {checks_s:.1f} s, "
        f"the two libraries {theirs_s:.1f} s: {theirs_s / ours_s:.1f}x, with checks {theirs_s / with_checks_s:.1f}x"
    )
    assert max(abs(s.cosine - float(c)) for s, c in zip(ours, cosine, strict=True)) < 1e-5
    # In a batch, bert-score takes padding for a match of 0 where every real match is below 0: ask it again, alone.
    apart = {
        (r, c): s.bertscore_f1
        for r, c, s, f in zip(references, candidates, ours, f1, strict=True)
        if abs(s.bertscore_f1 - float(f)) >= 1e-5
    }
    assert len(apart) < PAIRS / 50
    assert max((abs(mine - float(bert.score([c], [r])[2])) for (r, c), mine in apart.items()), default=0) < 1e-5
    assert theirs_s / ours_s >= 3
    assert theirs_s / with_checks_s >= 1.5
