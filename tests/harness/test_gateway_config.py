"""The config that a stack writes is one that its gateway reads, however the run folder is named."""

import argparse
import sys
from pathlib import Path

from gateway.clock import SystemClock
from gateway.config import load_config
from harness.commands.gateway import add_arguments
from harness.models import load_profile
from harness.stack.backend import BackendLine
from harness.stack.gateway_config import gateway_argv, gateway_toml
from harness.stack.stack import Stack


def test_a_relative_run_folder_leads_the_gateway_to_the_pid_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profile = load_profile("cpu")
    folder = Path("results/run/logs")
    folder.mkdir(parents=True)
    models = {"primary": profile.primary, "secondary": profile.secondary}
    lines = {
        name: BackendLine(name=name, model=model, model_dir=tmp_path, device="cpu", logs=folder, semantic_port=9)
        for name, model in models.items()
    }
    stack = Stack(
        profile=profile, lines=lines, policy=profile.policy, folder=folder, journal=folder, seed=0, clock=SystemClock(),
        admin_token="t",
    )  # fmt: skip
    config = folder / "gateway.toml"
    config.write_text(
        gateway_toml(
            lines.values(),
            memory={name: line.memory_settings(stack.write_pid_file(name)) for name, line in lines.items()},
        )
    )
    for backend in load_config(config).backends:
        assert backend.memory.pid_file is not None
        assert backend.memory.pid_file.is_file(), "the gateway looks elsewhere than the stack writes"


def test_a_backend_without_proxies_and_without_a_guard_is_asked_itself(tmp_path):
    line = BackendLine(
        name="primary", model=load_profile("cpu").primary, model_dir=tmp_path, device="cpu", logs=tmp_path, port=41001
    )
    config = tmp_path / "gateway.toml"
    config.write_text(gateway_toml([line], memory={}))
    (backend,) = load_config(config).backends
    assert backend.url == "http://127.0.0.1:41001/v1"
    assert backend.memory.kv_capacity_bytes is None


def test_the_commands_files_and_port_are_those_that_the_gateway_takes(tmp_path):
    config, policy = tmp_path / "gateway.toml", tmp_path / "policy.toml"
    python, *module, command = gateway_argv(config, policy)[:4]
    assert (Path(python), module, command) == (Path(sys.executable), ["-m", "harness.cli"], "gateway")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    taken = parser.parse_args(gateway_argv(config, policy)[4:])
    assert (Path(taken.config), Path(taken.policy), taken.port) == (config, policy, 0)
