"""A queue whose disk is full is tried again, ever less often: each try writes a line of the log."""

import asyncio
from types import SimpleNamespace

import pytest

from gateway.clock import SystemClock
from gateway.deferred.config import Deferred
from gateway.deferred.job import StoreError
from gateway.deferred.worker import Worker


class FullDisk:
    """Full for so many tries, and then there is room again."""

    unsaved = 0

    def __init__(self, tries):
        self._left = tries

    def tidy(self):
        """Nothing to tidy."""

    def claim(self, *, lease_s):
        self._left -= 1
        if self._left >= 0:
            raise StoreError("disk I/O error")


class Pauses:
    """A clock that keeps the pauses it was asked for, and ends after so many."""

    def __init__(self, most):
        self.asked_s = []
        self._most = most

    def now_s(self):
        return SystemClock().now_s()

    async def sleep(self, seconds):
        self.asked_s.append(round(seconds, 3))
        if len(self.asked_s) == self._most:
            raise asyncio.CancelledError


async def test_the_pauses_grow_while_the_disk_is_full_and_end_with_it():
    clock, lines = Pauses(12), []
    log = SimpleNamespace(write=lines.append)
    runtime = SimpleNamespace(clock=clock, log=log)
    with pytest.raises(asyncio.CancelledError):
        await Worker(runtime, FullDisk(10), Deferred()).run()
    assert clock.asked_s == [0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0, 10.0, 10.0, 10.0, 0.2, 0.2]
    assert len(lines) == 10
