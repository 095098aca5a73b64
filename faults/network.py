"""Faults of the network in front of a backend, through Toxiproxy.

`toxicity` is drawn by Toxiproxy per connection; the semantic proxy opens one connection per request, so behind it this
is the share of requests.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Literal

from faults.errors import BadFault, FaultError
from faults.fault import Firing, Sleeper, Target
from faults.journal import Journal
from faults.parameter import check_bounds, means, share
from faults.toxiproxy_client import TTL_MS, NotThereError, ServerGoneError, Toxiproxy, toxiproxy_of
from faults.undo import ToxicThere

Stream = Literal["downstream", "upstream"]


@asynccontextmanager
async def toxic(
    target: Target, name: str, attributes: Mapping[str, int], *, stream: Stream, toxicity: float, rng: Random
) -> AsyncIterator[Firing]:
    """Add one toxic for the length of the block; the firing counts the connections that met it."""
    server, proxy = toxiproxy_of(target.name, target.toxiproxy_url, target.toxiproxy_proxy)
    firing = Firing()
    if toxicity == 0:  # exactly inert
        yield firing
        return
    undo = ToxicThere(url=server.url, proxy=proxy, toxic=_free_name(server, proxy, name, rng))
    with Journal.of(target).undoing(target.name, undo):
        before = server.received_bytes(proxy, stream)
        wanted = {
            "name": undo.toxic,
            "type": name,
            "stream": stream,
            "toxicity": toxicity,
            "attributes": dict(attributes),
        }
        server.add_toxic(proxy, {**wanted, "ttl_ms": TTL_MS})  # of the embedded server; another one ignores it
        try:
            yield firing
        finally:
            _prove(firing, server, undo, stream, before)


def _free_name(server: Toxiproxy, proxy: str, name: str, rng: Random) -> str:
    """A name from the seed, because Toxiproxy draws by it; another one if two equal faults overlap."""
    used = {found["name"] for found in server.toxics(proxy)}
    while (free := f"{name}_{rng.getrandbits(32):08x}") in used:
        continue
    return free


def _prove(firing: Firing, server: Toxiproxy, undo: ToxicThere, stream: Stream, before: int | None) -> None:
    """Fill the firing; a server that cannot tell leaves it unproved, which makes the run inconclusive."""
    try:
        counted = server.evidence(undo.proxy, undo.toxic)
        after = server.received_bytes(undo.proxy, stream) if counted is None else None
    except (NotThereError, ServerGoneError):
        firing.evidence.append(f"{undo.toxic}: gone before the block ended")
        return
    except FaultError as error:
        firing.evidence.append(f"{undo.toxic}: not proved: {error}")
        return
    if counted is not None:
        firing.touched = int(counted["connections"])
        firing.evidence.append(f"{undo.toxic}: {firing.touched} connections, {counted['bytes']} bytes {stream}")
    elif before is None or after is None:
        firing.evidence.append(f"{undo.toxic}: not proved: Toxiproxy runs without -proxy-metrics")
    else:
        firing.touched = int(after > before)
        firing.evidence.append(f"{undo.toxic}: {after - before} bytes {stream} received while it was on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Delay every chunk of the connection by `mean_ms`, give or take `jitter_ms`, drawn uniformly."""

    name: ClassVar[str] = "latency"
    mean_ms: int = field(metadata=means("delay, ms", low=0))
    jitter_ms: int = field(default=0, metadata=means("greatest deviation from it, ms", low=0))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {"latency": self.mean_ms, "jitter": self.jitter_ms}
        return toxic(target, "latency", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """Let no more than `rate_kb_s` through."""

    name: ClassVar[str] = "bandwidth"
    rate_kb_s: int = field(default=1, metadata=means("greatest rate, KB/s", low=1))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {"rate": self.rate_kb_s}
        return toxic(target, "bandwidth", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout:
    """Stop all data; close the connection after `timeout_ms`, or, when that is 0, only when the backend does."""

    name: ClassVar[str] = "timeout"
    timeout_ms: int = field(default=0, metadata=means("time until the connection closes, ms; 0: the backend's", low=0))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {"timeout": self.timeout_ms}
        return toxic(target, "timeout", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPeer:
    """Reset the connection (RST) after `timeout_ms`."""

    name: ClassVar[str] = "reset_peer"
    timeout_ms: int = field(default=0, metadata=means("time until the reset, ms", low=0))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {"timeout": self.timeout_ms}
        return toxic(target, "reset_peer", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicer:
    """Cut the data into small pieces and pause between them."""

    name: ClassVar[str] = "slicer"
    average_size_bytes: int = field(default=64, metadata=means("mean size of a piece, bytes", low=1))
    size_variation_bytes: int = field(default=0, metadata=means("greatest deviation, bytes; less than the mean", low=0))
    delay_us: int = field(default=10_000, metadata=means("pause between two pieces, µs", low=0))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.size_variation_bytes >= self.average_size_bytes:
            bound = f"less than average_size_bytes ({self.average_size_bytes})"
            raise BadFault(f"slicer: size_variation_bytes is {self.size_variation_bytes}, must be {bound}")

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {
            "average_size": self.average_size_bytes,
            "size_variation": self.size_variation_bytes,
            "delay": self.delay_us,
        }
        return toxic(target, "slicer", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitData:
    """Close the connection after `limit_bytes`."""

    name: ClassVar[str] = "limit_data"
    limit_bytes: int = field(default=512, metadata=means("bytes that pass", low=0))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {"bytes": self.limit_bytes}
        return toxic(target, "limit_data", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowClose:
    """Delay the end of the connection by `delay_ms`."""

    name: ClassVar[str] = "slow_close"
    delay_ms: int = field(default=1_000, metadata=means("delay, ms", low=0))
    toxicity: float = field(default=1.0, metadata=share("share of connections"))
    stream: Stream = field(default="downstream", metadata=means("direction: downstream are the answers"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        attributes = {"delay": self.delay_ms}
        return toxic(target, "slow_close", attributes, stream=self.stream, toxicity=self.toxicity, rng=rng)
