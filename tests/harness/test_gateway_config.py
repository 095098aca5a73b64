"""The config that a stack writes is one that its gateway reads, however the run folder is named."""

from pathlib import Path

from gateway.clock import SystemClock
from gateway.config import load_config
from harness.models import load_profile
from harness.stack.backend import BackendLine
from harness.stack.gateway_config import gateway_toml
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
        gateway_toml(list(lines.values()), pid_files={name: stack.write_pid_file(name) for name in lines})
    )
    for backend in load_config(config).backends:
        assert backend.memory.pid_file is not None
        assert backend.memory.pid_file.is_file(), "the gateway looks elsewhere than the stack writes"
