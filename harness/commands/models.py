"""`truefall models prepare|list`: the packaged models, converted once into a cache."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    prepare = actions.add_parser("prepare", help="convert the packaged models into the cache, with checksums")
    prepare.add_argument("names", nargs="*", metavar="NAME", help="models (default: those of the profile)")
    prepare.add_argument("--profile", default="cpu", help="bundled profile or a TOML file (default cpu)")
    actions.add_parser("list", help="the packaged models, their licences and whether they are prepared")


def run(args: argparse.Namespace) -> int:
    from harness.models import models_list, models_prepare

    return models_prepare(args) if args.action == "prepare" else models_list(args)
