"""Ending a run: whoever asks is heard once, and errors arrive as what they are."""

import asyncio
import signal

import pytest

from harness.errors import ResultError
from harness.stack.signals import run_heard, terminated_as_interrupt, undisturbed


async def fail(error: Exception) -> None:
    raise error


async def several() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(fail(ResultError("no room")))
        group.create_task(fail(ResultError("no room either")))


async def raise_here(number: int) -> None:
    signal.raise_signal(number)
    await asyncio.Event().wait()


@pytest.fixture(autouse=True)
def as_before():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_went_wrong_first_is_raised_not_the_group_it_came_in():
    with asyncio.Runner() as runner, pytest.raises(ResultError, match=r"^no room$"):
        run_heard(runner, several())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_what_is_under_way_and_a_second_one_changes_nothing(number, capsys):
    signal.signal(number, signal.SIG_DFL)  # under nohup a SIGHUP is ignored, and stays so
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with terminated_as_interrupt(), asyncio.Runner() as runner:
        with pytest.raises(KeyboardInterrupt):
            run_heard(runner, raise_here(number))
        signal.raise_signal(number)
    assert "stopping what was started" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_background_job_that_ignores_ctrl_c_ends_all_it_has_under_way(number, capsys):
    ended = []

    async def request() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(request())
            asyncio.get_running_loop().call_later(0.01, signal.raise_signal, number)

    signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for what it runs in the background
    with terminated_as_interrupt(), asyncio.Runner() as runner:
        with pytest.raises(KeyboardInterrupt):
            run_heard(runner, work())
        assert ended == [number]  # before the runner is closed


def test_tidying_up_is_not_disturbed(capsys):
    with undisturbed():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
    assert capsys.readouterr().err.count("stopping what was started") == 2
