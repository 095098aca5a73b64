"""Run the storm's columns: start what a column needs, send the same requests, count."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from gateway.clock import Clock
from harness.models import ModelSpec
from harness.stack.backend import BackendLine, announced_port
from harness.stack.gateway_config import gateway_argv, gateway_toml
from harness.stack.process import Child
from harness.storm.client import ask, judged
from harness.storm.plan import Mix, Planned, plan
from harness.storm.table import Column, End, Ended
from harness.storm.victim import Victim

COLUMNS = MappingProxyType({"bare": "no gateway", "off": "gateway, guard off", "on": "gateway, guard on"})
MAX_TOKENS = 12
CLIENT_TIMEOUT_S = 60.0
MARGIN_SHARE = 0.25  # of the room: what a request takes besides its KV cache
POLICY = """
[paths]
order = ["primary", "template", "structured"]
[deadline]
request_s = 55.0
[limits.default]
first_token_s = 50.0
idle_s = 20.0
total_s = 50.0
[breaker]
open_s = 3.0
[health]
p99_ms = 60000.0
[overload]
action = "answer"
queue_wait_s = 45.0
[truncation]
limit_tokens = 4000
pressure_tokens = 512
[ledger]
wait_s = 5.0
[grounding]
apply = "never"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """One storm; every column meets the same requests."""

    model: ModelSpec
    model_dir: Path
    requests: int
    clients: int
    room_bytes: int
    most_s: float
    seed: int
    concurrent: int = 4  # calls that a gateway has running at once, with the guard and without: reservations compete
    kills: bool = False  # an allocation that fails ends the backend
    pause_s: float = 3.0  # before a client goes on that got no answer of the model: not all ask while nobody is there
    mix: Mix = field(default_factory=Mix)
    engine: Callable[[int], Sequence[str]] | None = None  # the command line for a port; None: the model's own engine
    clock: Clock

    async def column(self, name: str, folder: Path) -> Column:
        """`name`: of COLUMNS. Raises StackError where something does not start."""
        line = BackendLine(name="primary", model=self._spec, model_dir=self.model_dir, device="cpu", logs=folder)
        if self.engine is not None:
            line.argv = self.engine(line.port)
        victim = Victim(line=line, room_bytes=self.room_bytes, clock=self.clock, kills=self.kills)
        async with victim.running():
            if name == "bare":
                ended = await self._all(line.url, self.model_dir.name)
            else:
                async with self._gateway(line, folder, guarded=name == "on") as url:
                    ended = await self._all(url, "truefall")
        return Column(
            name=COLUMNS[name],
            ended=ended,
            deaths=victim.deaths,
            down_s=victim.down_s,
            longest_down_s=victim.longest_down_s,
            failed_allocations=victim.failed_allocations,
            peak_share=victim.peak_share,
        )

    @property
    def _spec(self) -> ModelSpec:
        """The model with the memory that the storm leaves it."""
        margin_bytes = int(MARGIN_SHARE * self.room_bytes)
        room_bytes = self.room_bytes
        return replace(
            self.model, max_concurrent=self.concurrent, margin_bytes=margin_bytes, kv_capacity_bytes=room_bytes
        )

    async def _all(self, url: str, model: str) -> tuple[Ended, ...]:
        """Each client takes the next request when its own has ended."""
        waiting = list(reversed(plan(self.requests, seed=self.seed, mix=self.mix)))
        ended: list[Ended] = []
        last_s = self.clock.now_s() + self.most_s

        async def client() -> None:
            while waiting and self.clock.now_s() < last_s:
                ended.append(one := await self._one(url, model, waiting.pop()))
                if one.end not in (End.WHOLE, End.CUT):
                    await self.clock.sleep(self.pause_s)

        async with asyncio.TaskGroup() as group:
            for _ in range(self.clients):
                group.create_task(client())
        return tuple(ended)

    async def _one(self, url: str, model: str, planned: Planned) -> Ended:
        heard = await ask(
            url, model, planned.prompt, max_tokens=MAX_TOKENS, timeout_s=CLIENT_TIMEOUT_S, clock=self.clock
        )
        return judged(planned, heard)

    @asynccontextmanager
    async def _gateway(self, line: BackendLine, folder: Path, *, guarded: bool) -> AsyncIterator[str]:
        pid_file = folder / "primary.pid"
        config, policy = folder / "gateway.toml", folder / "policy.toml"
        memory = {line.name: line.memory_settings(pid_file)} if guarded else {}
        policy.write_text(POLICY, "utf-8")
        config.write_text(gateway_toml([line], memory=memory), "utf-8")
        child = Child(name="gateway", argv=gateway_argv(config, policy), log=folder / "gateway.log")
        telling = asyncio.create_task(self._tell_pid(line, pid_file))
        child.start()
        try:
            yield f"http://127.0.0.1:{await announced_port(child, self.clock)}"
        finally:
            child.stop()
            telling.cancel()
            await asyncio.wait({telling})

    async def _tell_pid(self, line: BackendLine, pid_file: Path) -> None:
        """Whoever restarts a backend writes its process id for the gateway's probe."""
        while True:
            if (pid := line.pid()) is not None:
                pid_file.write_text(str(pid), "utf-8")
            await self.clock.sleep(0.1)
