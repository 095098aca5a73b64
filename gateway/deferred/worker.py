"""Works off the accepted requests, one after the other, through the same pipeline as every other request."""

import asyncio
from contextlib import suppress
from typing import NamedTuple

from gateway.deferred.again import Again, is_answer
from gateway.deferred.config import Deferred
from gateway.deferred.exposed import AsyncEvent
from gateway.deferred.job import Claimed, StoreError
from gateway.deferred.store import JobStore
from gateway.errors import BadRequest
from gateway.outcome import outcome
from gateway.pipeline import Reply
from gateway.policies.caller import Caller
from gateway.request import parse
from gateway.runtime import Runtime
from gateway.tally import Tally
from gateway.telemetry import Event
from gateway.wire import encode, error_body, reply_body, structured_body
from gateway.work import Deadline, Work

_IDLE_S = 0.2
_LONGEST_PAUSE_S = 10.0
_TIDY_S = 60.0
_REFUSED = 429


class Ended(NamedTuple):
    """What its owner fetches; `answered` is False for an error or an abstention."""

    status: int
    body: bytes
    answered: bool


class Worker:
    """`run` until cancelled; a job that it is at then goes back into the queue."""

    def __init__(self, runtime: Runtime, store: JobStore, config: Deferred) -> None:
        self._runtime = runtime
        self._store = store
        self._config = config
        self._tally = Tally(runtime)
        self._tidied_s = -_TIDY_S
        self._pause_s = _IDLE_S
        self._unsaved = False

    async def run(self) -> None:
        while True:
            try:
                await self._tidy()
                claimed = await asyncio.to_thread(self._store.claim, lease_s=self._config.lease_s)
                self._tell()
                self._pause_s = _IDLE_S
                if claimed is not None:
                    await self._do(claimed)
                    continue
            except StoreError as error:  # such as a full disk, which a line of the log for each try would keep full
                self._runtime.log.write(Event(event="async_unavailable", detail=str(error)))
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
            await self._runtime.clock.sleep(self._pause_s)

    def _tell(self) -> None:
        """Once when answers begin to wait for the file, and once when it has taken them."""
        unsaved = self._store.unsaved
        if bool(unsaved) != self._unsaved:
            self._unsaved = bool(unsaved)
            detail = "the answers given meanwhile are lost if this gateway ends first" if unsaved else ""
            self._runtime.log.write(Event(event="async_unsaved" if unsaved else "async_saved", detail=detail))

    async def _tidy(self) -> None:
        now_s = self._runtime.clock.now_s()
        if now_s - self._tidied_s >= _TIDY_S:
            self._tidied_s = now_s
            await asyncio.to_thread(self._store.tidy)

    async def _do(self, claimed: Claimed) -> None:
        renewing = asyncio.create_task(self._renew(claimed.id))
        try:
            ended = await self._answer(claimed)
        except BaseException as error:
            if isinstance(error, StoreError) or not isinstance(error, Exception):  # else it counts as one of its tries
                with suppress(StoreError):
                    self._store.give_back(claimed.id)  # at once: the loop may be about to end
            raise
        finally:
            renewing.cancel()
        await asyncio.to_thread(self._store.finish, claimed.id, status=ended.status, answer=ended.body)
        self._runtime.metrics.asynchronous.count(AsyncEvent.FINISHED if ended.answered else AsyncEvent.FAILED)

    async def _renew(self, identity: str) -> None:
        while True:
            await self._runtime.clock.sleep(self._config.lease_s / 3)
            with suppress(StoreError):
                await asyncio.to_thread(self._store.renew, identity, lease_s=self._config.lease_s)

    async def _answer(self, claimed: Claimed) -> Ended:
        """Status and body, as the client would have got them at once, in a span that goes on with the request's."""
        tracing = self._runtime.tracing
        if tracing is None:
            return await self._ended(claimed)
        tracing.begin([(name.encode(), value.encode()) for name, value in claimed.asked.trace.items()], deferred=True)
        try:
            return await self._ended(claimed)
        finally:
            tracing.abandon()

    async def _ended(self, claimed: Claimed) -> Ended:
        """What may pass is tried again until the end."""
        runtime, again = self._runtime, Again()
        ends_s = runtime.clock.now_s() + self._config.deadline_s
        try:
            while True:
                work = self._work(claimed, ends_s)
                reply = await outcome(runtime, work, None)
                pause_s = again.pause_s(reply, lasting=work.lasting)
                if pause_s is None or runtime.clock.now_s() + pause_s >= ends_s:
                    break
                await runtime.clock.sleep(pause_s)
                if not await self._is_wanted(claimed):
                    break
        except BadRequest as error:
            if runtime.tracing is not None:
                runtime.tracing.refused(error)
            return Ended(error.status, encode(error_body(error)), answered=False)
        self._tally.replied(work, reply)
        return _whole(work, reply)

    async def _is_wanted(self, claimed: Claimed) -> bool:
        """Whether its owner has not deleted it meanwhile."""
        try:
            return await asyncio.to_thread(self._store.find, claimed.id, tenant=claimed.tenant) is not None
        except StoreError:
            return True

    def _work(self, claimed: Claimed, ends_s: float) -> Work:
        runtime, asked = self._runtime, claimed.asked
        request = parse(encode(asked.body), max_tokens_bound=runtime.config.server.max_tokens_bound)
        work = runtime.work(request)
        work.deadline = Deadline(ends_s=ends_s, clock=runtime.clock)
        work.tenant, work.forward = claimed.tenant, asked.forward
        if runtime.manifests.current.manifests:
            caller = work.caller = Caller(*asked.caller)
            work.forced = runtime.manifests.choose(service=caller.service, endpoint=caller.endpoint, key=caller.key)
        return work


def _whole(work: Work, reply: Reply) -> Ended:
    """A refusal that outlasted the deadline is no 429 for someone who only polls."""
    if reply.status == _REFUSED:
        structured = work.policy.structured
        suggestion = structured.suggestion_zh if work.language == "zh" else structured.suggestion_en
        reply = Reply(status=structured.status, record=reply.record, suggestion=suggestion)
        return Ended(reply.status, encode(structured_body(reply)), answered=False)
    return Ended(reply.status, encode(reply_body(reply)), answered=is_answer(reply))
