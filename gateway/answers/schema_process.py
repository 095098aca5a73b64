"""A process of its own for schemas that may take for ever: a client wrote them, and a pattern cannot be interrupted.

`python -m gateway.answers.schema_process` reads one job per line and answers each with one line. It fetches nothing: a
reference that leads out of the schema is an error. It ends with its input, and by itself when a job takes too long.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from threading import Lock
from typing import Any

import msgspec

from gateway.clock import SystemClock

_CLOCK = SystemClock()
_READY = b"ready\n"
_START_S = 5.0
_GIVE_UP_S = 3.0  # of the process itself, should nobody end it
_READ_BYTES = 65_536
_SHOWN_CHARS = 200


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Is `value` valid by `schema`? Without `check_value`: is the schema one?"""

    schema: dict[str, Any]
    value: Any = None
    check_value: bool = False


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """`wrong` says what is wrong; None: nothing."""

    wrong: str | None = None


class Unjudged(Enum):
    """Why there is no verdict."""

    SLOW = auto()  # the job itself took longer than it may, or was the process's end
    BUSY = auto()  # its turn did not come in time: this says nothing about the job


class SchemaProcess:
    """One such process, started at the first job and again when it had to be ended. Calls block; for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, job: Job, *, within_s: float) -> Verdict | Unjudged:
        """`within_s` is the job's own time, from when the process is there and free."""
        with self._lock:
            process = self._running()
            if process is None:
                self._end()
                return Unjudged.BUSY
            line = _exchanged(process, msgspec.json.encode(job) + b"\n", within_s)
            if line is None:
                self._end()
                return Unjudged.SLOW
            return msgspec.json.decode(line, type=Verdict)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> "subprocess.Popen[bytes] | None":
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        command = [sys.executable, "-m", "gateway.answers.schema_process"]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
        except OSError:
            return None
        return self._process if _line(self._process, _START_S) == _READY.strip() else None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _exchanged(process: "subprocess.Popen[bytes]", job: bytes, within_s: float) -> bytes | None:
    ends_s = _CLOCK.now_s() + within_s
    if process.stdin is None:
        return None
    stdin = process.stdin.fileno()
    os.set_blocking(stdin, False)
    try:
        while job:
            if not select.select([], [stdin], [], max(0.0, ends_s - _CLOCK.now_s()))[1]:
                return None
            job = job[os.write(stdin, job[:_READ_BYTES]) :]
    except OSError:
        return None
    return _line(process, ends_s - _CLOCK.now_s())


def _line(process: "subprocess.Popen[bytes]", within_s: float) -> bytes | None:
    """One line without its end; None when it does not come in time."""
    ends_s = _CLOCK.now_s() + within_s
    found = b""
    while process.stdout is not None:
        if not select.select([process.stdout], [], [], max(0.0, ends_s - _CLOCK.now_s()))[0]:
            return None
        data = os.read(process.stdout.fileno(), _READ_BYTES)
        found += data
        if not data or found.endswith(b"\n"):
            return found.strip() or None
    return None


def judged(job: Job) -> Verdict:
    """What is wrong with the schema, or with the value."""
    import jsonschema
    import jsonschema_specifications

    try:
        kind = jsonschema.validators.validator_for(job.schema, default=jsonschema.Draft202012Validator)
        validator = kind(job.schema, registry=jsonschema_specifications.REGISTRY)
        if job.check_value:
            return Verdict(wrong=None if validator.is_valid(job.value) else "the value violates the schema")
        kind.check_schema(job.schema)
        for reference in _references(job.schema):
            if not reference.startswith("#"):
                return Verdict(wrong=f"{reference[:_SHOWN_CHARS]!r} refers to something outside the schema")
        validator.is_valid(None)  # follows what refers to itself without end
    except jsonschema.SchemaError as error:
        return Verdict(wrong=str(error.message)[:_SHOWN_CHARS])
    except RecursionError:
        return Verdict(wrong="it refers to itself without end, or is nested too deeply")
    except Exception as error:  # such as a reference to nothing
        return Verdict(wrong=f"{type(error).__name__}: {error}"[:_SHOWN_CHARS])
    return Verdict()


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += one.values()
            yield from (one[key] for key in ("$ref", "$dynamicRef", "$recursiveRef") if isinstance(one.get(key), str))
        elif isinstance(one, list):
            waiting += one


def main() -> None:
    """Until the input ends."""
    import jsonschema  # noqa: F401 - before the first job's time runs

    sys.stdout.buffer.write(_READY)
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, _GIVE_UP_S)  # its signal ends the process
        verdict = judged(msgspec.json.decode(line, type=Job))
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(msgspec.json.encode(verdict) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
