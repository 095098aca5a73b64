"""What is written in one go of the event loop leaves in one piece: each write to a socket costs as much as a check."""

import asyncio
from collections.abc import Callable
from typing import Any

_AT_ONCE_BYTES = 65_536  # so much is not held back for a moment


class Gathered(asyncio.Transport):
    """Stands in for a client's transport. Order is kept, and closing sends what waits."""

    def __init__(self, transport: asyncio.Transport, call_soon: Callable[[Callable[[], None]], Any]) -> None:
        super().__init__()
        self._transport = transport
        self._call_soon = call_soon
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def write(self, data: Any) -> None:
        if not self._waiting:
            self._call_soon(self.flush)
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes > _AT_ONCE_BYTES:
            self.flush()

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        self._waiting = []
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def flush(self) -> None:
        """Send now what waits: for who lets the transport below close by itself."""
        waiting, self._waiting = self._waiting, []
        self._waiting_bytes = 0
        if waiting and not self._transport.is_closing():
            self._transport.write(waiting[0] if len(waiting) == 1 else b"".join(waiting))
