"""One client's long text costs that client time, and nobody else."""

import asyncio
import threading
from random import Random

import pytest
from served import backend, gateway, policy_of
from tokenizers import Tokenizer, models, pre_tokenizers
from upstream_stub import running, says

from gateway import attempt, shape
from gateway.answers import kept
from gateway.answers.grounding import flips, loops
from gateway.answers.lexis import is_negated, sentences, words
from gateway.prompt.tokens import CharCounter, TokenCounter

PROMPTS = {
    "fences": "```\n" * 16_000,
    "rows": "| a | b |\n" * 6_400,
    "colons": "a: b\n" * 12_800,
    "sentences": "".join(f"The quick alpha{index} does not jump over gamma delta. " for index in range(1200)),
}


def watched(monkeypatch, module, name):
    """The threads in which a function of `module` runs from now on."""
    threads, function = [], getattr(module, name)

    def watch(*given, **named):
        threads.append(threading.get_ident())
        return function(*given, **named)

    monkeypatch.setattr(module, name, watch)
    return threads


@pytest.mark.slow
@pytest.mark.parametrize("name", PROMPTS)
async def test_a_long_prompt_is_not_cut_on_the_event_loop(name, monkeypatch):
    threads = watched(monkeypatch, shape, "_shape")
    async with running(says("It does.")) as up, gateway(backend(up, "primary"), policy=policy_of()) as served:
        answer = await served.chat(f"{PROMPTS[name]}\n\nDoes it?")
    assert answer.record["level"] == "degraded"
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.slow
async def test_a_long_answer_is_not_compared_with_its_prompt_on_the_event_loop(monkeypatch):
    threads = watched(monkeypatch, attempt, "distrust")
    said = " ".join(f"Clause alpha{index % 26} says beta gamma delta epsilon." for index in range(3000))
    async with running(says(said)) as up, gateway(backend(up, "primary")) as served:
        served.runtime.pipeline.schemas.budget_s = 60.0
        answer = await served.chat(f"{PROMPTS['sentences'] * 4}\n\nDoes it?")
    assert "ungrounded" in answer.record["reasons"]
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.slow
async def test_a_long_answer_is_neither_counted_nor_judged_for_keeping_on_the_event_loop(monkeypatch):
    judging, counting = watched(monkeypatch, kept, "doubt_of"), []
    said = varied_text(Random(7), 800)
    policy = policy_of(paths={"order": ["primary", "cache", "structured"]}, accounting={"tolerance_tokens": 1_000_000})
    async with running(says(said)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        primary = served.runtime.backends["primary"]
        primary.knows_template, counter = True, primary.counter
        monkeypatch.setattr(primary, "counter", Watched(counter, counting))
        assert (await served.chat("What does each clause say?")).record == {"level": "healthy"}
        await asyncio.gather(*served.runtime.pipeline.unaided.kept._running)
        assert len(served.runtime.pipeline.unaided.kept.cache) == 1
    assert judging
    assert len(said) in dict(counting)
    assert threading.get_ident() not in [*judging, dict(counting)[len(said)]]


def varied_text(rng, count):
    """Sentences of made-up words, none like another."""
    made = ("".join(rng.choices("aeioubdfglmnprst", k=rng.randint(3, 9))) for _ in range(8 * count))
    return " ".join(f"The {' '.join(next(made) for _ in range(8))}." for _ in range(count))


class Watched(CharCounter):
    """Remembers how long a text each thread counted."""

    def __init__(self, counter, counted):
        self._counter = counter
        self._counted = counted

    def count_text(self, text):
        self._counted.append((len(text), threading.get_ident()))
        return self._counter.count_text(text)


@pytest.mark.slow
def test_other_threads_go_on_while_a_long_text_is_counted(tmp_path):
    tokenizer = Tokenizer(models.BPE({letter: index for index, letter in enumerate("ab ")}, [], byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    counter = TokenCounter(tokenizer, None, byte_level=False)
    began, steps = threading.Event(), 0

    def count():
        began.set()
        counter.count_text("ab " * 2_000_000)

    counting = threading.Thread(target=count)
    counting.start()
    began.wait()
    while counting.is_alive():
        counting.join(0.001)
        steps += 1
    assert steps > 20


def by_comparing_all(text, context):
    """What `flips` means, the slow way."""
    sources = [(set(words(sentence)), is_negated(sentence)) for sentence in context]
    for sentence in sentences(text):
        said = set(words(sentence))
        shares = [(len(said & held) / len(said), negated) for held, negated in sources] if len(said) >= 3 else []
        best = max((share for share, _ in shares), default=0.0)
        near = [negated for share, negated in shares if share >= best - 0.1]
        if best >= 0.7 and all(negated != is_negated(sentence) for negated in near):
            return True
    return False


def test_flips_finds_what_comparing_every_clause_with_every_clause_finds():
    rng = Random(7)
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa", "lambda", "sigma", "omega", "tau"]
    found = 0
    for _ in range(2000):
        context = [sentence_of(rng, names) for _ in range(rng.randint(0, 6))]
        text = " ".join(sentence_of(rng, names) for _ in range(rng.randint(1, 3)))
        assert flips(text, context) == by_comparing_all(text, context), (text, context)
        found += flips(text, context)
    assert 200 < found < 1800


def sentence_of(rng, names):
    chosen = rng.sample(names, rng.randint(2, 9))
    return f"The {' '.join(chosen[:-1])} {'not ' if rng.random() < 0.5 else ''}{chosen[-1]}."


def test_loops_looks_at_many_sentences_once():
    assert loops(" ".join(f"Sentence {index} of this answer is like the others." for index in range(40_000)))
    assert loops("It is so indeed. " * 3)
    assert not loops("It is so indeed. It was not so before.")
