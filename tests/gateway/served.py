"""A gateway under test: the real application on a real loopback socket, in this process."""

import asyncio
import contextlib
import io
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import msgspec
import uvicorn
from upstream_stub import Upstream

from gateway.api_key import ApiKey
from gateway.attention.config import AttentionConfig
from gateway.clock import SystemClock
from gateway.config import Answers, Backend, Config, Manifests, Server, Telemetry
from gateway.connection_limits import ConnectionLimits
from gateway.deferred.config import Deferred
from gateway.memory.shared_config import SharedLedgerConfig
from gateway.policy import Policy, fitted
from gateway.runtime import Runtime
from gateway.serve import options_of
from gateway.telemetry import RequestLog
from gateway.watched_file import FileWatch
from gateway.wiring import build_runtime, open_session

TOKEN = "test-token"


@dataclass
class Answer:
    """What a client got."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def record(self) -> dict[str, Any]:
        return self.json["degradation"]

    @property
    def text(self) -> str:
        return self.json["choices"][0]["message"]["content"]

    @property
    def events(self) -> list[Any]:
        """The data lines of a stream; `[DONE]` as a string."""
        lines = [line[6:] for line in self.body.decode().splitlines() if line.startswith("data: ")]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]

    @property
    def streamed_text(self) -> str:
        return "".join(
            event["choices"][0]["delta"].get("content") or ""
            for event in self.events
            if event != "[DONE]" and event.get("choices")
        )

    @property
    def streamed_record(self) -> dict[str, Any]:
        return [event["degradation"] for event in self.events if event != "[DONE]" and "degradation" in event][-1]


@dataclass
class Gateway:
    """The gateway's address, and its inside."""

    url: str
    runtime: Runtime
    session: aiohttp.ClientSession

    async def chat(self, text: str = "What is the capital?", **fields: Any) -> Answer:
        body = {"messages": [{"role": "user", "content": text}], **fields}
        return await self.post("/v1/chat/completions", json.dumps(body).encode())

    async def post(self, path: str, body: bytes, **headers: str) -> Answer:
        return await self.request("POST", path, body, **headers)

    async def admin(self, method: str, path: str, body: Any = None) -> Answer:
        raw = b"" if body is None else json.dumps(body).encode()
        return await self.request(method, f"/admin/{path}", raw, Authorization=f"Bearer {TOKEN}")

    async def request(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        async with self.session.request(method, self.url + path, data=io.BytesIO(body), headers=headers) as response:
            return Answer(response.status, dict(response.headers), await response.read())

    async def raw(self, *parts: bytes, pause_s: float = 0.0) -> bytes:
        """Write the parts one by one and return all that comes back until the gateway closes."""
        host, port = self.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
                await SystemClock().sleep(pause_s)
            async with asyncio.timeout(20):
                return await reader.read()
        except ConnectionError:
            return b"reset"
        finally:
            writer.close()


def backend(upstream: Upstream | int, name: str, **fields: Any) -> Backend:
    port = upstream if isinstance(upstream, int) else upstream.port
    return Backend(**{"name": name, "url": f"http://127.0.0.1:{port}/v1", "model": f"{name}-model", **fields})


def policy_of(**tables: Any) -> Policy:
    """A policy from what a TOML file would hold, with limits that no stall of a busy machine reaches."""
    patient = {"default": {"connect_s": 30.0, "first_token_s": 30.0, "idle_s": 30.0, "total_s": 30.0}}
    return msgspec.convert({"limits": patient, "deadline": {"request_s": 60.0}, **tables}, Policy)


SHORT = {"default": {"connect_s": 30.0, "first_token_s": 0.3, "idle_s": 0.3, "total_s": 0.6}}  # for backends that hang


@asynccontextmanager
async def gateway(
    *backends: Backend,
    policy: Policy | None = None,
    policy_path: Path | None = None,
    manifests: Manifests | None = None,
    telemetry: Telemetry | None = None,
    deferred: Deferred | None = None,
    shared_ledger: SharedLedgerConfig | None = None,
    connections: ConnectionLimits | None = None,
    api_keys: tuple[ApiKey, ...] = (),
    answers: Answers | None = None,
    attention: AttentionConfig | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
    **server: Any,
) -> AsyncIterator[Gateway]:
    config = Config(
        backends=backends,
        server=Server(**{"admin_token": TOKEN, "tick_s": 0.05, **server}),
        manifests=manifests or Manifests(),
        telemetry=telemetry or Telemetry(),
        deferred=deferred or Deferred(),
        shared_ledger=shared_ledger or SharedLedgerConfig(),
        connections=connections or ConnectionLimits(),
        api_keys=api_keys,
        answers=answers or Answers(),
        attention=attention or AttentionConfig(),
    )
    with socket.socket(proto=socket.IPPROTO_TCP) as bound:  # without it asyncio leaves Nagle on: 40 ms per answer
        bound.bind(("127.0.0.1", 0))
        session = open_session()
        try:
            runtime = build_runtime(
                config,
                policy=fitted(policy or policy_of(), config, source="test"),
                policy_file=None if policy_path is None else FileWatch.before_reading(policy_path),
                session=session,
                clock=SystemClock(),
                log=RequestLog(io.StringIO()),
                environ=environ,
            )
        except BaseException:
            await session.close()
            raise
        uvicorn_server = QuietServer(options_of(runtime))
        task = asyncio.create_task(uvicorn_server.serve(sockets=[bound]))
        while not uvicorn_server.started:
            await SystemClock().sleep(0.002)  # until it listens
        try:
            async with aiohttp.ClientSession() as session:
                yield Gateway(f"http://127.0.0.1:{bound.getsockname()[1]}", runtime, session)
        finally:
            uvicorn_server.should_exit = True
            await task


class QuietServer(uvicorn.Server):
    """Leaves the test process's signals alone."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield
