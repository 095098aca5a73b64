"""What each fault does to a real serving engine: what it says, as much as it says, and nothing at rate 0."""

import dataclasses
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from faults.catalogue import CATALOGUE, parameters, parse
from faults.fault import Firing
from gateway.clock import SystemClock
from harness.effects.ask import Ending, Reply
from harness.effects.line import started
from harness.effects.measure import Measured, Measurer
from harness.effects.page import page
from harness.effects.quantities import Seen, altered, lost, moved
from harness.effects.reciter import TEXT
from harness.effects.table import LONG, NOT_HERE, effects

PAGE = Path(__file__).parents[2] / "docs" / "faults-measured.md"


def test_every_fault_of_the_catalogue_is_measured_or_named_as_not_run():
    assert {effect.name for effect in effects()} | set(NOT_HERE) == set(CATALOGUE)


def test_every_fault_with_a_rate_is_measured_at_rate_0():
    for effect in effects():
        rates = {parameter.name for parameter in parameters(effect.name)} & {"rate", "toxicity"}
        assert bool(effect.off) == bool(rates), effect.fault
        if effect.off:
            assert getattr(parse(effect.off), effect.dial) == 0


def test_the_page_has_the_effects_of_the_table():
    lines = PAGE.read_text("utf-8").splitlines()
    shown = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert shown == [effect.fault for effect in effects()], "run `truefall faults measure > docs/faults-measured.md`"


def measured(**changed: object) -> Measured:
    """A latency that did as it should."""
    effect = next(effects())
    good = Measured(
        effect=effect,
        without=20.0,
        with_it=2003.0,
        afterwards=20.0,
        firing=Firing(touched=2),
        touched_afterwards=0,
        same_with_it=True,
        same_afterwards=True,
        runs=True,
    )
    return dataclasses.replace(good, **changed)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"with_it": 300.0}, "with it 300, expected at least 1990"),
        ({"without": 2500.0}, "without it 2500, as with the fault"),
        ({"afterwards": 2500.0}, "at rate 0 or afterwards 2500"),
        ({"firing": Firing()}, "did not fire"),
        ({"touched_afterwards": 1}, "1 touched"),
        ({"same_afterwards": False}, "same: False"),
        ({"same_with_it": False}, "the answers changed"),
        ({"runs": False}, "does not run"),
    ],
)
def test_what_is_not_as_expected_is_said(changed, words):
    assert measured().wrong() == []
    (line,) = measured(**changed).wrong()
    assert words in line
    assert line in "".join(measured(**changed).wrong())
    assert "| `latency:mean_ms=2000` |" in page([measured(**changed)])


def test_words_and_sentences_are_compared_as_they_stand():
    assert lost(TEXT, TEXT) == altered(TEXT, TEXT) == moved(TEXT, TEXT) == 0
    assert lost("one two", "one two three four") == 0.5
    assert altered("one 2 three four", "one two three four") == 0.25
    assert moved("B. A. C.", "A. B. C.") == pytest.approx(2 / 3)
    assert moved("A. B.", "A. B. C.") == 1


def test_a_reply_is_read_as_it_came():
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
    body = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    pieces = ((0.1, head), (0.3, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)))
    reply = Reply(pieces=pieces, ended_s=0.5, ending=Ending.CLOSED, streaming=True)
    assert (reply.status, reply.text, reply.whole, reply.chunks) == (200, "hi", True, [body])
    assert not Reply(pieces=(), ended_s=1.0, ending=Ending.SILENT).whole
    assert Seen(replies=[reply]).running


@pytest.mark.slow
async def test_each_fault_changes_what_it_claims_to_change_and_nothing_at_rate_0(tmp_path):
    async with started(tmp_path, clock=SystemClock()) as line:
        measurer = Measurer(line)
        found = [await measurer.measure(effect) for effect in effects()]
        assert [problem for one in found for problem in one.wrong()] == []
        await memory_gets_less_step_by_step_and_comes_back(measurer)


async def memory_gets_less_step_by_step_and_comes_back(measurer: Measurer) -> None:
    """As an experiment does it: the next step is injected before the one before is taken away."""
    steps = [f"address_space_limit:headroom_bytes={mib * 2**20}" for mib in (4096, 1024, 30, 1024)]
    failures = []
    async with AsyncExitStack() as before:
        for step in steps:
            now = AsyncExitStack()
            inject = parse(step).inject(measurer.line.target(), clock=measurer.line.clock, rng=Random(1))
            await now.enter_async_context(inject)
            await before.aclose()
            before.push_async_exit(now)
            failures.append((await measurer.look(LONG, limit_s=60.0)).failed_allocations)
    failures.append((await measurer.look(LONG, limit_s=60.0)).failed_allocations)
    assert [bool(count) for count in failures] == [False, False, True, False, False], failures
