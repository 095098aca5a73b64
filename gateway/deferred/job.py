"""What a job is: as it was asked for, as it is worked on, and as its owner and the metrics see it."""

from enum import StrEnum
from typing import NamedTuple

import msgspec

from gateway.errors import GatewayError


class StoreError(GatewayError):
    """The file cannot be read or written, or is full. `unwritable`: it may still be read."""

    def __init__(self, message: str, *, unwritable: bool = False) -> None:
        super().__init__(message)
        self.unwritable = unwritable


class Status(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    LOST = "lost"  # the gateway died while it ran, twice


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it is kept: nothing that proves who asks."""

    body: dict[str, object]
    caller: tuple[str, str, str]
    forward: dict[str, str]
    trace: dict[str, str] = msgspec.field(default_factory=dict)  # headers by which its trace goes on


class Claimed(NamedTuple):
    """A job that this gateway works on until its lease is over."""

    id: str
    tenant: str
    asked: Asked


class Found(NamedTuple):
    """A job as its owner sees it; `answer` is the body to send with `answer_status`, once there is one."""

    status: Status
    age_s: float
    answer: bytes | None
    answer_status: int | None


class Standing(NamedTuple):
    """What the file holds: jobs by status, and the age of the oldest that is queued or runs (0 where none is)."""

    jobs: dict[Status, int]
    oldest_s: float
