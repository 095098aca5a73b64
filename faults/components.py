"""Faults of components inside the serving process: tokenizer, attention kernel, validator, weights.

The process has to be started by `faults.backend_launcher`; the target's `control` is its control folder.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import ClassVar

import msgspec

from faults.allocations import failures_counted
from faults.backend_launcher import read_launch
from faults.component_hooks import MARK, Switch
from faults.errors import NotApplicable
from faults.fault import Firing, Sleeper, Target
from faults.journal import Entry, Journal
from faults.log_watch import LogWatch
from faults.outage import down, finish, killed_process, process_of
from faults.parameter import check_bounds, means, share
from faults.process import ProcessId
from faults.undo import FileChanged, WeightsDamaged


def control_folder(target: Target) -> Path:
    """Raises NotApplicable when the process was not started by the launcher."""
    if target.control is None or read_launch(target.control) is None:
        raise NotApplicable(f"{target.name}: it was not started by `python -m faults.backend_launcher` (control)")
    return target.control


def _switch_file(folder: Path, fault_id: str) -> Path:
    return folder / f"{fault_id}.fault"


def _fault_id(kind: str, folder: Path, rng: Random) -> str:
    while _switch_file(folder, fault_id := f"{kind}-{rng.getrandbits(32):08x}").exists():
        continue
    return fault_id


def _write(folder: Path, switch: Switch) -> None:
    """At once, so that a hook never reads half a file."""
    draft = folder / f"{switch.id}.draft"
    draft.write_bytes(msgspec.json.encode(switch))
    draft.rename(_switch_file(folder, switch.id))


@asynccontextmanager
async def switched(target: Target, kind: str, rate: float, delay_ms: float, rng: Random) -> AsyncIterator[Firing]:
    """One hook on for the length of the block; the firing counts the calls it struck."""
    folder = control_folder(target)
    firing = Firing()
    fault_id = _fault_id(kind, folder, rng)
    switch = Switch(id=fault_id, kind=kind, seed=rng.getrandbits(48), rate=rate, delay_ms=delay_ms)
    watch = LogWatch.begin(target.log, rf"^{MARK} {fault_id} ")
    undo = FileChanged(path=str(_switch_file(folder, fault_id)), original=None)
    with Journal.of(target).undoing(target.name, undo):
        _write(folder, switch)
        try:
            yield firing
        finally:
            watch.prove(firing, f"calls struck by {kind}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeErrors:
    """Let the tokenizer fail to decode tokens to text."""

    name: ClassVar[str] = "decode_errors"
    rate: float = field(default=0.1, metadata=share("share of calls; a stream decodes token by token"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return switched(target, "decode_errors", self.rate, 0.0, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionErrors:
    """Let the attention kernel fail with a cuBLAS error."""

    name: ClassVar[str] = "attention_errors"
    rate: float = field(default=0.002, metadata=share("share of calls; each layer calls once per token"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return switched(target, "attention_errors", self.rate, 0.0, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFraction:
    """Let the backend take no more than a share of the GPU's memory, from its next request on."""

    name: ClassVar[str] = "memory_fraction"
    fraction: float = field(default=0.1, metadata=share("share of the device's memory"))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:
        if not target.device.startswith("cuda"):
            raise NotApplicable(f"{target.name}: it runs on {target.device}; a memory fraction needs a CUDA device")
        firing = Firing()
        async with failures_counted(target, firing, clock):
            async with switched(target, "memory_fraction", self.fraction, 0.0, rng) as limited:
                yield firing
            firing.evidence.extend(limited.evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowValidator:
    """Slow the check of answers down, in a gateway of ours that was started by the launcher."""

    name: ClassVar[str] = "slow_validator"
    delay_ms: float = field(default=1000.0, metadata=means("time each check takes longer, ms", low=0, high=600_000))
    rate: float = field(default=1.0, metadata=share("share of checks"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return switched(target, "slow_validator", self.rate, self.delay_ms, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedWeights:
    """Start the backend again on a copy of its weights in which bits are flipped; afterwards on the sound ones."""

    name: ClassVar[str] = "damaged_weights"
    flips: int = field(default=1000, metadata=means("bits that are flipped", low=1, high=10**7))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:
        folder = control_folder(target)
        launch = read_launch(folder)
        model = launch.model() if launch else None
        if model is None or target.restart is None:
            raise NotApplicable(f"{target.name}: it names no folder with weights, or cannot be restarted")
        sound = killed_process(target) or process_of(target)
        fault_id = _fault_id("damaged_weights", folder, rng)
        copy = folder / fault_id / model.name
        watch = LogWatch.begin(target.log, rf"^{MARK} {fault_id} ")
        switch = str(_switch_file(folder, fault_id))
        undo = WeightsDamaged(switch=switch, copy=str(copy.parent), sound=sound, revival=target.revival)
        journal = Journal.of(target)
        entry = journal.write(target.name, undo)
        firing = Firing()
        written = False
        try:
            flip_bits(copy_model(model, copy), self.flips, rng)
            written = True
            _write(folder, Switch(id=fault_id, kind="damaged_weights", model=str(model), copy=str(copy)))
            await start_anew(target, clock, last=sound)
            yield firing
        finally:
            watch.prove(firing, "starts with damaged weights")
            undo.take_away()  # what starts next is sound
            await finish(_sound_again(target, clock, entry, sound, restart=written))


async def _sound_again(target: Target, clock: Sleeper, entry: Entry, sound: ProcessId, *, restart: bool) -> None:
    if restart:
        await start_anew(target, clock, last=sound)
    Journal.of(target).strike(entry)


async def start_anew(target: Target, clock: Sleeper, *, last: ProcessId) -> None:
    """Start the backend with the switches as they are now, also one that has ended by itself.

    One that a kill holds down stays so; it starts with them later.
    """
    async with down(target, clock, last=last):
        pass


def copy_model(model: Path, copy: Path) -> list[Path]:
    """A copy whose weights are files of their own and whose other files are links; returns the weights."""
    copy.mkdir(parents=True)
    for path in model.iterdir():
        if path.suffix == ".safetensors":
            shutil.copyfile(path, copy / path.name)
        else:
            (copy / path.name).symlink_to(path.resolve())
    return sorted(copy.glob("*.safetensors"))


def flip_bits(files: list[Path], flips: int, rng: Random) -> None:
    """Flip bits of the tensors, never of the header: the file still loads."""
    for path in files:
        with path.open("r+b") as file:
            begin = 8 + int.from_bytes(file.read(8), "little")
            size = path.stat().st_size
            for _ in range(flips if size > begin else 0):
                place = rng.randrange(begin, size)
                file.seek(place)
                byte = file.read(1)[0]
                file.seek(place)
                file.write(bytes([byte ^ (1 << rng.randrange(8))]))
