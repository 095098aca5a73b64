"""`truefall gate RUN`: decide whether a run may pass."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Decides whether a run may pass. The run's own verdict.json and junit.xml are written where there are none "
        "yet, or by the same criteria again; a judgement by other --criteria, or against a --baseline, lies beside "
        "them (verdict-by-CRITERIA-against-RUN.json) and changes nothing of the run. Neither does a second judgement "
        "(--judge-again): it says what the first one said, and a FAIL of the same judge stands."
    )
    parser.add_argument("run_folder", metavar="RUN", type=Path, help="a folder under results/")
    parser.add_argument("--baseline", type=Path, metavar="RUN", help="an earlier run on the same items to compare with")
    parser.add_argument("--criteria", type=Path, metavar="FILE", help="TOML: what is demanded (default: the profile's)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table as Markdown too")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the JUnit XML here too")
    parser.add_argument("--judge-again", action="store_true", help="score and judge the answers anew, beside the first")


def run(args: argparse.Namespace) -> int:
    from harness.criteria import load_criteria
    from harness.gate_run import gate_run, judge_if_needed, judge_locked, require_another
    from harness.run_lock import only_writer
    from harness.store import RunFolder

    folder = RunFolder.open(args.run_folder)
    criteria = args.criteria or default_criteria(folder.meta().get("profile"))
    load_criteria(criteria)
    if args.baseline:
        require_another(folder, args.baseline)
    with only_writer(folder):
        scores = judge_if_needed(args.run_folder, again=args.judge_again)
        against = judge_locked(args.baseline, again=args.judge_again) if args.baseline else None
        return gate_run(
            args.run_folder,
            criteria,
            baseline=args.baseline,
            scores=scores,
            baseline_scores=against,
            markdown=args.markdown,
            junit=args.junit,
        )


def default_criteria(profile: object) -> Path:
    """Those of the profile that the run was made with. Raises ConfigError when it is not to be found here."""
    from harness.errors import ConfigError
    from harness.models import load_profile

    try:
        return load_profile(str(profile)).criteria
    except ConfigError as error:
        raise ConfigError(f"{error}; give --criteria FILE") from None
