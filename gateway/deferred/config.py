"""Where asynchronous answers are kept, and how many."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gateway.section import Count, Positive, Section

MOST_LEASE_S = 600


class Deferred(Section, frozen=True, kw_only=True):
    """The policy's [decision] says when they are given."""

    path: Path | None = None  # SQLite file; None: no asynchronous answers
    max_pending: Count = 100  # accepted and not yet answered; more are answered at once, like any other
    max_bytes: Annotated[int, Meta(ge=65_536)] = 67_108_864  # of the file
    ttl_s: Positive = 3600.0  # an answer is kept for so long, and a request waits for so long
    deadline_s: Positive = 300.0  # for one request, once it is its turn
    lease_s: Annotated[float, Meta(ge=1, le=MOST_LEASE_S)] = 15.0  # a gateway that died is noticed after so long
    workers: Count = 1  # of them at the same time
