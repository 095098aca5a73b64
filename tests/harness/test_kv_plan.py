"""`truefall kv-plan` prints the table of the KV cache for any model."""

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import pytest

from gateway.backends.backend import build
from gateway.clock import SystemClock
from gateway.config import Backend as Configured
from gateway.memory import Reservation
from gateway.memory.config import Memory
from gateway.policy import Policy
from harness.cli import run_command

SHAPE: dict[str, Any] = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "head_dim": 128,
    "dtype": "float16",
}


def _written(folder: Path, **changes: Any) -> str:
    (folder / "config.json").write_text(json.dumps({**SHAPE, **changes}), encoding="utf-8")
    return str(folder)


def test_the_reference_table_comes_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("kv-plan", [_written(tmp_path)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:4] for row in rows] == [
        ["2,048", "1.07", "4.29", "59.71"],
        ["4,096", "2.15", "8.59", "55.41"],
        ["8,192", "4.29", "17.18", "46.82"],
        ["16,384", "8.59", "34.36", "29.64"],
        ["32,768", "17.18", "68.72", "-4.72"],
    ]
    assert [row[4] for row in rows] == ["safe", "safe", "controlled", "warning", "critical"]
    assert [row[-1] for row in rows] == ["59", "29", "14", "7", "3"]


def test_a_quarter_of_the_heads_fits_four_times_the_requests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command("kv-plan", [_written(tmp_path, num_key_value_heads=8), "--tokens", "32768"])
    assert capsys.readouterr().out.split()[-1] == "14"


async def test_as_many_fit_as_the_gateways_ledger_admits_where_layers_slide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sliding = _written(tmp_path, sliding_window=1024, sliding_window_pattern=6)
    assert run_command("kv-plan", [sliding, "--tokens", "512", "8192", "--device-size", "80GB"]) == 0
    planned = {
        int(row[0].replace(",", "")): int(row[-1])
        for row in (line.split() for line in capsys.readouterr().out.splitlines()[1:])
    }
    for tokens, fits in planned.items():
        memory = Memory(kv_capacity_bytes=64 * 10**9)
        async with aiohttp.ClientSession() as session:
            backend = build(
                Configured(name="p", url="http://127.0.0.1:1/v1", model="m", memory=memory, model_dir=tmp_path),
                session=session,
                policy=Policy,
                clock=SystemClock(),
                environ=MappingProxyType({}),
                tell=lambda _event, _detail: None,
            )
        assert backend.ledger is not None
        promised = [backend.ledger.try_reserve(backend.kv_bytes(tokens, 0)) for _ in range(fits + 1)]
        assert [isinstance(one, Reservation) for one in promised] == [True] * fits + [False]
    assert planned[8192] == 14


def test_a_quantised_cache_is_planned_with_its_scales(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quantised = [_written(tmp_path), "--tokens", "32768", "--cache-dtype", "int4"]
    for scales, one_request in ([], "4.29"), (["--scale-values", "32"], "5.37"):
        assert run_command("kv-plan", [*quantised, *scales]) == 0
        assert capsys.readouterr().out.splitlines()[1].split()[1] == one_request


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{missing}"], "no such file"),
        (["{config}", "--weights-size", "90GB"], "nothing is left"),
        (["{config}", "--device-size", "80"], "a device of 80 bytes"),
        (["{config}", "--tokens", "0"], "1 or more"),
        (["{config}", "--tensor-parallel", "0"], "tensor_parallel is 0"),
        (["{config}", "--scale-values", "-1"], "scale_values >= 0"),
    ],
)
def test_what_cannot_be_planned_is_one_line_and_exit_code_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"missing": str(tmp_path / "nowhere.json"), "config": _written(tmp_path)}
    assert run_command("kv-plan", [argument.format(**places) for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
