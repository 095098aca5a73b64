"""A real, small model with random weights reads: what it measures, and what the gateway does with it."""

import asyncio
from math import log

import pytest
from served import backend, gateway, policy_of
from tiny_llama import tiny_llama
from upstream_stub import answers, running, says

from gateway.attention.config import AttentionConfig
from gateway.attention.model import layer_to_probe, measures, open_model
from gateway.attention.probe import State
from gateway.clock import SystemClock
from gateway.config import load_config
from gateway.errors import ConfigError
from gateway.policy import GateMarks

pytestmark = pytest.mark.slow
CLOCK = SystemClock()
TEXT = "The shop opens at nine . Returns take five days . Cats eat fish . Trains run hourly ."
QUESTION = "The shop opens at nine. Returns take five days.\n\nHow many days do returns take?"
GATED = {"semantic_gate": {"apply": "degraded", "query_delta": 1.0}, "grounding": {"apply": "never"}}
BACKEND = '[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("model") / "tiny")


def test_the_numbers_are_those_of_the_rows_without_the_first_token():
    import torch

    weights = torch.tensor([[1.0, 0, 0, 0], [0.9, 0.1, 0, 0], [0.5, 0.25, 0.25, 0], [0.4, 0.1, 0.2, 0.3]])
    entropies, tops = measures(weights)
    of_three = -sum(share * log(share) for share in (1 / 6, 2 / 6, 3 / 6))
    assert entropies == pytest.approx([0, 0, log(2), of_three], abs=1e-5)
    assert tops == pytest.approx([1, 1, 1, 1], abs=1e-5)


def test_the_five_strongest_targets_are_summed():
    import torch

    even, steep = torch.ones(11, 11), torch.tensor([[1.0, *[0.16] * 5, *[0.04] * 5]] * 11)
    assert measures(even)[1][-1] == pytest.approx(0.5, abs=1e-5)
    assert measures(steep)[1][-1] == pytest.approx(0.8, abs=1e-5)


def test_layer_and_threshold_are_the_documented_ones():
    assert (AttentionConfig().layer, GateMarks().concentration) == (12, 0.85)
    assert (layer_to_probe(30, wanted=12), layer_to_probe(6, wanted=12)) == (11, 5)


def test_it_reads_up_to_its_layer_and_its_most_tokens(folder):
    model = open_model(AttentionConfig(model_dir=folder, layer=2))
    assert model._model.config.num_hidden_layers == len(model._model.layers) == 2
    assert open_model(AttentionConfig(model_dir=folder))._model.config.num_hidden_layers == 3
    reading = model.read(TEXT)
    assert len(reading.starts) == len(reading.entropies) == len(reading.tops) == len(TEXT.split())
    assert [TEXT[start:].split(maxsplit=1)[0] for start in reading.starts] == TEXT.split()
    assert all(0 <= share <= 1 for share in reading.tops)
    assert reading.entropies[-1] > 1.0  # random weights look at everything
    few = open_model(AttentionConfig(model_dir=folder, max_tokens=32))
    long = " ".join(["Cats eat fish ."] * 20)
    assert (len(few.read(long).starts), few.read(long).starts[0]) == (32, 0)
    assert len(long) - 1 in few.read(long, keep="end").starts
    assert few.read("").starts == ()
    alone = few.read("Cats")  # nothing but itself to look at
    assert (alone.entropies, alone.tops) == ((0.0,), (pytest.approx(1.0),))


async def ready(served):
    async with asyncio.timeout(60):
        while served.runtime.attention.state is State.LOADING:
            await CLOCK.sleep(0.02)
    return served.runtime.attention.state


async def read(served):
    text = (await served.request("GET", "/metrics")).body.decode()
    return 'truefall_attention_readings_total{outcome="read"}' in text


def attention(folder):
    return AttentionConfig(model_dir=folder, timeout_s=20.0)


async def test_a_prompt_that_is_cut_is_read_first(folder, capfd):
    sentences = " ".join(["The shop opens at nine.", "Cats eat fish.", "Trains run hourly."] * 60)
    async with (
        running(says("nine")) as up,
        gateway(backend(up, "primary", context_tokens=600), attention=attention(folder)) as served,
    ):
        assert await ready(served) is State.READY
        assert "LOAD REPORT" not in capfd.readouterr().err  # stderr is the gateway's log
        answer = await served.chat(f"{sentences}\n\n{QUESTION}", max_tokens=16)
        assert answer.record["dropped"]["prompt_tokens"] > 0
        assert await read(served)
    assert up.seen[-1]["messages"][-1]["content"].endswith("How many days do returns take?")


@pytest.mark.parametrize(("threshold", "path"), [(1.0, "secondary"), (0.0, "template")])
async def test_an_answer_that_attention_finds_hollow_does_not_pass(folder, threshold, path):
    marks = {"semantic_gate": {**GATED["semantic_gate"], "concentration": threshold, "query_entropy": 0.5}}
    policy = policy_of(**{**GATED, **marks}, paths={"order": ["primary", "secondary", "template", "structured"]})
    async with (
        running(answers({}, 500)) as down,
        running(says("Returns take five days.")) as up,
        gateway(
            backend(down, "primary"), backend(up, "secondary"), policy=policy, attention=attention(folder)
        ) as served,
    ):
        assert await ready(served) is State.READY
        assert (await served.chat(QUESTION)).record["path"] == path
        assert await read(served)


async def test_damaged_weights_are_told_and_the_words_are_counted_instead(tmp_path):
    folder = tiny_llama(tmp_path / "tiny", layers=1)
    (weights,) = folder.glob("*.safetensors")
    weights.write_bytes(b"nonsense")
    policy = policy_of(
        **{**GATED, "semantic_gate": {**GATED["semantic_gate"], "concentration": 0.0, "query_entropy": 0.5}}
    )
    async with (
        running(answers({}, 500)) as down,
        running(says("Returns take five days.")) as up,
        gateway(
            backend(down, "primary"), backend(up, "secondary"), policy=policy, attention=attention(folder)
        ) as served,
    ):
        assert await ready(served) is State.OFF
        assert (await served.chat(QUESTION)).record["path"] == "secondary"
        assert not await read(served)
        assert (await served.admin("GET", "state")).json["attention"] == "off"
        served.runtime.log.flush()
        assert "attention_off" in served.runtime.log._out.getvalue()


def test_a_folder_that_is_not_there_is_refused_with_its_name(tmp_path):
    (tmp_path / "c.toml").write_text(BACKEND + '[attention]\nmodel_dir = "none"\n')
    with pytest.raises(ConfigError, match=r"attention: model_dir .*none is not a folder"):
        load_config(tmp_path / "c.toml")
