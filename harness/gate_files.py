"""Where a decision is written: a run keeps the verdict it ended with, and what others judge of it later lies beside."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import ConfigError

VERDICT_FILE = "verdict.json"
JUNIT_FILE = "junit.xml"


class GateFiles(NamedTuple):
    """The two files of one decision, and what the decision is called."""

    verdict: Path
    junit: Path
    name: str  # the run's; with the criteria and the baseline where the decision is not the run's own

    @property
    def own(self) -> bool:
        return self.verdict.name == VERDICT_FILE


def own_files(run: Path) -> GateFiles:
    """Those that the report shows."""
    return GateFiles(run / VERDICT_FILE, run / JUNIT_FILE, run.name)


def files_of(run: Path, criteria: Path, criteria_sha256: str, baseline: Path | None) -> GateFiles:
    """The run's own files when nothing but the run is judged, by the criteria that it was first judged by or is now."""
    if baseline is None and first_criteria(run) in (None, criteria_sha256):
        return own_files(run)
    by = f"by-{criteria.stem}" + ("" if baseline is None else f"-against-{baseline.resolve().name}")
    told = f"{run.name}, by {criteria.name}" + ("" if baseline is None else f" against {baseline.resolve().name}")
    return GateFiles(run / f"verdict-{by}.json", run / f"junit-{by}.xml", told)


def first_criteria(run: Path) -> str | None:
    """The sha256 of the criteria of `verdict.json`; "" where it names none; None without such a file."""
    content = own_verdict(run)
    return None if content is None else str(content.get("criteria_sha256", ""))


def own_verdict(run: Path) -> dict[str, Any] | None:
    """The content of `verdict.json`; None without such a file."""
    return read_verdict(run / VERDICT_FILE)


def read_verdict(file: Path) -> dict[str, Any] | None:
    """The content of a written verdict; None where the file is missing or damaged."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def has_ended(run: Path) -> bool:
    """Whether its verdict is the one that `truefall chaos` ended with, not one on half of it."""
    return bool((own_verdict(run) or {}).get("ends_run"))


def failed_for_good(run: Path, criteria: Path, criteria_sha256: str) -> str | None:
    """The summary of the FAIL that a run ended with, or that was given later; None: it may be gone on with.

    Raises ConfigError when it ended by other criteria: the verdict of a run is not changed by asking for less.
    """
    content = own_verdict(run)
    if content is None or not has_ended(run):
        return None
    if content.get("criteria_sha256") != criteria_sha256:
        raise ConfigError(
            f"{run}: this run has ended, judged by other criteria ({content.get('criteria')}) than {criteria}; "
            f"`truefall gate {run} --criteria {criteria}` judges it by these, too"
        )
    later = [found for file in sorted(run.glob("verdict-judgement-*.json")) if (found := read_verdict(file))]
    failed = [
        one
        for one in (content, *later)
        if one.get("verdict") == "FAIL" and one.get("criteria_sha256") == criteria_sha256
    ]
    return str(failed[0].get("summary")) if failed else None
