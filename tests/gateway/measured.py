"""A backend whose memory a test decides: a cgroup's own files, and an engine that holds its answer until it is told."""

import asyncio
import json
from pathlib import Path
from typing import Any

from upstream_stub import chunk, says

from gateway.memory.config import CacheShape, Memory

BYTE_PER_TOKEN = CacheShape(layers=1, kv_heads=1, head_dim=1, dtype="int4")  # a key and a value, of half a byte each
GOOD = "Paris is the capital of France."


class Cgroup:
    """A folder as the kernel keeps one."""

    def __init__(self, folder: Path, *, limit_bytes: int = 1000) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        (folder / "memory.max").write_text(f"{limit_bytes}\n")
        (folder / "memory.stat").write_text("inactive_file 0\n")
        self.use(0)

    def use(self, used_bytes: int) -> None:
        (self.folder / "memory.current").write_text(f"{used_bytes}\n")

    def die(self) -> None:
        (self.folder / "memory.current").unlink()

    def memory(self, **fields: Any) -> Memory:
        figures = {"kv_capacity_bytes": 1000, "margin_bytes": 100, "shape": BYTE_PER_TOKEN, **fields}
        return Memory(probe="cgroup", cgroup=self.folder, **figures)


class Engine:
    """Answers at once, but a request whose text begins with `slow` in three steps, each when the test says so."""

    def __init__(self) -> None:
        self.begins, self.goes_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
        if not body["messages"][-1]["content"].startswith("slow"):
            await says(GOOD)(writer, body)
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        await self._send(writer, chunk(role="assistant", content=""))
        await self.begins.wait()
        await self._send(writer, chunk("Paris"))
        await self.goes_on.wait()
        await self._send(writer, chunk("."), chunk(finish="stop"), "[DONE]")
        writer.close()

    async def _send(self, writer: asyncio.StreamWriter, *events: Any) -> None:
        for event in events:
            writer.write(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode())
        await writer.drain()


def asking(served: Any, bytes_: int, text: str) -> dict[str, Any]:
    """A request that takes just so many bytes of KV cache; `text` is its prompt."""
    counter = served.runtime.backends["primary"].counter
    prompt = counter.count_messages([{"role": "user", "content": text}])
    return {"text": text, "max_tokens": bytes_ - prompt}
