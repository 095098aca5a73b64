"""One chat completion over a plain socket, with all that can be seen of it: bytes, when they came, how it ended."""

import asyncio
import json
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from faults.fault import Sleeper

READ_BYTES = 2**16


class Ending(StrEnum):
    """How the server ended it."""

    CLOSED = "closed"
    BROKEN = "broken"  # reset, or never accepted
    SILENT = "silent"  # nothing more within the limit


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back; times are seconds since the request was sent."""

    pieces: tuple[tuple[float, bytes], ...]  # when each came
    ended_s: float
    ending: Ending
    streaming: bool = False

    @cached_property
    def raw(self) -> bytes:
        return b"".join(data for _, data in self.pieces)

    @property
    def head(self) -> str:
        return self.raw.partition(b"\r\n\r\n")[0].decode("latin-1")

    @property
    def status(self) -> int | None:
        words = self.head.split(maxsplit=2)
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else None

    def header(self, name: str) -> str | None:
        for line in self.head.splitlines()[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None

    @cached_property
    def chunks(self) -> list[bytes]:
        """The body as it was sent: by HTTP chunks, else one."""
        body = self.raw.partition(b"\r\n\r\n")[2]
        if self.header("transfer-encoding") != "chunked":
            return [body]
        found = []
        while body:
            size, _, rest = body.partition(b"\r\n")
            length = int(size, 16) if size else 0
            if not length:
                break
            found.append(rest[:length])
            body = rest[length + 2 :]
        return found

    @cached_property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @cached_property
    def events(self) -> list[Any]:
        """The JSON of a stream's events, "[DONE]" as that word; what is no JSON is left out."""
        lines = [line[5:].strip() for line in self.body.splitlines() if line.startswith(b"data:")]
        return [found for line in lines if (found := "[DONE]" if line == b"[DONE]" else read_json(line)) is not None]

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The body of a JSON answer; empty: it is none."""
        value = read_json(self.body)
        return value if isinstance(value, dict) else {}

    @property
    def choices(self) -> list[Any]:
        """The first choice of the answer, or of each event."""
        bodies = self.events if self.streaming else [self.answer]
        return [body["choices"][0] for body in bodies if isinstance(body, dict) and body.get("choices")]

    @cached_property
    def text(self) -> str:
        parts = [(choice.get("delta") or choice.get("message") or {}).get("content") for choice in self.choices]
        return "".join(part for part in parts if part)

    @property
    def whole(self) -> bool:
        """A whole answer: 200, text, and a finish reason."""
        return self.status == 200 and bool(self.text) and any(choice.get("finish_reason") for choice in self.choices)


def read_json(data: bytes) -> Any:
    """None: it is none."""
    try:
        return json.loads(data)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One chat request."""

    prompt: str
    stream: bool = False
    max_tokens: int = 100
    json_object: bool = False  # ask for JSON

    def request(self, host: str, *, model: str, trial: str) -> bytes:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": self.prompt}],
            "stream": self.stream,
            "max_tokens": self.max_tokens,
            **({"response_format": {"type": "json_object"}} if self.json_object else {}),
        }
        data = json.dumps(body, ensure_ascii=False).encode()
        head = [
            "POST /v1/chat/completions HTTP/1.1",
            f"Host: {host}",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
            f"x-truefall-trial: {trial}",
            "Connection: close",
        ]
        return "\r\n".join([*head, "", ""]).encode() + data


async def ask(address: str, request: bytes, *, streaming: bool, limit_s: float, clock: Sleeper) -> Reply:
    """Send `request` to "host:port" and read until the end, or until `limit_s` are over."""
    seen = _Seen(clock=clock, started_s=clock.now_s())
    try:
        async with asyncio.timeout(limit_s):
            await seen.exchange(address, request)
        ending = Ending.CLOSED
    except TimeoutError:
        ending = Ending.SILENT
    except OSError:
        ending = Ending.BROKEN
    return Reply(pieces=tuple(seen.pieces), ended_s=seen.now_s(), ending=ending, streaming=streaming)


@dataclass(slots=True, kw_only=True)
class _Seen:
    clock: Sleeper
    started_s: float
    pieces: list[tuple[float, bytes]] = field(default_factory=list)

    def now_s(self) -> float:
        return self.clock.now_s() - self.started_s

    async def exchange(self, address: str, request: bytes) -> None:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(request)
            while data := await reader.read(READ_BYTES):
                self.pieces.append((self.now_s(), data))
        finally:
            writer.close()
