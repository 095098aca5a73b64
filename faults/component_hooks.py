"""Where the faults of components take hold inside a process, and what happens there.

A hook wraps a function as soon as its module is imported. It does nothing until a control file switches it on.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

MARK = "truefall-fault"  # begins the log line that says that a fault struck


class Hook(NamedTuple):
    """One function that a kind of fault takes hold of."""

    kind: str
    module: str
    function: str  # "name" or "Class.name"


HOOKS = (
    Hook("decode_errors", "transformers.tokenization_utils_base", "PreTrainedTokenizerBase.decode"),
    Hook("decode_errors", "transformers.cli.serving.utils", "DirectStreamer.put"),
    Hook("decode_errors", "transformers.cli.serving.utils", "CBStreamer.put"),
    Hook("decode_errors", "gateway.prompt.read_back", "decoded"),
    Hook("attention_errors", "torch.nn.functional", "scaled_dot_product_attention"),
    Hook("slow_validator", "gateway.answers.validate", "check_schema"),
    Hook("memory_fraction", "transformers.generation.utils", "GenerationMixin.generate"),
)


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """A control file: one fault that is on. The weights' fault has a model and its copy instead of a rate."""

    id: str
    kind: str
    seed: int = 0
    rate: float = 1.0  # share of calls, in [0, 1]
    delay_ms: float = 0.0
    model: str = ""
    copy: str = ""


@dataclass(slots=True)
class Control:
    """The control folder; a file is read once, when it appears."""

    folder: Path
    log: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True)
    calls: dict[str, int] = field(default_factory=dict)  # by fault
    memory_share: float = 1.0  # of the device, what this process may take now
    _files: tuple[tuple[str, int], ...] = ()
    _switches: Sequence[Switch] = ()

    def switches(self) -> Sequence[Switch]:
        files = self._look()
        if files != self._files:
            found = [read_switch(self.folder / name) for name, _ in files]
            same = {name.removesuffix(".fault") for name, _ in set(files) & set(self._files)}
            self.calls = {fault: number for fault, number in self.calls.items() if fault in same}
            self._files, self._switches = files, [switch for switch in found if switch is not None]
        return self._switches

    def newest_first(self) -> Sequence[Switch]:
        at_ns = {name.removesuffix(".fault"): time_ns for name, time_ns in self._look()}
        return sorted(self.switches(), key=lambda switch: at_ns.get(switch.id, 0), reverse=True)

    def _look(self) -> tuple[tuple[str, int], ...]:
        """Names and times: a fault that went and came back between two calls is a new one."""
        try:
            with os.scandir(self.folder) as entries:
                found = [(entry.name, entry.stat().st_mtime_ns) for entry in entries if entry.name.endswith(".fault")]
        except FileNotFoundError:  # taken away while we looked
            return self._files
        return tuple(sorted(found))

    def strike(self, kind: str) -> None:
        """What happens at the beginning of a hooked call; may wait, may raise what the component would raise."""
        if kind == "memory_fraction":
            self.limit_memory([switch for switch in self.switches() if switch.kind == kind])
            return
        for switch in self.switches():
            if switch.kind != kind:
                continue
            number = self.calls[switch.id] = self.calls.get(switch.id, -1) + 1
            if Random(f"{switch.seed}/{kind}/{number}").random() < switch.rate:
                self.log(f"{MARK} {switch.id} {kind} at call {number}")
                STRIKES[kind](switch)

    def limit_memory(self, switches: Sequence[Switch]) -> None:
        """The least share that a fault wants, or all of the device again; what failed so far is logged at each call."""
        wanted = min((switch.rate for switch in switches), default=1.0)
        if wanted != self.memory_share:
            sys.modules["torch"].cuda.set_per_process_memory_fraction(wanted)
            self.memory_share = wanted
        for switch in switches:
            failed = sys.modules["torch"].cuda.memory_stats().get("num_ooms", 0)
            self.log(f"{MARK} {switch.id} memory_fraction {wanted:g}, num_ooms {failed}")


def read_switch(path: Path) -> Switch | None:
    """None: it was taken away meanwhile."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Switch)
    except FileNotFoundError:
        return None


def _decode_error(_switch: Switch) -> None:
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "injected: the tokens are no text")


def _attention_error(_switch: Switch) -> None:
    raise RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx` (injected)")


def _slow(switch: Switch) -> None:
    threading.Event().wait(switch.delay_ms / 1000)  # blocks, as the slow work would


STRIKES: dict[str, Callable[[Switch], None]] = {
    "decode_errors": _decode_error,
    "attention_errors": _attention_error,
    "slow_validator": _slow,
}


def hook_function(module: ModuleType, hook: Hook, control: Control) -> bool:
    """Wrap the function; False: the module has none of that name."""
    *path, name = hook.function.split(".")
    owner: Any = module
    for part in path:
        owner = getattr(owner, part, None)
    original = getattr(owner, name, None)
    if original is None:
        return False

    @functools.wraps(original)
    def struck(*args: Any, **kwargs: Any) -> Any:
        control.strike(hook.kind)
        return original(*args, **kwargs)

    setattr(owner, name, struck)
    return True


class HookOnImport(importlib.abc.MetaPathFinder):
    """Hooks the functions of a module when it has been imported."""

    def __init__(self, hooks: Sequence[Hook], control: Control) -> None:
        self._hooks = hooks
        self._control = control
        self._searching: set[str] = set()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        hooks = [hook for hook in self._hooks if hook.module == fullname]
        if not hooks or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = HookingLoader(spec.loader, hooks, self._control)
        return spec


class HookingLoader(importlib.abc.Loader):
    """Loads as `inner` does, then hooks."""

    def __init__(self, inner: Any, hooks: Sequence[Hook], control: Control) -> None:
        self._inner, self._hooks, self._control = inner, hooks, control

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._inner.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        for hook in self._hooks:
            if not hook_function(module, hook, self._control):
                self._control.log(f"truefall: {hook.module} has no {hook.function}; {hook.kind} cannot strike there")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
