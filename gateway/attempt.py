"""One try at one backend: breaker, prompt, queue, memory, call, and every check that the answer has to pass."""

import asyncio

import msgspec

from gateway.admission import Room, marking, reserved, streams
from gateway.answers.completion import Completion
from gateway.answers.grounding import distrust
from gateway.answers.schema import SchemaChecks
from gateway.answers.token_accounting import blame_for, sees_answer, sees_prompt
from gateway.answers.validate import completion_of, invalid, tokens_agree
from gateway.backends.backend import Backend
from gateway.backends.breaker import Permit
from gateway.backends.client import Call
from gateway.backends.collect import Collector
from gateway.backends.lane import Slot
from gateway.clock import Clock
from gateway.draining import stopping
from gateway.errors import Blame, Closed, ContextTooLong, MemoryFull, NeverFits, QueueFull, UpstreamError
from gateway.record import DegradationRecord, Reason
from gateway.relay import Relay, Sink
from gateway.request import text_of
from gateway.shape import Shaped, Shaper
from gateway.turns import left_for_a_backend_s, longest_wait_s, refused, too_late
from gateway.work import Loss, Work

_BY_THE_MODEL = (  # why a gateway behind this one may abstain though its backends are well
    *(Reason.INVALID_OUTPUT, Reason.SCHEMA_VIOLATED, Reason.TOOLS_VIOLATED, Reason.UNGROUNDED, Reason.SEMANTIC_GATE),
    *(Reason.CONTEXT_TOO_LONG, Reason.PROMPT_TRUNCATED, Reason.PROMPT_COMPRESSED),
)
_LOOP_CHARS = 4_096  # of prompt and answer; longer ones are compared in a thread


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A whole, trusted answer; of a stream that was shown, all but its end. No `relay`: nothing was shown."""

    completion: Completion
    loss: Loss
    relay: Relay | None


async def attempt(
    work: Work, backend: Backend, *, sink: Sink | None, clock: Clock, shaper: Shaper, schemas: SchemaChecks
) -> Served:
    """Try once. Raises UpstreamError, whatever the obstacle; BadRequest when the backend blames the client."""
    _require_not_away(backend, clock.now_s())
    _require_up(backend)
    permit = backend.breaker.acquire()
    if permit is None:
        left_s = backend.breaker.opens_again_in_s()
        raise refused(f"{backend.name} is left alone", Reason.BREAKER_OPEN, retry_after_s=left_s)
    loss_before = work.loss
    try:
        async with work.deadline.while_open():
            served = await _admitted(work, backend, permit, sink=sink, clock=clock, shaper=shaper, schemas=schemas)
    except Closed:
        was_sent = work.loss is not loss_before
        raise stopping(was_sent=was_sent) from None
    except UpstreamError as error:
        if error.blame is Blame.BACKPRESSURE:
            most_s = work.policy.overload.max_retry_after_s
            backend.leave_alone(error.retry_after_s, now_s=clock.now_s(), most_s=most_s)
        if backend.keeper is not None:
            backend.keeper.failed(error.reason)
        permit.failed(_blame(error, work))
        raise
    finally:
        permit.cancelled()  # counts only where nothing was settled: a client gone, a BadRequest, a gateway that stops
    if backend.keeper is not None:
        backend.keeper.answered()
    return served


async def _admitted(
    work: Work,
    backend: Backend,
    permit: Permit,
    *,
    sink: Sink | None,
    clock: Clock,
    shaper: Shaper,
    schemas: SchemaChecks,
) -> Served:
    """Hold a slot and the memory while the call runs; both are given back exactly once, however it ends."""
    slot: Slot | None = None
    room: Room | None = None
    try:
        backend.lane.require_open(timeout_s=longest_wait_s(work))  # before a prompt is cut for nothing
        shaped = await shaper.shape(work, backend)
        slot = await backend.lane.acquire(timeout_s=longest_wait_s(work))
        if backend.ledger is not None:
            shaped, room = await reserved(work, backend, shaped, shaper)
        shaped.loss.launch = backend.keeper is not None and backend.keeper.degraded
        began_s = work.own_s(clock.now_s())
        completion, relay = await _call(work, backend, shaped, sink, room)
        completion.body.setdefault("model", backend.config.model)
        _heed(completion, shaped.loss)
        took_s = work.own_s(clock.now_s()) - began_s
        await _check(work, backend, shaped, completion, schemas)
        permit.succeeded(took_s)
        return Served(completion=completion, loss=shaped.loss, relay=relay)
    except QueueFull as error:
        raise refused(str(error), Reason.QUEUE_FULL, retry_after_s=error.retry_after_s) from None
    except (MemoryFull, NeverFits) as error:
        raise refused(str(error), Reason.MEMORY_FULL) from None
    except ContextTooLong as error:
        raise refused(str(error), Reason.CONTEXT_TOO_LONG) from error
    finally:
        if room is not None:
            room.reservation.release()
        if slot is not None:
            slot.release(but_s=work.client_s)


async def _call(
    work: Work, backend: Backend, shaped: Shaped, sink: Sink | None, room: Room | None
) -> tuple[Completion, Relay | None]:
    limits = work.policy.limits_of(backend.name)
    left_s = left_for_a_backend_s(work)
    if left_s <= 0:
        raise too_late()
    collects = sink is None and streams(backend, room)
    body = backend.outgoing(
        work.request.body,
        messages=shaped.messages,
        max_tokens=shaped.max_tokens,
        stream=sink is not None or collects,
        degraded=work.level != "healthy",
    )
    work.loss = shaped.loss
    call = Call(
        body=body,
        limits=limits,
        total_s=limits.total_s,
        left_s=left_s,
        max_bytes=work.policy.validation.max_answer_bytes,
        headers=work.forward,
    )
    if collects:
        collector = Collector()
        reader = await backend.client.stream(call, take=marking(backend, shaped, room, collector.take))
        return collector.completion(reader) if reader.whole is None else completion_of(reader.whole, sent=body), None
    if sink is None:
        return await backend.client.complete(call), None
    relay = Relay(
        sink,
        held=_holds(work, backend, shaped.loss),
        preview=lambda: _preview(work, backend, shaped.loss),
        keys=backend.secrets.in_answers,
        offer=work.request.offer if work.policy.validation.tools else None,
    )
    reader = await backend.client.stream(call, take=marking(backend, shaped, room, relay.take))
    if reader.whole is not None:
        return completion_of(reader.whole, sent=body), None
    return relay.completion(reader), relay


def _heed(completion: Completion, loss: Loss) -> None:
    """A gateway behind this one: its abstention is no answer, and what it degraded is not healthy here."""
    if completion.own_record is None:
        return
    if completion.own_record.get("abstained"):
        reasons = completion.own_record.get("reasons")
        by_model = isinstance(reasons, list) and reasons != [] and all(reason in _BY_THE_MODEL for reason in reasons)
        raise UpstreamError(
            "the backend itself says that this is no answer",
            reason=Reason.BACKEND_DEGRADED,
            blame=Blame.NEUTRAL if by_model else Blame.FAILURE,
        )
    loss.backend_degraded = True


def _preview(work: Work, backend: Backend, loss: Loss) -> DegradationRecord:
    return work.by_model(backend.name, backend.config.model, loss)


async def _check(work: Work, backend: Backend, shaped: Shaped, completion: Completion, schemas: SchemaChecks) -> None:
    """What a whole answer still has to pass. Raises UpstreamError."""
    backend.secrets.require_none_in(completion.text)
    await _check_counts(work, backend, shaped, completion)
    if work.policy.validation.tools:
        work.request.offer.check(completion.called, refusal=completion.refusal)
    if completion.calls_tools or completion.refusal:
        return
    if work.policy.validation.response_schema:
        request = work.request
        try:
            whole = await schemas.check(completion.text, response_format=request.response_format, schema=request.schema)
        except UpstreamError as error:
            error.blame = Blame.NEUTRAL  # a weak model, not a sick backend
            raise
        shaped.loss.validation = not whole
    apply = work.policy.grounding.apply
    if apply == "always" or (apply == "degraded" and _is_degraded(work, backend, shaped.loss)):
        try:
            doubt = await _doubt(work, completion, within_s=min(schemas.budget_s, work.deadline.left_s()))
        except TimeoutError:
            shaped.loss.validation = True  # the answer is there, and says that nobody looked at what it holds
            return
        if doubt is not None:
            raise UpstreamError(doubt, reason=Reason.UNGROUNDED, blame=Blame.NEUTRAL)


async def _doubt(work: Work, completion: Completion, *, within_s: float) -> str | None:
    """Why not to trust the answer; long texts are compared off the event loop. Raises TimeoutError after `within_s`."""

    def judge() -> str | None:
        return distrust(
            completion.text,
            messages=work.request.messages,
            finish_reason=completion.finish_reason,
            is_json=work.request.response_format != "text",
            marks=work.policy.grounding,
        )

    if len(completion.text) + sum(len(text_of(message)) for message in work.request.messages) <= _LOOP_CHARS:
        return judge()
    async with asyncio.timeout(within_s):
        return await asyncio.to_thread(judge)


async def _check_counts(work: Work, backend: Backend, shaped: Shaped, completion: Completion) -> None:
    """The backend's own token counts against ours; they also vouch for a stream with unreadable lines."""
    marks, body = work.policy.accounting, work.request.body
    plain = not completion.calls_tools and not completion.refusal and not work.request.has_tools
    judged = marks.enabled and backend.counts_exactly and plain
    agrees = tokens_agree(completion.prompt_tokens, shaped.prompt_tokens, marks=marks)
    if judged and not agrees and sees_prompt(body, shaped.messages):
        what = f"{completion.prompt_tokens} prompt tokens told, {shaped.prompt_tokens} sent"
        raise UpstreamError(what, reason=Reason.TOKENS_MISMATCH)
    vouched = judged and sees_answer(body) and not completion.holds_unseen
    if vouched:
        counted = await _counted(work, backend, completion.text)
        if not tokens_agree(completion.said_tokens, counted, marks=marks):
            what = f"{completion.said_tokens} answer tokens told, {counted} received"
            raise UpstreamError(what, reason=Reason.TOKENS_MISMATCH, blame=blame_for(body))
    if completion.bad_lines and not (vouched and completion.completion_tokens is not None):
        raise invalid(f"{completion.bad_lines} unreadable lines in the stream")


