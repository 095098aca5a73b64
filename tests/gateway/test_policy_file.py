"""What happens to the policy's file while the gateway runs: a write that is not whole never counts."""

import asyncio
from types import SimpleNamespace

import pytest
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.supervise import watch_policy

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
        file.write_text('name = "new"\n')
        await until(lambda: served.runtime.policies.current.name == "new")


class Steps:
    """A clock whose sleeps are steps: each does something to the file, and the last one ends the watch."""

    def __init__(self, steps):
        self._steps = iter(steps)

    async def sleep(self, _seconds):
        step = next(self._steps, None)
        if step is None:
            raise asyncio.CancelledError
        step()


async def test_a_file_that_is_still_being_written_is_waited_for(tmp_path, monkeypatch):
    file = tmp_path / "policy.toml"
    file.write_text(KNOWN)
    taken = []
    monkeypatch.setattr("gateway.supervise.reload", lambda _: taken.append(file.read_text()))
    writes = [lambda text=text: file.write_text(text) for text in ("", "# half", "# half of it", "# whole\n" + KNOWN)]
    with pytest.raises(asyncio.CancelledError):
        await watch_policy(SimpleNamespace(clock=Steps([*writes, *[lambda: None] * 5])), file)
    assert taken == ["# whole\n" + KNOWN]
