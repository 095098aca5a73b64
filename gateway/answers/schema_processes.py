"""A few processes for schemas, so that one client's slow schema does not take the others' turn."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from gateway.answers.schema_process import Job, SchemaProcess, Unjudged, Verdict

_PROCESSES = 4


class SchemaProcesses:
    """Each is started when all before it are busy; who comes first is served first."""

    def __init__(self, count: int = _PROCESSES) -> None:
        self._all = [SchemaProcess() for _ in range(count)]
        self._free = self._all[::-1]
        self._turns = asyncio.Semaphore(count)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="schema")  # never the threads of plain schemas

    async def ask(self, job: Job, *, within_s: float) -> Verdict | Unjudged:
        """The job waits for its turn for at most `within_s`, and may take as long again itself."""
        try:
            async with asyncio.timeout(within_s):
                await self._turns.acquire()
        except TimeoutError:
            return Unjudged.BUSY
        process = self._free.pop()
        asked = partial(process.ask, job, within_s=within_s)
        answer = asyncio.get_running_loop().run_in_executor(self._threads, asked)
        answer.add_done_callback(lambda _: self._give_back(process))
        return await asyncio.shield(answer)  # a request that ends early leaves the process busy, and not yet free

    def close(self) -> None:
        """End them; blocks until what they are at is done."""
        for process in self._all:
            process.close()
        self._threads.shutdown(wait=False)

    def _give_back(self, process: SchemaProcess) -> None:
        self._free.append(process)
        self._turns.release()
