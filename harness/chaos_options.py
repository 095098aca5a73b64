"""From the arguments of `truefall chaos` to checked options. A resumed run takes from `run.json` what is not given."""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalsets.item import Item
from evalsets.jsonl import load_set, select
from faults.experiment_file import load_experiment
from harness.errors import ConfigError
from harness.models import EncoderSpec, Profile
from harness.session import SessionOptions, choose_device
from harness.store import RunFolder

if TYPE_CHECKING:
    from harness.criteria import Criteria

DEFAULTS = MappingProxyType({"seed": 0, "profile": "cpu", "device": "auto", "evalset": "support"})


def began_with(resume: str | None) -> Mapping[str, Any]:
    """The options of the run to go on with; nothing for a new one. Raises ConfigError, ResultError."""
    if resume is None:
        return {}
    if not (Path(resume) / "run.json").is_file():
        raise ConfigError(f"--resume {resume}: not a run folder: run.json is missing")
    return RunFolder.open(Path(resume)).meta()


def option(args: argparse.Namespace, before: Mapping[str, Any], name: str) -> Any:
    """What was given, else what the run began with, else the default."""
    given = getattr(args, name)
    return next((value for value in (given, before.get(name)) if value is not None), DEFAULTS.get(name))


def options_of(
    args: argparse.Namespace, before: Mapping[str, Any], profile: Profile, *, run_folder: str
) -> SessionOptions:
    """Raises ConfigError for a device that is not there."""
    quick = args.quick or bool(before.get("quick"))
    most = option(args, before, "items")
    return SessionOptions(
        seed=option(args, before, "seed"),
        profile=option(args, before, "profile"),
        device=choose_device(option(args, before, "device")),
        policy=option(args, before, "policy"),
        evalset=option(args, before, "evalset"),
        most_items=most if most is not None else profile.limits.quick_items if quick else None,
        item_ids=tuple(option(args, before, "item") or ()),
        quick=quick,
        run_folder=run_folder,
        stack_file=option(args, before, "stack"),
    )


def chosen_items(evalset: str, item_ids: Sequence[str]) -> tuple[Item, ...]:
    """The items of a set, or those asked for. Raises EvalsetError, with near matches for an unknown id."""
    items = load_set(evalset)
    return select(items, dict.fromkeys(item_ids)) if item_ids else items


def check_files(options: SessionOptions, profile: Profile, criteria: Path, experiments: Sequence[str]) -> None:
    """Everything that would fail only after a long run. Raises ConfigError or ModelError with what is wrong."""
    from harness.criteria import load_criteria
    from harness.second_opinions import check_opinions
    from harness.stack.attached import load_stack_file

    demanded = load_criteria(criteria)
    titles: dict[str, str] = {}
    for file in experiments:
        name = load_experiment(Path(file)).name
        if titles.setdefault(name, file) != file:
            raise ConfigError(
                f"--experiment {file}: {titles[name]} has the same title, so rows could not be told apart"
            )
    check_encoder(profile.encoder, demanded)
    check_opinions(profile.judge)
    if options.stack_file:
        load_stack_file(Path(options.stack_file))
    if not options.attached:
        check_own_stack(profile, options.policy)


def check_encoder(encoder: EncoderSpec, criteria: "Criteria") -> None:
    """Raises ModelError, ConfigError: the encoder or its baseline is missing, or the criteria cannot do without one."""
    from harness.fidelity.bertscore import load_baseline
    from harness.fidelity.model_folder import encoder_folder, is_packaged, last_layer, model_revision
    from harness.fidelity.sentence_head import head_of
    from harness.models.weights import check_model_folder

    folder = encoder_folder(encoder.name)
    check_model_folder(folder)
    head_of(folder)
    if encoder.baseline is not None:
        load_baseline(encoder.baseline, revision=model_revision(folder), layer=encoder.layers or last_layer(folder))
    elif criteria.demands_f1 and not is_packaged(folder, encoder.layers):
        layer = f" --layer {encoder.layers}" if encoder.layers else ""
        raise ConfigError(
            f"encoder {encoder.name!r} has no baseline, so its BERTScore cannot be held against the limits of the "
            "criteria (unrelated texts may score above them): make one with "
            f"`truefall baseline --model {encoder.name}{layer} --output FILE`"
            ' and name it as `baseline = "FILE"` in the [encoder] section of the profile'
        )


def check_own_stack(profile: Profile, policy: str | None) -> None:
    """What the gateway and the backends will need."""
    from harness.meta import check_policy

    path = Path(policy) if policy else profile.policy
    if not path.is_file():
        named = "--policy" if policy else f"the policy of profile {profile.name}"
        raise ConfigError(f"{path}: no such file; it is {named}")
    check_policy(path)
    for model in (profile.primary, profile.secondary):
        if model.engine == "vllm" and shutil.which("vllm") is None:
            raise ConfigError(f"model {model.name}: its engine is vllm, but there is no program vllm on PATH")
