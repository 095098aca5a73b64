"""Profiles are read strictly."""

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.models import PACKAGED, load_profile
from harness.models.profile import bundled_profiles

WHOLE = """
policy = "policy.toml"
criteria = "gate.toml"
[primary]
name = "big"
margin_share = 0
args = ["--continuous-batching"]
[secondary]
name = "small"
[encoder]
name = "encoder"
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, "utf-8")
    return str(path)


def test_every_bundled_profile_loads_and_the_files_it_names_exist() -> None:
    assert bundled_profiles() == ("cpu", "gpu")
    for name in bundled_profiles():
        profile = load_profile(name)
        assert profile.policy.is_file()
        assert profile.criteria.is_file()


def test_the_cpu_profile_needs_no_special_terms() -> None:
    profile = load_profile("cpu")
    assert {PACKAGED[m.name].licence for m in (profile.primary, profile.secondary)} == {"Apache-2.0"}


def test_a_profile_of_ones_own_takes_files_relative_to_itself(tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, WHOLE))
    assert profile.policy == (tmp_path / "policy.toml").resolve()
    assert profile.encoder.baseline is None
    with_baseline = load_profile(written(tmp_path, f'{WHOLE}baseline = "sub/b.json"\n'))
    assert with_baseline.encoder.baseline == (tmp_path / "sub" / "b.json").resolve()
    assert profile.primary.args == ("--continuous-batching",)
    assert profile.primary.margin_share == 0.0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "big"', 'nmae = "big"', "[primary] unknown key 'nmae'; known are name"),
        ("[encoder]", "[encodr]", "unknown key 'encodr'"),
        ('name = "big"', 'name = "big"\nengine = "ollama"', "engine is 'ollama'; it must be one of transformers, vllm"),
        ('name = "big"', 'name = "big"\ncontext_tokens = "2k"', "context_tokens is '2k'; it must be a whole number"),
        ('name = "big"', 'name = "big"\ncontext_tokens = true', "context_tokens is True; it must be a whole number"),
        ("margin_share = 0", "margin_share = 1.5", "margin_share is 1.5; it must be a share in [0, 1)"),
        ('["--continuous-batching"]', '"--continuous-batching"', "it must be an array of strings"),
        ('name = "encoder"', 'name = "encoder"\nbaseline = ""', "baseline is ''; it must be a path"),
        ('name = "encoder"', 'name = "encoder"\nbaseline = 1', "baseline is 1; it must be a path"),
        ('name = "small"', "", "[secondary] lacks name"),
        ('policy = "policy.toml"', "", "policy is None; it must be the path of a TOML file"),
        ("[secondary]", "[secondary", "not TOML"),
    ],
)
def test_a_wrong_profile_is_refused_with_its_file_field_and_what_is_right(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = written(tmp_path, WHOLE.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_profile(path)
    assert str(caught.value).startswith(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_profile_is_answered_with_the_names_that_exist() -> None:
    with pytest.raises(ConfigError, match="neither a file nor one of cpu, gpu"):
        load_profile("laptop")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("margin_share = 0", "margin_share = 2", 6),
        ("margin_share = 0", "margin_shar = 2", 6),
        ('name = "small"', "", 8),  # the table that lacks it
        ('policy = "policy.toml"', "policy = 3", 2),
    ],
)
def test_a_refusal_names_the_line(tmp_path: Path, old: str, new: str, line: int) -> None:
    path = written(tmp_path, WHOLE.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_profile(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
