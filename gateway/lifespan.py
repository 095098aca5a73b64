"""What starts with the server and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from gateway.deferred.store import JobStore
from gateway.deferred.worker import Worker
from gateway.restarting import restarted
from gateway.runtime import Runtime
from gateway.supervise import supervise


@asynccontextmanager
async def lifespan(runtime: Runtime, store: JobStore | None) -> AsyncIterator[None]:
    """Supervision, the workers of asynchronous requests, and the reading model, for as long as the block lasts."""

    def begun(name: str, begin: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
        return asyncio.create_task(restarted(begin, name=name, clock=runtime.clock, tell=runtime.tell))

    tasks = [begun("the supervision", lambda: supervise(runtime))]
    if store is not None:
        config = runtime.config.deferred
        workers = [Worker(runtime, store, config) for _ in range(config.workers)]
        tasks += [begun("the work on asynchronous requests", worker.run) for worker in workers]
    if runtime.otlp_metrics is not None:
        tasks.append(begun("sending metrics by OTLP", runtime.otlp_metrics.run))
    if runtime.attention is not None:
        runtime.attention.start()
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if store is not None:
            await asyncio.to_thread(store.settle)
        await _closed(runtime)


async def _closed(runtime: Runtime) -> None:
    if runtime.attention is not None:
        runtime.attention.close()
    runtime.pipeline.shaper.cutters.close()
    await asyncio.to_thread(runtime.pipeline.schemas.processes.close)
    await runtime.pipeline.unaided.close()
    await runtime.pipeline.unaided.kept.save()
    if runtime.tracing is not None:
        await asyncio.to_thread(runtime.tracing.close)
    if runtime.otlp_metrics is not None:
        await runtime.otlp_metrics.close()
    if runtime.redis is not None:
        shared = [backend.shared for backend in runtime.backends.values() if backend.shared is not None]
        await asyncio.gather(*(one.close() for one in shared))
        await runtime.redis.aclose()
    for backend in runtime.backends.values():
        backend.client.origin.close()
    await runtime.session.close()
    runtime.log.flush()
