"""The watchdog of one backend: looks, lets `watch` decide, and acts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from gateway.clock import Clock
from gateway.record import Reason
from gateway.restarting import restarted
from gateway.watchdog.config import Launch, WatchdogConfig
from gateway.watchdog.process import ChildProcess
from gateway.watchdog.watch import TOLD, USUAL, Phase, Seen, Sign, Watch, after, cause_in, judge
from gateway.watchdog.weights import first_whole

_TICK_S = 0.1
_OK = 200
Tell = Callable[[str, str], None]
Probe = Callable[[], Awaitable[bool]]


class Keeper:
    """Starts the process and starts it again; `run` until cancelled, which also ends the process."""

    def __init__(
        self,
        config: WatchdogConfig,
        *,
        probe: Probe,
        clock: Clock,
        environ: Mapping[str, str],
        tell: Tell,
        on_ready: Callable[[], None],
    ) -> None:
        self._config = config
        self._probe = probe
        self._clock = clock
        self._environ = environ
        self._tell = tell
        self._on_ready = on_ready
        self._usual = Launch(name=USUAL, command=config.command)
        self._process = ChildProcess(
            log_file=config.log_file, pid_file=config.pid_file, stop_s=config.stop_s, clock=clock
        )
        self._probe_due_s = 0.0
        self._failed_probes = 0
        self._kernel_failures = self._memory_failures = 0
        self._folder: Path | None = None
        self.damaged: tuple[str, ...] = ()
        self.watch = Watch(since_s=clock.now_s(), due_s=clock.now_s())

    @property
    def up(self) -> bool:
        """Whether requests may be sent to it."""
        return self.watch.phase is Phase.RUNNING

    @property
    def degraded(self) -> bool:
        """Whether it runs in another launch than the usual one."""
        return self.watch.launch > 0

    @property
    def launch(self) -> Launch:
        return (self._usual, *self._config.degraded)[self.watch.launch]

    def state(self) -> dict[str, Any]:
        """For /readyz and the admin interface."""
        return {
            "phase": self.watch.phase,
            "launch": self.launch.name,
            "starts": self.watch.starts,
            "failures": self.watch.failures,
            "pid": self._process.pid,
            "weights": None if self._folder is None else str(self._folder),
            "damaged": list(self.damaged),
            "due_in_s": round(max(0.0, self.watch.due_s - self._clock.now_s()), 1) if self._waits() else None,
        }

    def answered(self) -> None:
        """The backend gave an answer."""
        self._kernel_failures = self._memory_failures = self._failed_probes = 0

    def failed(self, reason: Reason) -> None:
        """An answer failed: in an attention kernel, for want of memory, or for what no other launch mends."""
        self._kernel_failures += reason is Reason.KERNEL_FAILURE
        self._memory_failures += reason is Reason.OUT_OF_MEMORY

    async def run(self) -> None:
        """A turn that fails is told and tried again; the process lives on meanwhile."""
        try:
            await restarted(self._turns, name="the watchdog's turn", clock=self._clock, tell=self._tell)
        finally:
            await self._process.stop()

    async def _turns(self) -> None:
        while True:
            await self._turn()
            await self._clock.sleep(_TICK_S)

    async def _turn(self) -> None:
        if self.watch.phase is Phase.VERIFYING:  # the turn before failed in the middle of it
            await self._begin()
            return
        seen = await self._look()
        sign = judge(self.watch, seen, now_s=self._clock.now_s(), marks=self._config)
        if sign is Sign.DUE:
            self._move(Sign.DUE)
            await self._begin()
        elif sign is Sign.READY:
            self._move(Sign.READY)
            self._kernel_failures = self._memory_failures = self._failed_probes = 0
            self._on_ready()
        elif sign is not None:
            await self._end(sign)

    async def _look(self) -> Seen:
        answers = False
        if self.watch.phase in (Phase.STARTING, Phase.RUNNING) and not self._process.exited:
            answers = await self._asked()
        return Seen(
            exited=self._process.exited,
            answers=answers,
            failed_probes=self._failed_probes,
            kernel_failures=self._kernel_failures,
            memory_failures=self._memory_failures,
        )

    async def _asked(self) -> bool:
        if self._clock.now_s() < self._probe_due_s:
            return False
        answers = await self._probe()
        starting = self.watch.phase is Phase.STARTING
        self._probe_due_s = self._clock.now_s() + (0.0 if starting else self._config.probe_s)
        self._failed_probes = 0 if answers or starting else self._failed_probes + 1
        return answers

    async def _begin(self) -> None:
        """Verify the weights and start."""
        copies = self._config.weights
        self._folder, self.damaged = await asyncio.to_thread(first_whole, copies) if copies else (None, ())
        for problem in self.damaged:
            self._tell("weights_damaged", problem)
        if copies and self._folder is None:
            self._move(Sign.DAMAGED)
            return
        self._move(Sign.SOUND)
        self._probe_due_s, self._failed_probes = 0.0, 0
        launch = self.launch
        environment = {**self._environ, **self._config.environment, **launch.environment}
        argv = [_filled(part, self._folder) for part in launch.command]
        folder = self._config.working_dir or (self._folder.parent if self._folder else None)
        try:
            await self._process.start(argv, environment=environment, folder=folder)
        except OSError as error:
            self._tell("start_failed", f"{argv[0]}: {error.strerror}")

    async def _end(self, sign: Sign) -> None:
        """Make sure that it is over, find out why, and wait."""
        await self._process.stop()
        cause = TOLD.get(sign) or cause_in(self._process.last_words())
        self._tell("backend_down", f"{sign}, exit code {self._process.exit_code}, cause {cause}")
        self.watch = after(self.watch, sign, now_s=self._clock.now_s(), marks=self._config, cause=cause)
        self._tell("restart_planned", f"launch {self.launch.name} in {self.state()['due_in_s']} s")

    def _move(self, sign: Sign) -> None:
        self.watch = after(self.watch, sign, now_s=self._clock.now_s(), marks=self._config)
        self._tell("watchdog", f"{sign}: {self.watch.phase}, launch {self.launch.name}")

    def _waits(self) -> bool:
        return self.watch.phase is Phase.WAITING


def _filled(part: str, folder: Path | None) -> str:
    if folder is None:
        return part
    return part.replace("{weights}", str(folder)).replace("{weights_name}", folder.name)


def http_probe(session: aiohttp.ClientSession, url: str, config: WatchdogConfig) -> Probe:
    """Whether the backend's health address answers 200 in time; each probe on a connection of its own."""
    address = url.rstrip("/").removesuffix("/v1") + config.health_path
    timeout = aiohttp.ClientTimeout(total=config.probe_timeout_s)

    async def probe() -> bool:
        try:
            async with session.get(address, timeout=timeout, headers={"Connection": "close"}) as response:
                return response.status == _OK
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    return probe
