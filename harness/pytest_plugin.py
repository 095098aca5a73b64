"""The pytest plugin: options, fixtures and the marker `chaos`; the work is done by `harness.session`."""

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from harness.own_packages import import_ours

if TYPE_CHECKING:
    from harness.fidelity.case import Case, Judgement
    from harness.session import ChaosSession

STACK_DOWN = 96  # exit code of pytest when the stack could not be started
HIDDEN = ", ".join(import_ours())  # files of the user's that hide a package of ours
STILL_ON = 97  # exit code of pytest when a fault could not be undone; of `truefall chaos`: 4


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("truefall", "chaos and fidelity")
    group.addoption("--chaos-seed", type=int, default=0, help="seed of every draw (default 0)")
    group.addoption("--chaos-profile", default="cpu", help="bundled profile or a TOML file (default cpu)")
    group.addoption("--chaos-device", default="auto", help="auto, cpu or cuda (default auto)")
    group.addoption("--chaos-policy", default=None, help="TOML file: how the gateway degrades")
    group.addoption("--chaos-evalset", default="support", help="bundled evaluation set or a JSON-lines file")
    group.addoption("--chaos-items", type=int, default=None, help="items per experiment (default: the profile's)")
    group.addoption("--chaos-item", action="append", default=[], metavar="ID", help="only this item; may be repeated")
    group.addoption("--chaos-quick", action="store_true", help="few items; for a first look")
    group.addoption("--chaos-run", default=None, help="run folder to write, or to go on with")
    group.addoption("--chaos-gateway", default=None, help="URL of a gateway of yours; no fault can reach behind it")
    group.addoption("--chaos-stack", default=None, help="TOML file: your gateway and the handles on its backends")
    group.addoption("--chaos-experiment", action="append", default=[], help="YAML file with an experiment")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "chaos: an experiment on a real stack with real faults (opt in)")


def pytest_report_header(config: pytest.Config) -> str:
    return f"truefall: seed {config.getoption('--chaos-seed')}, profile {config.getoption('--chaos-profile')}"


def pytest_exception_interact(node: pytest.Item, call: "pytest.CallInfo[object]") -> None:
    """A run that cannot be written, or that could not undo a fault, ends here: what follows would prove nothing."""
    from harness.errors import ResultError, StillOn

    error = call.excinfo.value if call.excinfo else None
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
    if node.get_closest_marker("chaos") and (full or isinstance(error, ResultError | StillOn)):
        pytest.exit(f"truefall: {error}", returncode=STILL_ON if isinstance(error, StillOn) else STACK_DOWN)


class Interruptions:
    """Tells an open session when pytest stops before its last test; its fixture is finalised as if nothing was."""

    def __init__(self, session: "ChaosSession") -> None:
        self.session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Ctrl-C, SIGTERM, or `pytest.exit`."""
        self.session.interrupt()

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        self.session.interrupt()


@pytest.fixture(scope="session")
def chaos(request: pytest.FixtureRequest) -> "Iterator[ChaosSession]":
    """A running stack: `chaos.run("latency", target="primary", mean_ms=500)` returns what happened."""
    if HIDDEN:
        pytest.exit(
            f"truefall: {HIDDEN}: hides a package of truefall; rename it, or run `pytest` and not `python -m pytest`",
            returncode=STACK_DOWN,
        )
    from harness.errors import user_errors
    from harness.session import ChaosSession, SessionOptions

    option = request.config.getoption
    options = SessionOptions(
        seed=option("--chaos-seed"),
        profile=option("--chaos-profile"),
        device=option("--chaos-device"),
        policy=option("--chaos-policy"),
        evalset=option("--chaos-evalset"),
        most_items=option("--chaos-items"),
        item_ids=tuple(option("--chaos-item")),
        quick=option("--chaos-quick"),
        run_folder=option("--chaos-run"),
        gateway_url=option("--chaos-gateway"),
        stack_file=option("--chaos-stack"),
    )
    with ExitStack() as closing:
        try:
            session = closing.enter_context(ChaosSession.open(options))
        except user_errors(OSError) as error:
            pytest.exit(f"truefall: {error}", returncode=STACK_DOWN)
        watch = Interruptions(session)
        request.config.pluginmanager.register(watch)
        closing.callback(request.config.pluginmanager.unregister, watch)
        yield session
        if request.session.shouldstop or request.session.shouldfail:  # -x, --maxfail, --stepwise
            session.interrupt()
    if left := session.still_on():
        pytest.exit(f"truefall: A FAULT IS STILL ON: {'; '.join(left)}", returncode=STILL_ON)


@pytest.fixture(scope="session")
def fidelity(request: pytest.FixtureRequest) -> "Callable[[Sequence[Case]], list[Judgement]]":
    """The judge that `--chaos-profile` names, on `--chaos-device`: `fidelity(cases)` returns a judgement for each."""
    from harness.errors import user_errors
    from harness.judge import open_judge

    option = request.config.getoption
    try:
        return open_judge(option("--chaos-profile"), option("--chaos-device"))
    except user_errors(OSError) as error:
        pytest.fail(f"truefall: {error}", pytrace=False)
