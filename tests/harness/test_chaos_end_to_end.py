"""`truefall chaos` as a user runs it: real servers, real faults; stopped, killed, gone on with, judged."""

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import psutil
import pytest
from tiny_stack import write_profile

from evalsets.jsonl import load_set
from gateway.clock import SystemClock
from harness.judge import read_scores
from harness.schedule import Experiment, Sizes, plan
from harness.store import RunFolder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent"),
]
CLOCK = SystemClock()
START_LIMIT_S = 300.0
GONE_LIMIT_S = 5.0  # two seconds on a machine that has nothing else to do
SEED = 5


class Job:
    """One `truefall chaos` in a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.said = folder / "said.txt"
        root = Path(__file__).parents[2]
        environ = {**os.environ, "PYTHONPATH": str(root)}
        environ.pop("TOXIPROXY_URL", None)
        argv = [sys.executable, "-m", "harness.cli", "chaos", "--experiments", str(folder / "test_few.py"), *arguments]
        with self.said.open("wb") as out:
            self.process = subprocess.Popen(
                argv, stdout=out, stderr=subprocess.STDOUT, cwd=folder, env=environ, start_new_session=True
            )

    async def until(self, what, limit_s: float):
        end_s = CLOCK.now_s() + limit_s
        while not (found := what()):
            assert CLOCK.now_s() < end_s, f"not within {limit_s:g} s: {self.said.read_text()[-2000:]}"
            await CLOCK.sleep(0.05)
        return found

    async def until_a_fault_is_on(self, folder: Path) -> Path:
        """The run folder, once the journal says that something is on."""

        def on() -> list[Path]:
            assert self.process.poll() is None, f"it ended too early: {self.said.read_text()[-2000:]}"
            return list(folder.glob("results/*/journal/*.jsonl"))

        return (await self.until(on, START_LIMIT_S))[0].parents[1]

    def children(self) -> list[psutil.Process]:
        found = psutil.Process(self.process.pid).children(recursive=True)
        assert len(found) >= 6, "two engines, two semantic proxies, Toxiproxy and the gateway"
        return found

    async def end(self, limit_s: float = START_LIMIT_S) -> int:
        await self.until(lambda: self.process.poll() is not None, limit_s)
        return int(self.process.returncode)


def alive(processes: list[psutil.Process]) -> list[str]:
    return [str(each) for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chaos")
    write_profile(folder)
    return folder


@pytest.fixture
def chaos_job(folder):
    """Start one; whatever is still running at the end of the test is killed."""
    jobs = []

    def start(*arguments: str) -> Job:
        jobs.append(Job(folder, *arguments))
        return jobs[-1]

    yield start
    for job in jobs:
        job.process.kill()
        job.process.wait()


async def test_a_run_that_is_stopped_then_killed_leaves_nothing_on_and_is_gone_on_with_to_its_verdict(
    folder, chaos_job
):
    first = chaos_job("--profile", str(folder / "profile.toml"), "--seed", str(SEED), "--results", "results")
    run = await first.until_a_fault_is_on(folder)
    children = first.children()
    first.process.send_signal(signal.SIGTERM)
    assert await first.end(60) == 130
    assert not alive(children)
    assert not list(run.glob("journal/*.jsonl")), "the fault is still in the journal"
    assert first.said.read_text().rstrip().endswith(f"go on with: truefall chaos --resume {run.relative_to(folder)}")

    second = chaos_job("--resume", str(run))
    await second.until_a_fault_is_on(folder)
    children = second.children()
    os.kill(children[0].pid, signal.SIGSTOP)
    second.process.kill()
    await second.until(lambda: not alive(children), GONE_LIMIT_S)
    await second.end(60)
    assert list(run.glob("journal/*.jsonl")), "killed too late"

    third = chaos_job("--resume", str(run))
    code = await third.end()
    said = third.said.read_text()
    assert code in (1, 3), said  # random letters, and too few items
    check_run(run, code)
    assert "Traceback" not in said


def check_run(path: Path, code: int) -> None:
    """Everything that was planned was sent once, judged, and told."""
    run = RunFolder.open(path)
    assert not list(path.glob("journal/*")), "something is still on"
    trials = run.trials()
    planned = [
        each.id
        for name in ("steady", "latency-primary", "token_drop_answer-primary")
        for each in plan(SEED, Experiment(name=name), load_set("support"), Sizes(baseline=2, fault=2))
    ]
    assert Counter(trial.id for trial in trials) == Counter(planned)
    assert set(read_scores(path / "scores.parquet")) == set(planned)
    assert all(block.fired and block.recovered for block in run.blocks() if block.fault != "none")
    assert {trial.path for trial in trials if trial.fault == "latency"} <= {"secondary", "template"}
    verdict = json.loads((path / "verdict.json").read_text())
    assert verdict["exit_code"] == code
    checks = {check["name"]: check["verdict"] for check in verdict["checks"] if check["group"] == "run"}
    assert checks["every request is answered"] == "PASS"
    assert checks["every fault fired"] == "PASS"
    assert ET.parse(path / "junit.xml").getroot().get("tests") == str(len(verdict["checks"]))
    assert verdict["verdict"] in (path / "report.html").read_text()


async def test_a_resumed_run_that_would_be_another_one_is_refused_in_one_line(folder, chaos_job):
    run = next(iter(folder.glob("results/*")), None)
    if run is None:
        pytest.skip("no run to go on with")
    rows = (run / "trials.jsonl").read_bytes()
    for arguments, says in (
        (["--seed", "6"], "seed was 5 when this run began and is 6 now"),
        (["--item", "support-en-001"], "the sha256 of its items was"),
    ):
        job = chaos_job("--resume", str(run), *arguments)
        assert await job.end(120) == 2
        assert says in job.said.read_text()
        assert len(job.said.read_text().splitlines()) == 1
    assert (run / "trials.jsonl").read_bytes() == rows
