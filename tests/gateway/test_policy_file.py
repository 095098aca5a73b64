"""What happens to the policy's file while the gateway runs: a write that is not whole never counts."""

import asyncio

import pytest
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.policy import Policy
from gateway.supervise import keep_watching
from gateway.watched_file import FileWatch
from harness.cli import main

CLOCK = SystemClock()
KNOWN = 'name = "known"\n'


async def until(wanted):
    for _ in range(200):
        if wanted():
            return
        await CLOCK.sleep(0.01)
    raise AssertionError("it did not come")


@pytest.mark.parametrize("left", ["", " \n", "\n\n"])
async def test_an_empty_file_leaves_the_policy_in_force_and_says_so(tmp_path, left):
    file = tmp_path / "policy.toml"
    file.write_text(KNOWN)
    known = policy_of(name="known")
    async with running(says("Yes.")) as up, gateway(backend(up, "primary"), policy=known, policy_path=file) as served:
        file.write_text(left)
        log = served.runtime.log
        await until(lambda: log.flush() or "is empty" in log._out.getvalue())
        assert served.runtime.policies.current.name == "known"
        assert (await served.admin("POST", "policy/reload")).status == 422
        assert "is empty" in (await served.admin("GET", "state")).json["policy"]["refused"]
        assert b"truefall_policy_refused 1.0" in (await served.request("GET", "/metrics")).body
        file.write_text('name = "new"\n')
        await until(lambda: served.runtime.policies.current.name == "new")
        assert (await served.admin("GET", "state")).json["policy"]["refused"] is None
        assert b"truefall_policy_refused 0.0" in (await served.request("GET", "/metrics")).body


class Steps:
    """A clock whose sleeps are steps: each does something to the file, and the last one ends the watch."""

    def __init__(self, steps):
        self._steps = iter(steps)

    async def sleep(self, _seconds):
        step = next(self._steps, None)
        if step is None:
            raise asyncio.CancelledError
        step()


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
async def test_what_is_still_being_written_is_waited_for(tmp_path, folder):
    file = tmp_path / "policy.yaml"
    file.write_text(KNOWN)
    taken = []
    watch = FileWatch.before_reading(tmp_path if folder else file)
    writes = [lambda text=text: file.write_text(text) for text in ("", "# half", "# half of it", "# whole\n" + KNOWN)]
    clock = Steps([*writes, *[lambda: None] * 5])
    with pytest.raises(asyncio.CancelledError):
        await keep_watching(clock, watch, read=lambda: taken.append(file.read_text()))
    assert taken == ["# whole\n" + KNOWN]


async def test_a_file_that_changes_between_its_reading_and_the_watch_is_read_again(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(KNOWN)
    watch, taken = FileWatch.before_reading(file), []
    file.write_text('name = "written while the gateway started"\n')
    with pytest.raises(asyncio.CancelledError):
        await keep_watching(Steps([lambda: None] * 3), watch, read=lambda: taken.append(file.read_text()))
    assert taken == [file.read_text()]


def test_the_command_begins_its_watch_before_it_reads_the_policy(tmp_path, monkeypatch):
    config, file = tmp_path / "gateway.toml", tmp_path / "policy.toml"
    config.write_text('[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n')
    file.write_text(KNOWN)
    begun = []

    def read_and_then_changed(path, _config):
        path.write_text('name = "written while the gateway started"\n')
        return Policy(name="known")

    monkeypatch.setattr("gateway.policy.load_policy", read_and_then_changed)
    monkeypatch.setattr("gateway.serve.run", lambda *_, policy_file, **__: begun.append(policy_file))
    assert main(["gateway", "--config", str(config), "--policy", str(file)]) == 0
    (watch,) = begun
    assert [watch.changed() for _ in range(3)] == [False, True, False]
