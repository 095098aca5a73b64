"""When a backend's process is started again, how long that waits, and in which launch: a table and pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from gateway.backends.failures import is_kernel_failure, is_out_of_memory
from gateway.errors import GatewayError
from gateway.watchdog.config import Cause, Launch, WatchdogConfig

USUAL = "usual"  # the name of the launch that the config names first
_MOST_DOUBLINGS = 30


class Phase(StrEnum):
    """Where the process stands."""

    WAITING = "waiting"  # down, until the back-off is over
    VERIFYING = "verifying"
    STARTING = "starting"
    RUNNING = "running"


class Sign(StrEnum):
    """What moves the phase."""

    DUE = "due"
    SOUND = "sound"  # a folder of weights whose checksums hold, or none to verify
    DAMAGED = "damaged"  # every copy is
    READY = "ready"
    EXITED = "exited"
    LATE = "late"  # not ready within the start timeout
    HUNG = "hung"
    KERNEL = "kernel"  # its answers fail in an attention kernel
    MEMORY = "memory"  # its answers say that memory ran out, while it lives on


class IllegalTransition(GatewayError):  # noqa: N818 - the guide's own word
    """A sign that cannot come in this phase."""


TRANSITIONS = MappingProxyType(
    {
        (Phase.WAITING, Sign.DUE): Phase.VERIFYING,
        (Phase.VERIFYING, Sign.SOUND): Phase.STARTING,
        (Phase.VERIFYING, Sign.DAMAGED): Phase.WAITING,
        (Phase.STARTING, Sign.READY): Phase.RUNNING,
        (Phase.STARTING, Sign.EXITED): Phase.WAITING,
        (Phase.STARTING, Sign.LATE): Phase.WAITING,
        (Phase.RUNNING, Sign.EXITED): Phase.WAITING,
        (Phase.RUNNING, Sign.HUNG): Phase.WAITING,
        (Phase.RUNNING, Sign.KERNEL): Phase.WAITING,
        (Phase.RUNNING, Sign.MEMORY): Phase.WAITING,
    }
)


TOLD: Mapping[Sign, Cause] = MappingProxyType({Sign.KERNEL: "kernel", Sign.MEMORY: "memory"})  # by its own answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One process. `launch` indexes (the usual launch, *the degraded ones)."""

    phase: Phase = Phase.WAITING
    since_s: float = 0.0
    due_s: float = 0.0  # when the wait is over
    failures: int = 0  # ends in a row without a stable run between them
    starts: int = 0
    launch: int = 0
    launch_since_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a look at the process showed."""

    exited: bool
    answers: bool  # its health address does, now
    failed_probes: int = 0  # in a row
    kernel_failures: int = 0  # in a row
    memory_failures: int = 0  # in a row


def judge(watch: Watch, seen: Seen, *, now_s: float, marks: WatchdogConfig) -> Sign | None:
    """What the look means; None: nothing changes."""
    if watch.phase is Phase.WAITING:
        return Sign.DUE if now_s >= watch.due_s else None
    if watch.phase is Phase.VERIFYING:
        return None
    if seen.exited:
        return Sign.EXITED
    if watch.phase is Phase.STARTING:
        if seen.answers:
            return Sign.READY
        return Sign.LATE if now_s - watch.since_s > marks.start_timeout_s else None
    if seen.failed_probes >= marks.hung_after:
        return Sign.HUNG
    if seen.kernel_failures >= marks.kernel_failures:
        return Sign.KERNEL
    short = seen.memory_failures >= marks.memory_failures
    return Sign.MEMORY if short and _first(marks.degraded, "memory", after=watch.launch) is not None else None


def after(watch: Watch, sign: Sign, *, now_s: float, marks: WatchdogConfig, cause: Cause = "any") -> Watch:
    """The watch once `sign` has come. Raises IllegalTransition."""
    try:
        phase = TRANSITIONS[watch.phase, sign]
    except KeyError:
        raise IllegalTransition(f"{sign} cannot come while {watch.phase}") from None
    moved = replace(watch, phase=phase, since_s=now_s)
    if phase is Phase.STARTING:
        return replace(moved, starts=watch.starts + 1)
    if phase is not Phase.WAITING:
        return moved
    stable = watch.phase is Phase.RUNNING and now_s - watch.since_s >= marks.stable_s
    failures = 1 if stable else watch.failures + 1
    launch = next_launch(watch, sign, now_s=now_s, marks=marks, cause=TOLD.get(sign, cause))
    return replace(
        moved,
        failures=failures,
        due_s=now_s + back_off_s(failures, marks),
        launch=launch,
        launch_since_s=now_s if launch != watch.launch else watch.launch_since_s,
    )


def back_off_s(failures: int, marks: WatchdogConfig) -> float:
    """Seconds to wait before the start after `failures` ends in a row (1 or more)."""
    return min(marks.max_back_off_s, marks.back_off_s * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))


def next_launch(watch: Watch, sign: Sign, *, now_s: float, marks: WatchdogConfig, cause: Cause) -> int:
    """Which launch to use next. A process that merely died is started as it was."""
    if sign is Sign.DAMAGED:
        return watch.launch
    failed_to_start = watch.phase is Phase.STARTING
    if cause != "any" or failed_to_start:
        further = _first(marks.degraded, cause, after=watch.launch)
        if further is not None:
            return further
    old = watch.launch > 0 and now_s - watch.launch_since_s >= marks.retry_usual_s
    return 0 if old and cause == "any" else watch.launch


def _first(launches: Sequence[Launch], cause: Cause, *, after: int) -> int | None:
    """The first degraded launch behind `after` that is meant for `cause`."""
    for index, launch in enumerate(launches, start=1):
        if index > after and launch.after in (cause, "any"):
            return index
    return None


def cause_in(text: str) -> Cause:
    """What a process's last words say it died of."""
    if is_out_of_memory(text):
        return "memory"
    return "kernel" if is_kernel_failure(text) else "any"
