"""`truefall models prepare|list`, as plain functions."""

import argparse
import sys
from pathlib import Path

from harness.models.manifest import verify
from harness.models.prepared import list_models, prepare
from harness.models.profile import load_profile


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def models_prepare(args: argparse.Namespace) -> int:
    """Prepare `args.names`, else the models of `args.profile`; prints one folder a line."""
    names = args.names or models_of(args.profile)
    for model in prepare(names, progress=say):
        print(f"{model.name}\t{model.licence or 'licence: yours to know'}\t{model.path}")
    return 0


def models_of(profile: str) -> list[str]:
    found = load_profile(profile)
    return list(dict.fromkeys((found.primary.name, found.secondary.name)))


def models_list(_args: argparse.Namespace) -> int:
    """One line a packaged model: name, licence, state, upstream."""
    for listed in list_models():
        state = state_of(listed.path, prepared=listed.prepared)
        print("\t".join((listed.model.name, listed.model.licence, state, listed.model.upstream)))
    return 0


def state_of(path: Path, *, prepared: bool) -> str:
    """`not prepared`, `prepared`, or what is wrong with the folder."""
    from harness.errors import ModelError

    if not prepared:
        return "not prepared"
    try:
        verify(path)
    except ModelError as error:
        return f"damaged: {error}"
    return "prepared"
