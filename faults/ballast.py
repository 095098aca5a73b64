"""Device memory taken away by a process of its own, down to a target of free bytes.

Only the child imports torch. It looks at the device again and again, takes more or gives back, says once when the
target is reached, and ends with its parent; ending it releases everything at once.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from subprocess import DEVNULL, PIPE
from typing import Any, ClassVar, NamedTuple

from faults.allocations import failures_counted
from faults.clock import SystemClock
from faults.errors import NotApplicable
from faults.fault import Firing, Sleeper, Target
from faults.journal import Journal
from faults.parameter import check_bounds, means
from faults.parent import until_orphaned, wait_for_any
from faults.process import ProcessId
from faults.undo import ChildRuns

BLOCK_BYTES = 64 * 2**20  # taken and given back in blocks of this size
TOLERANCE_BYTES = 2 * BLOCK_BYTES  # how far from the target it stays quiet
LOOK_S = 0.2
START_LIMIT_S = 120.0  # CUDA takes its time to begin


class Step(NamedTuple):
    """Blocks to take (positive) or to give back (negative)."""

    blocks: int


def decide(*, free_bytes: int, target_bytes: int, held_blocks: int) -> Step:
    """Come to `target_bytes` of free memory from above; give back when the backend itself pressed below it."""
    surplus = free_bytes - target_bytes
    if surplus > BLOCK_BYTES:
        return Step(surplus // BLOCK_BYTES)
    if surplus < -TOLERANCE_BYTES:
        return Step(-min(held_blocks, -surplus // BLOCK_BYTES))
    return Step(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaBallast:
    """Take device memory until only `free_bytes` are left; follows what the backend takes and gives."""

    name: ClassVar[str] = "cuda_ballast"
    free_bytes: int = field(default=512 * 2**20, metadata=means("what stays free on the device, bytes", low=0))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        firing = Firing()
        async with failures_counted(target, firing, clock), self.holding(target) as reached:
            firing.evidence.append(reached)
            yield firing

    @asynccontextmanager
    async def holding(self, target: Target) -> AsyncIterator[str]:
        """The memory is taken; yields what the ballast says of it."""
        if not target.device.startswith("cuda"):
            raise NotApplicable(f"{target.name}: it runs on {target.device}; a CUDA ballast needs a CUDA device")
        child = await asyncio.create_subprocess_exec(*self._argv(target.device), stdin=DEVNULL, stdout=PIPE)
        identity = ProcessId.of(child.pid)
        try:
            if identity is None:
                raise NotApplicable(f"{target.name}: the ballast process ended at once")
            with Journal.of(target).undoing(target.name, ChildRuns(process=identity)):
                yield await asyncio.wait_for(_reached(child), START_LIMIT_S)
        finally:
            if child.returncode is None:
                child.kill()
            await child.wait()

    def _argv(self, device: str) -> list[str]:
        return [sys.executable, "-m", "faults.ballast", "--device", device, "--free-bytes", str(self.free_bytes)]


async def _reached(child: asyncio.subprocess.Process) -> str:
    """The child's line about the target. Raises NotApplicable with its reason."""
    line = await child.stdout.readline() if child.stdout else b""
    said: dict[str, Any] = json.loads(line) if line.startswith(b"{") else {"error": "it ended without a word"}
    if "error" in said:
        raise NotApplicable(f"CUDA ballast: {said['error']}")
    return f"ballast of {said['held_bytes']} bytes on {said['device']}, {said['free_bytes']} bytes free"


class Device:
    """The memory of one CUDA device."""

    def __init__(self, name: str) -> None:
        import torch

        if not torch.cuda.is_available():
            raise NotApplicable("no CUDA device is available here")
        self._torch = torch
        self._name = torch.device(name)
        self._blocks: list[Any] = []

    def free_bytes(self) -> int:
        return int(self._torch.cuda.mem_get_info(self._name)[0])

    def held_blocks(self) -> int:
        return len(self._blocks)

    def take(self, blocks: int) -> None:
        """As many as there are; somebody else may be faster."""
        try:
            for _ in range(blocks):
                self._blocks.append(self._torch.empty(BLOCK_BYTES, dtype=self._torch.uint8, device=self._name))
        except self._torch.cuda.OutOfMemoryError:
            return

    def give_back(self, blocks: int) -> None:
        del self._blocks[len(self._blocks) - blocks :]
        self._torch.cuda.empty_cache()


async def hold(device: Device, name: str, target_bytes: int, clock: Sleeper) -> None:
    """Adjust for ever; print one line when the target is reached for the first time."""
    said = False
    while True:
        step = decide(free_bytes=device.free_bytes(), target_bytes=target_bytes, held_blocks=device.held_blocks())
        if step.blocks > 0:
            device.take(step.blocks)
        elif step.blocks < 0:
            device.give_back(-step.blocks)
        if not said:
            held = device.held_blocks() * BLOCK_BYTES
            print(json.dumps({"device": name, "held_bytes": held, "free_bytes": device.free_bytes()}), flush=True)
            said = True
        await clock.sleep(LOOK_S)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.ballast", description="Hold device memory.")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--free-bytes", type=int, required=True)
    arguments = parser.parse_args(argv)
    clock, parent_pid = SystemClock(), os.getppid()

    async def run() -> None:
        device = Device(arguments.device)
        await wait_for_any(
            lambda: until_orphaned(parent_pid, clock),
            lambda: hold(device, arguments.device, arguments.free_bytes, clock),
        )

    try:
        asyncio.run(run())
    except (NotApplicable, ImportError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