async def _counted(work: Work, backend: Backend, text: str) -> int:
    """The answer's tokens; of a long one off the event loop, which 100,000 characters would stop for 0.1 s.

    Raises UpstreamError where that cannot be done within the deadline.
    """
    if len(text) <= _LOOP_CHARS:
        return backend.counter.count_text(text)
    try:
        async with asyncio.timeout(work.deadline.left_s()):
            return await asyncio.to_thread(backend.counter.count_text, text)
    except TimeoutError:
        why = "the answer's tokens could not be counted in time"
        raise UpstreamError(why, reason=Reason.DEADLINE_EXCEEDED, blame=Blame.NEUTRAL) from None


def _blame(error: UpstreamError, work: Work) -> Blame:
    """What the backend's breaker is told."""
    if error.blame is Blame.UNLESS_ASKED:
        return Blame.NEUTRAL if work.request.excuses_little else Blame.FAILURE
    return error.blame


def _is_degraded(work: Work, backend: Backend, loss: Loss) -> bool:
    return backend.name != work.target or work.level != "healthy" or bool(loss.reasons())


def _holds(work: Work, backend: Backend, loss: Loss) -> bool:
    mode = work.policy.paths.stream_failover
    return mode == "hold_all" or (mode == "hold" and _is_degraded(work, backend, loss))


def _require_not_away(backend: Backend, now_s: float) -> None:
    if backend.away_until_s > now_s:
        left_s = backend.asked_until_s - now_s
        raise refused(f"{backend.name} asked for less", Reason.BACKPRESSURE, retry_after_s=left_s)


def _require_up(backend: Backend) -> None:
    if backend.keeper is not None and not backend.keeper.up:
        raise refused(f"{backend.name} is being started", Reason.RESTARTING)
