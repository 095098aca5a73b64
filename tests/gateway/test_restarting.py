"""What runs beside the requests and fails unexpectedly: told, begun again, and nothing else ends with it."""

import asyncio
import os

import pytest
from served import backend, gateway, policy_of
from test_keeper import free_port, until, watched
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.policies import holder
from gateway.restarting import restarted, wait_after_s
from gateway.watchdog.keeper import Keeper


class Pauses:
    """A clock whose sleeps are over at once, and kept."""

    def __init__(self):
        self.slept_s = []

    def now_s(self):
        return sum(self.slept_s)

    async def sleep(self, delay_s):
        self.slept_s.append(delay_s)


DEEP = "x = " + "[" * 3000 + "]" * 3000 + "\n"
LONG = "[deadline]\nrequest_s = " + "1" * 5000 + "\n"


class Failing:
    """Fails as often as it is told, at once; then it lasts."""

    def __init__(self, times):
        self.begun = 0
        self._times = times

    async def run(self):
        self.begun += 1
        if self.begun <= self._times:
            raise ZeroDivisionError("of\nall things")
        await asyncio.Event().wait()


async def test_what_fails_is_told_in_one_line_and_begun_again_after_a_pause_that_grows():
    clock, told, duty = Pauses(), [], Failing(3)
    task = asyncio.create_task(
        restarted(duty.run, name="the duty", clock=clock, tell=lambda event, detail: told.append((event, detail)))
    )
    await until(lambda: duty.begun == 4)
    assert clock.slept_s == [0.1, 0.2, 0.4]
    assert told[0] == ("task_failed", "the duty: ZeroDivisionError: of all things; begins again in 0.1 s")
    assert len(told) == 3
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


async def test_one_that_ran_for_long_before_it_failed_waits_no_longer_than_the_first_time():
    clock, duty = Pauses(), Failing(2)

    async def run():
        await clock.sleep(61.0)
        await duty.run()

    task = asyncio.create_task(restarted(run, name="the duty", clock=clock, tell=lambda *_: None))
    await until(lambda: duty.begun == 3)
    assert clock.slept_s == [61.0, 0.1, 61.0, 0.1, 61.0]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_what_returns_is_done():
    async def once():
        return 1

    await restarted(once, name="once", clock=Pauses(), tell=lambda *_: None)


def test_the_pause_has_a_bound():
    assert [wait_after_s(count) for count in (1, 2, 3, 1000)] == [0.1, 0.2, 0.4, 30.0]


@pytest.mark.slow
@pytest.mark.parametrize("text", [DEEP, LONG], ids=["nested", "digits"])
async def test_a_policy_that_no_parser_takes_is_refused_and_everything_goes_on(tmp_path, text):
    file, port = tmp_path / "policy.toml", free_port()
    file.write_text('name = "known"\n')
    engine = backend(port, "primary", watchdog=watched(port))
    async with gateway(engine, policy=policy_of(name="known"), policy_path=file) as served:
        keeper = served.runtime.backends["primary"].keeper
        await until(lambda: keeper.up)
        pid = keeper.state()["pid"]
        file.write_text(text)
        log = served.runtime.log
        await until(lambda: log.flush() or "policy_refused" in log._out.getvalue())
        reloaded = await served.admin("POST", "policy/reload")
        assert reloaded.status == 422
        assert f"{file}:" in reloaded.json["error"]["message"]
        file.write_text('name = "mended"\n')
        await until(lambda: served.runtime.policies.current.name == "mended")
        assert (await served.chat()).record == {"level": "healthy"}
        assert keeper.state()["pid"] == pid
        os.kill(pid, 0)


@pytest.mark.slow
async def test_a_level_that_cannot_be_judged_stops_neither_the_watchdog_nor_the_policy(tmp_path, monkeypatch):
    def fails(*_args, **_fields):
        raise ZeroDivisionError("no level")

    monkeypatch.setattr("gateway.supervise.judge", fails)
    file, port = tmp_path / "policy.toml", free_port()
    file.write_text('name = "known"\n')
    async with gateway(backend(port, "primary", watchdog=watched(port)), policy_path=file) as served:
        keeper, log = served.runtime.backends["primary"].keeper, served.runtime.log
        await until(lambda: keeper.up)
        await until(lambda: log.flush() or log._out.getvalue().count("the health level: ZeroDivisionError") > 1)
        file.write_text('name = "new"\n')
        await until(lambda: served.runtime.policies.current.name == "new")
        assert keeper.up
        assert keeper.watch.starts == 1


@pytest.mark.slow
async def test_a_turn_of_the_watchdog_that_fails_leaves_its_process_alone():
    told, looks, port = [], [], free_port()

    async def probe():
        looks.append(1)
        if len(looks) % 2:
            raise ZeroDivisionError("no look")
        return True

    keeper = Keeper(
        watched(port),
        probe=probe,
        clock=SystemClock(),
        environ=os.environ,
        tell=lambda event, detail: told.append((event, detail)),
        on_ready=lambda: None,
    )
    kept = asyncio.create_task(keeper.run())
    await until(lambda: len(looks) > 4 and keeper.up)
    assert keeper.watch.starts == 1
    assert keeper.state()["pid"] is not None
    kept.cancel()
    await asyncio.gather(kept, return_exceptions=True)
    assert any(event == "task_failed" and "no look" in detail for event, detail in told)


@pytest.mark.slow
async def test_weights_whose_check_fails_unexpectedly_are_checked_again(monkeypatch, tmp_path):
    checks, port = [], free_port()

    def first_whole(copies):
        checks.append(copies)
        if len(checks) == 1:
            raise ZeroDivisionError("no check")
        return tmp_path, ()

    monkeypatch.setattr("gateway.watchdog.keeper.first_whole", first_whole)
    async with gateway(backend(port, "primary", watchdog=watched(port, weights=(tmp_path,)))) as served:
        await until(lambda: served.runtime.backends["primary"].keeper.up)
        assert len(checks) == 2


async def test_manifests_that_fail_unexpectedly_leave_the_old_set(monkeypatch, tmp_path):
    def fails(*_args, **_fields):
        raise ZeroDivisionError("no set")

    async with running(says("Yes.")) as up, gateway(backend(up, "primary")) as served:
        from gateway.supervise import reload_manifests

        monkeypatch.setattr(holder, "require_consistent", fails)
        assert "ZeroDivisionError: no set" in reload_manifests(served.runtime, tmp_path)
        assert served.runtime.manifests.current.version == 0
