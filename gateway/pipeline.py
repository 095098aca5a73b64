"""One request's way, top to bottom: plan the paths, try each once, answer, and say what was degraded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from gateway.answers.cache import Hit
from gateway.answers.completion import Completion
from gateway.answers.schema import SchemaChecks
from gateway.answers.unaided import Given, Unaided
from gateway.attempt import Served, attempt
from gateway.backends.backend import Backend
from gateway.backends.cascade import front_of, plan, with_first
from gateway.clock import Clock
from gateway.decision import Branch
from gateway.draining import stopping
from gateway.errors import BadRequest, Closed, ContextTooLong, UpstreamError
from gateway.policies.choice import from_fallback
from gateway.record import Attempt, DegradationRecord, Level, Reason
from gateway.relay import Sink, send_error, send_whole
from gateway.shape import Shaper
from gateway.turns import left_for_a_backend_s
from gateway.work import Work


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What to tell the client. `completion` is None for a structured body and for a refusal."""

    status: int
    record: DegradationRecord
    completion: Completion | None = None
    suggestion: str = ""
    retry_after_s: int | None = None


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """Holds what outlives a request; a request's own state is its Work."""

    backends: Mapping[str, Backend]
    unaided: Unaided
    clock: Clock
    shaper: Shaper
    schemas: SchemaChecks = field(default_factory=SchemaChecks)
    observe: Callable[[Attempt], None] = field(default=lambda _: None)

    async def answer(self, work: Work, sink: Sink | None) -> Reply:
        """Answer, come what may. Raises BadRequest where the client is to blame and nothing was sent yet."""
        if work.request.schema is not None:
            await self.schemas.require(work.request.schema)
        paths = self._probing(work, self._forced(work, self._planned(work)))
        if not paths:
            if Reason.DECISION not in work.reasons:
                work.note(Reason.POLICY if work.forced is not None else Reason.HEALTH_LEVEL)
            return self._refuse(work)
        front = front_of(paths, self.backends)
        reply = await self._prepared(work, front, sink, by_choice=True)
        if reply is None:
            reply = await self._by_model(work, [self.backends[name] for name in paths if name in self.backends], sink)
        if reply is not None:
            return reply
        if work.overloaded() and work.policy.overload.action == "refuse":
            return self._refuse(work)
        rest = [name for name in paths if name not in self.backends and name not in front]
        return await self._prepared(work, rest, sink) or self._structured(work)

    def _planned(self, work: Work) -> tuple[str, ...]:
        """The paths by level, as the decision tree changes them; the request says so only where it did."""
        order, names = work.policy.paths, tuple(self.backends)
        usual = plan(order, names, level=work.level, asked=work.target)
        paths = usual
        if work.branch is Branch.FULL_BREAK:
            paths = tuple(name for name in usual if name not in self.backends)
        elif work.branch is Branch.LIGHT_FALLBACK and work.level is Level.HEALTHY:
            paths = plan(order, names, level=Level.DEGRADED, asked=work.target)
        elif work.ranking and work.level is Level.HEALTHY:
            fittest = iter([name for name in work.ranking if name in usual])
            paths = tuple(next(fittest) if name in work.ranking else name for name in usual)
        if paths != usual:
            work.note(Reason.DECISION)
        return paths

    def _forced(self, work: Work, paths: tuple[str, ...]) -> tuple[str, ...]:
        """The paths that a manifest leaves; the request forgets a manifest that takes none away."""
        if work.forced is None:
            return paths
        left = from_fallback(paths, work.policy.paths.order, work.forced.spec.fallback, self.backends)
        if left == paths:
            work.forced = None
        else:
            work.note(Reason.POLICY)
        return left

    def _probing(self, work: Work, paths: tuple[str, ...]) -> tuple[str, ...]:
        """While degraded, a backend that only a request can find well again comes first: recovery is probed."""
        if work.level is not Level.DEGRADED or work.policy.breaker.background_probes:
            return paths
        due = [name for name in paths if name in self.backends and self.backends[name].wants_probe]
        return with_first(paths, self.backends, due) if due else paths

    async def _by_model(self, work: Work, backends: list[Backend], sink: Sink | None) -> Reply | None:
        too_long: list[ContextTooLong] = []
        died_at: int | None = None  # how many tries there had been when a backend died
        for backend in backends:
            if work.deadline.closing.over:
                work.note(Reason.DRAINING)
                break
            if left_for_a_backend_s(work) <= 0:
                work.note(Reason.DEADLINE_EXCEEDED)
                break
            if died_at is not None and _at_work(work.attempts[died_at:]) >= work.policy.paths.max_after_death:
                break  # a request that kills what it meets must not meet them all
            try:
                served = await self._try(work, backend, sink)
            except BadRequest:
                if backend.name == work.target:
                    raise
                continue
            except UpstreamError as error:
                if sink is not None and sink.shown is not None:
                    return await self._broken(work, backend, sink, sink.shown, error.reason)
                if isinstance(error.__cause__, ContextTooLong):
                    too_long.append(error.__cause__)
                died_at = len(work.attempts) if error.died and died_at is None else died_at
                continue
            return await self._serve(work, backend, served, sink)
        if too_long and len(too_long) == len(work.attempts):
            raise too_long[0]
        return None

    async def _try(self, work: Work, backend: Backend, sink: Sink | None) -> Served | Hit:
        """What the backend said; the earlier answer that the semantic gate gives instead."""
        began_s = work.own_s(self.clock.now_s())
        try:
            served = await attempt(
                work,
                backend,
                sink=sink,
                clock=self.clock,
                shaper=self.shaper,
                schemas=self.schemas,
            )
            record = work.by_model(backend.name, backend.config.model, served.loss)
            instead = await self._instead(work, record, served.completion, path=backend.name)
            if sink is not None and sink.shown is not None:
                instead = None  # what was shown is close to it, and two answers are none
        except UpstreamError as error:
            if error.retry_after_s is not None:
                work.retry_after_s.append(error.retry_after_s)
            self._tell(work, backend, began_s, error)
            raise
        except BadRequest:
            refusal = UpstreamError("a 400", reason=Reason.BACKEND_ERROR, outcome="refused", lasts=True)
            self._tell(work, backend, began_s, refusal)
            raise
        except ConnectionError:
            raise  # the client's
        except Exception:
            mistake = UpstreamError("a mistake of our own", reason=Reason.INTERNAL_ERROR, outcome="indeterminate")
            self._tell(work, backend, began_s, mistake)
            raise
        self._tell(work, backend, began_s, None)
        return served if instead is None else instead

    async def _instead(self, work: Work, record: DegradationRecord, completion: Completion, *, path: str) -> Hit | None:
        """What the semantic gate says; where the gateway's own time ends first, an unchecked answer is not given."""
        try:
            async with work.deadline.while_resting():
                return await self.unaided.gate.check(work, record, completion, path=path)
        except Closed:
            raise stopping(was_sent=True) from None

    def _tell(self, work: Work, backend: Backend, began_s: float, error: UpstreamError | None) -> None:
        took_s = work.own_s(self.clock.now_s()) - began_s
        tried = self._attempt(backend, took_s, error)
        work.tried(tried, lasts=error is not None and error.lasts)
        self.observe(tried)

    def _attempt(self, backend: Backend, took_s: float, error: UpstreamError | None) -> Attempt:
        return Attempt(
            path=backend.name,
            outcome="ok" if error is None else error.outcome,
            reason=None if error is None else error.reason,
            duration_ms=round(took_s * 1000, 1),
        )

    async def _serve(self, work: Work, backend: Backend, served: Served | Hit, sink: Sink | None) -> Reply:
        if isinstance(served, Hit):
            return await self._send(work, self.unaided.from_cache(work, served, (Reason.SEMANTIC_GATE,)), sink)
        record = work.by_model(backend.name, backend.config.model, served.loss)
        if sink is not None and served.relay is not None:
            await served.relay.finish(record, include_usage=work.request.include_usage)
        elif sink is not None:  # a backend that answers with JSON whatever it is asked
            await send_whole(sink, served.completion, record, include_usage=work.request.include_usage)
        self.unaided.kept.keep(work, record, served.completion, model=backend.config.model)
        return Reply(status=200, record=record, completion=served.completion)

    async def _broken(
        self, work: Work, backend: Backend, sink: Sink, shown: DegradationRecord, reason: Reason
    ) -> Reply:
        """After the first token there is no other path: say in the stream that it failed."""
        record = work.broken(shown, backend.name, backend.config.model, reason)
        message = f"the answer above is not complete or not to be trusted: {reason}"
        await send_error(sink, message, record, reason=reason)
        return Reply(status=200, record=record)

    async def _prepared(
        self, work: Work, names: Sequence[str], sink: Sink | None, *, by_choice: bool = False
    ) -> Reply | None:
        """The first of these paths without a model that has an answer."""
        for name in names:
            try:
                async with work.deadline.while_resting():
                    given = await self.unaided.answer(name, work, by_choice=by_choice)
            except Closed:
                work.note(Reason.DRAINING)
                continue
            if given is not None:
                return await self._send(work, given, sink)
        return None

    async def _send(self, work: Work, given: Given, sink: Sink | None) -> Reply:
        if sink is not None:
            await send_whole(sink, given.completion, given.record, include_usage=work.request.include_usage)
        return Reply(status=200, record=given.record, completion=given.completion)

    def _structured(self, work: Work) -> Reply:
        marks = work.policy.structured
        suggestion = marks.suggestion_zh if work.language == "zh" else marks.suggestion_en
        record = work.without_model("structured", abstained=True)
        return Reply(status=marks.status, record=record, suggestion=suggestion)

    def _refuse(self, work: Work) -> Reply:
        record = work.without_model("refused", abstained=True)
        return Reply(status=429, record=record, retry_after_s=work.retry_after())


def _at_work(attempts: Sequence[Attempt]) -> int:
    """How many of these backends may have worked on the request; one that refused it never met it."""
    return sum(one.outcome != "refused" for one in attempts)
