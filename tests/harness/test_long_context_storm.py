"""The long-context storm: the same requests in each column, and ends that are counted for what they are."""

import asyncio
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.clock import SystemClock
from harness.models import ModelSpec
from harness.stack.backend import BackendLine
from harness.storm.client import Heard, ask, judged
from harness.storm.plan import QUESTION, Mix, Planned, Size, plan
from harness.storm.run import Storm
from harness.storm.table import Column, End, Ended, markdown
from harness.storm.victim import Victim

MIB = 2**20
ENGINE = Path(__file__).with_name("allocating_engine.py")
CLOCK = SystemClock()


def test_a_storm_is_the_same_for_the_same_seed_and_has_every_size():
    one = plan(60, seed=3, mix=Mix())
    assert one == plan(60, seed=3, mix=Mix())
    assert one != plan(60, seed=4, mix=Mix())
    assert {planned.size for planned in one} == set(Size)
    assert all(planned.prompt.endswith(QUESTION) for planned in one)
    words = {planned.size: len(planned.prompt.split()) for planned in one}
    assert words[Size.SHORT] < 80
    assert 300 < words[Size.MEDIUM] < 500
    assert words[Size.LONG] > 1500


ASKED = Planned(number=0, size=Size.SHORT, prompt="?")


def said(text="Five days.", **record):
    return {"choices": [{"message": {"content": text}}], **({"degradation": record} if record else {})}


@pytest.mark.parametrize(
    ("status", "body", "end"),
    [
        (200, said(), End.WHOLE),
        (200, said(level="healthy"), End.WHOLE),
        (200, said(level="degraded", dropped={"prompt_tokens": 900}), End.CUT),
        (200, said("Please try again.", level="critical", abstained=True), End.HONEST),
        (206, {"reason": "degraded"}, End.HONEST),
        (429, {"error": {}}, End.HONEST),
        (200, said(""), End.LOST),
        (200, "<html>", End.LOST),
        (200, [None], End.LOST),
        (200, {"choices": [None], "degradation": "none"}, End.LOST),
        (200, said(level="degraded", dropped="tokens"), End.WHOLE),
        (500, {"detail": "out of memory"}, End.LOST),
        (0, None, End.LOST),
    ],
)
def test_an_end_is_what_the_client_can_do_with_it(status, body, end):
    assert judged(ASKED, Heard(status, body, 1.0, "TimeoutError" if status == 0 else "")).end is end


def column(**fields):
    ended = [Ended(size=Size.SHORT, end=End.WHOLE, took_s=float(took)) for took in range(1, 5)]
    ended += [Ended(size=Size.LONG, end=end, took_s=9.0) for end in (End.CUT, End.HONEST, End.LOST, End.LOST)]
    made = {"name": "one", "ended": tuple(ended), "deaths": 1, "failed_allocations": 2, "peak_share": 0.5}
    return Column(**{**made, **fields})


def test_the_table_counts_and_takes_times_of_model_answers_only():
    one = column()
    assert [one.of(end) for end in End] == [4, 1, 1, 2]
    assert one.answered_share() == 0.75
    assert (one.quantile_s(0.5), one.quantile_s(0.99), one.quantile_s(0.99, sizes=[Size.SHORT])) == (3.0, 9.0, 4.0)
    text = markdown([one, column(name="two", ended=())])
    lines = [line.strip("|").split("|") for line in text.splitlines()]
    assert len({len(line) for line in text.splitlines()}) == 1  # the columns stand under each other
    told = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}
    assert told["availability"] == ["75%", "nan%"]
    assert told["lost, very long"] == ["2", "0"]
    assert (told["backend deaths"], told["longest cold start: s"]) == (["1", "1"], ["0.0", "0.0"])
    assert math.isnan(column(ended=()).quantile_s(0.5))


def model(folder):
    """A model of which only the memory matters: 8 KiB of KV cache a token, so 31 MB for a very long prompt."""
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 64}
    config = {"model_type": "llama", "dtype": "float32", "max_position_embeddings": 8192, **sizes}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def engine(port):
    return (sys.executable, "-S", "-E", str(ENGINE), str(port), str(8 * 1024))


def storm_of(folder, **fields):
    made = Storm(
        model=ModelSpec(name="tiny", dtype="float32", context_tokens=8192),
        model_dir=model(folder / "tiny"),
        requests=24,
        clients=6,
        room_bytes=28 * MIB,
        most_s=120.0,
        seed=0,
        clock=CLOCK,
        kills=True,
        pause_s=0.5,
        engine=engine,
    )
    return replace(made, **fields)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS of another process is Linux's")
async def test_a_small_storm_kills_the_bare_backend_and_the_one_without_a_guard_and_not_the_guarded_one(tmp_path):
    storm = storm_of(tmp_path)
    columns = {}
    for name in ("bare", "off", "on"):
        (tmp_path / name).mkdir()
        columns[name] = await storm.column(name, tmp_path / name)
    table = markdown(list(columns.values()))
    bare, off, on = columns.values()
    assert all(len(one.ended) == 24 for one in columns.values()), table
    assert bare.deaths >= 1, table
    assert bare.of(End.LOST) >= 1, table
    assert bare.down_s >= bare.longest_down_s > 0, table
    assert off.deaths >= 1, table
    assert off.of(End.LOST) == 0, table
    assert (on.deaths, on.failed_allocations, on.of(End.LOST)) == (0, 0, 0), table
    assert on.of(End.WHOLE) + on.of(End.CUT) > max(off.of(End.WHOLE), bare.of(End.WHOLE)), table
    assert 0 < on.peak_share < 1, table
    for name in ("off", "on"):
        assert "max_concurrent = 4" in (tmp_path / name / "gateway.toml").read_text()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS of another process is Linux's")
@pytest.mark.parametrize("kills", [False, True])
async def test_a_failed_allocation_ends_the_process_where_it_is_said_to_and_a_cold_start_follows(tmp_path, kills):
    storm = storm_of(tmp_path)
    line = BackendLine(name="primary", model=storm.model, model_dir=storm.model_dir, device="cpu", logs=tmp_path)
    line.argv = engine(line.port)
    victim = Victim(line=line, room_bytes=8 * MIB, clock=CLOCK, kills=kills)
    async with victim.running():
        first = line.pid()
        heard = await ask(line.url, "tiny", "word " * 2000, max_tokens=4, timeout_s=60.0, clock=CLOCK)
        assert heard.status in ((0, 500) if kills else (500,))
        async with asyncio.timeout(60):
            while kills and victim.down_s == 0:
                await CLOCK.sleep(0.02)
        heard = await ask(line.url, "tiny", "A short one.", max_tokens=4, timeout_s=60.0, clock=CLOCK)
        assert heard.status == 200
        assert (line.pid() != first) is kills
    assert (victim.deaths, victim.failed_allocations) == (int(kills), 1)
