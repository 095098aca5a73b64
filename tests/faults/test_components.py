"""The hooks inside a process, and the damage to a copy of the weights."""

import sys
from pathlib import Path
from random import Random

import msgspec
import pytest

from faults.backend_launcher import Launch, run_program, with_damaged_weights
from faults.component_hooks import Control, Hook, HookOnImport, Switch
from faults.components import copy_model, flip_bits


@pytest.fixture
def control(tmp_path: Path) -> Control:
    (tmp_path / "control").mkdir()
    return Control(tmp_path / "control", log=lambda line: None)


def switch_on(control: Control, fault_id: str = "f", **fields: object) -> Path:
    path = control.folder / f"{fault_id}.fault"
    path.write_bytes(msgspec.json.encode({"id": fault_id, "kind": "attention_errors", **fields}))
    return path


def struck(control: Control, calls: int) -> list[bool]:
    hits = []
    for _ in range(calls):
        try:
            control.strike("attention_errors")
            hits.append(False)
        except RuntimeError:
            hits.append(True)
    return hits


def test_a_hook_strikes_by_its_seed_while_its_file_is_there(control: Control) -> None:
    assert not any(struck(control, 20))
    switch_on(control, rate=0.5, seed=3)
    first = struck(control, 20)
    assert any(first)
    assert not all(first)
    switch_on(control, "other", kind="slow_validator", delay_ms=0)
    second = struck(control, 20)
    (control.folder / "f.fault").unlink()
    assert not any(struck(control, 20))
    switch_on(control, rate=0.5, seed=3)
    assert struck(control, 40) == first + second


def test_rate_0_never_strikes_and_rate_1_always(control: Control) -> None:
    path = switch_on(control, rate=0)
    assert not any(struck(control, 50))
    path.unlink()
    switch_on(control, "g", rate=1)
    assert all(struck(control, 50))


class FakeCuda:
    """A device on which two allocations have failed."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.cuda = self

    def set_per_process_memory_fraction(self, share: float) -> None:
        self.shares.append(share)

    def memory_stats(self) -> dict[str, int]:
        return {"num_ooms": 2}


def test_a_memory_fraction_is_set_while_its_file_is_there_the_least_one_counts_and_then_all_is_free(
    control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, said = FakeCuda(), []
    control.log = said.append
    monkeypatch.setitem(sys.modules, "torch", device)
    files = {}
    for fault_id, rate in {"none": None, "f": 0.3, "g": 0.2}.items():
        if rate is not None:
            files[fault_id] = switch_on(control, fault_id, kind="memory_fraction", rate=rate)
        control.strike("memory_fraction")
    for file in (files["g"], files["f"]):
        file.unlink()
        control.strike("memory_fraction")
    assert device.shares == [0.3, 0.2, 0.3, 1.0], "set when it changes, and no oftener"
    assert said[0] == "truefall-fault f memory_fraction 0.3, num_ooms 2"
    control.strike("attention_errors")


def test_a_module_is_hooked_when_it_is_imported_and_a_missing_function_is_said(
    control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    control.log = said.append
    (tmp_path / "an_engine.py").write_text("class Kernel:\n    def run(self, x):\n        return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    hooks = (Hook("attention_errors", "an_engine", "Kernel.run"), Hook("decode_errors", "an_engine", "nothing"))
    finder = HookOnImport(hooks, control)
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    import an_engine  # type: ignore[import-not-found]

    assert an_engine.Kernel().run(5) == 5
    assert said == ["truefall: an_engine has no nothing; decode_errors cannot strike there"]
    switch_on(control)
    with pytest.raises(RuntimeError, match="CUBLAS"):
        an_engine.Kernel().run(5)
    assert said[-1] == "truefall-fault f attention_errors at call 0"
    del sys.modules["an_engine"]


def test_the_flipped_bits_are_in_the_tensors_of_the_copy_only(tmp_path: Path) -> None:
    model = tmp_path / "m"
    model.mkdir()
    header = b'{"w": {}}'
    sound = len(header).to_bytes(8, "little") + header + bytes(1000)
    (model / "model.safetensors").write_bytes(sound)
    (model / "config.json").write_text("{}")
    flip_bits(copy_model(model, tmp_path / "c" / "m"), 5, Random(1))
    damaged = (tmp_path / "c" / "m" / "model.safetensors").read_bytes()
    assert (model / "model.safetensors").read_bytes() == sound
    assert damaged[: 8 + len(header)] == sound[: 8 + len(header)]
    assert sum(byte.bit_count() for byte in damaged[8 + len(header) :]) == 5
    assert (tmp_path / "c" / "m" / "config.json").read_text() == "{}"


def test_a_launch_takes_the_damaged_copy_of_its_own_model_under_the_same_name(tmp_path: Path) -> None:
    for name in ("a/m", "b/m"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.safetensors").touch()
    switch = Switch(id="f", kind="damaged_weights", model=str(tmp_path / "a/m"), copy=str(tmp_path / "b/m"))
    named = Launch(argv=["serve", "m"], cwd=str(tmp_path / "a"))
    assert with_damaged_weights(named, [switch]) == (Launch(argv=["serve", "m"], cwd=str(tmp_path / "b")), ["f"])
    full = Launch(argv=["serve", str(tmp_path / "a/m")], cwd=str(tmp_path))
    assert with_damaged_weights(full, [switch])[0].argv == ["serve", str(tmp_path / "b/m")]
    other = Launch(argv=["serve", "m"], cwd=str(tmp_path / "b"))
    assert with_damaged_weights(other, [switch]) == (other, [])


def test_a_program_is_run_with_its_own_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["before"])
    program = tmp_path / "program.py"
    program.write_text("import sys; print(__name__, sys.argv[1:])")
    run_program([str(program), "--flag", "x"])
    assert capsys.readouterr().out == "__main__ ['--flag', 'x']\n"
