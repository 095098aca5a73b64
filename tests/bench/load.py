"""A closed-loop load generator: so many connections, each sends its next request when its answer is whole."""

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Load:
    """`latencies_s` sorted; `cpu_s` of the process under test."""

    latencies_s: list[float]
    wall_s: float
    cpu_s: float

    @property
    def per_s(self) -> float:
        return len(self.latencies_s) / self.wall_s

    @property
    def cpu_ms(self) -> float:
        """Per request; a process that was not seen working has worked for less than the tick that counts."""
        return max(self.cpu_s, 1 / _TICKS_PER_S) * 1000 / len(self.latencies_s)

    def quantile_ms(self, share: float) -> float:
        return self.latencies_s[min(len(self.latencies_s) - 1, int(share * len(self.latencies_s)))] * 1000


class _Connection(asyncio.Protocol):
    def __init__(
        self, requests: Iterator[bytes], ends_s: float, latencies_s: list[float], done: asyncio.Future[None]
    ) -> None:
        self._requests = requests
        self._ends_s = ends_s
        self._latencies_s = latencies_s
        self._done = done
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._send()

    def _send(self) -> None:
        self._buffer = b""
        self._began_s = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not _is_whole(self._buffer):
            return
        now_s = time.perf_counter()
        self._latencies_s.append(now_s - self._began_s)
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            self._fail(AssertionError(self._buffer[:300]))
        elif now_s < self._ends_s:
            self._send()
        else:
            self._transport.close()
            if not self._done.done():
                self._done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._fail(exc or ConnectionError("closed before its answer was whole"))

    def _fail(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)


def _is_whole(buffer: bytes) -> bool:
    head, found, body = buffer.partition(b"\r\n\r\n")
    if not found:
        return False
    at = head.lower().find(b"content-length:")
    if at < 0:
        return body.endswith(b"0\r\n\r\n")
    return len(body) >= int(head[at + 15 :].split(b"\r\n", 1)[0])


async def load(port: int, pid: int, bodies: Sequence[bytes], *, connections: int, seconds: float) -> Load:
    """Send the bodies in turn. Raises AssertionError on an answer that is no 200, ConnectionError when one is cut."""
    loop = asyncio.get_running_loop()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n"
    requests = cycle([head % len(body) + body for body in bodies])
    latencies_s: list[float] = []
    before_s, began_s = cpu_s(pid), time.perf_counter()
    waiting = []
    for _ in range(connections):
        done: asyncio.Future[None] = loop.create_future()
        waiting.append(done)
        await loop.create_connection(
            lambda done=done: _Connection(requests, began_s + seconds, latencies_s, done), "127.0.0.1", port
        )
    await asyncio.gather(*waiting)
    wall_s = time.perf_counter() - began_s
    return Load(latencies_s=sorted(latencies_s), wall_s=wall_s, cpu_s=cpu_s(pid) - before_s)


def cpu_s(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def rss_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
