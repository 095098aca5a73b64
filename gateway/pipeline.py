"""One request's way, top to bottom: plan the paths, try each once, answer, and say what was degraded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gateway.answers.completion import Completion, prepared
from gateway.answers.extract import extract
from gateway.answers.templates import template_for
from gateway.answers.validate import require_schema
from gateway.attempt import Served, attempt
from gateway.backends.backend import Backend
from gateway.backends.cascade import plan
from gateway.clock import Clock
from gateway.errors import BadRequest, ContextTooLong, UpstreamError
from gateway.record import Attempt, DegradationRecord, Reason
from gateway.relay import Sink, send_error, send_whole
from gateway.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
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
    clock: Clock
    default_max_tokens: int
    observe: Callable[[Attempt], None] = field(default=lambda _: None)

    async def answer(self, work: Work, sink: Sink | None) -> Reply:
        """Answer, come what may. Raises BadRequest where the client is to blame and nothing was sent yet."""
        if work.request.schema is not None:
            require_schema(work.request.schema)
        paths = plan(work.policy.paths, tuple(self.backends), level=work.level, asked=work.target)
        if not paths:
            work.note(Reason.HEALTH_LEVEL)
            return self._refuse(work)
        reply = await self._by_model(work, [self.backends[name] for name in paths if name in self.backends], sink)
        if reply is not None:
            return reply
        if work.overloaded() and work.policy.overload.action == "refuse":
            return self._refuse(work)
        return await self._without_model(work, [name for name in paths if name not in self.backends], sink)

    async def _by_model(self, work: Work, backends: list[Backend], sink: Sink | None) -> Reply | None:
        too_long: list[ContextTooLong] = []
        after_death: int | None = None
        for backend in backends:
            if work.deadline.left_s() <= work.policy.deadline.reserve_s:
                work.note(Reason.DEADLINE_EXCEEDED)
                break
            if after_death is not None:
                if after_death >= work.policy.paths.max_after_death:
                    break  # a request that kills what it meets must not meet them all
                after_death += 1
            try:
                served = await self._try(work, backend, sink)
            except BadRequest:
                if backend.name == work.target:
                    raise
                continue
            except UpstreamError as error:
                if sink is not None and sink.started:
                    return await self._broken(work, backend, sink, error)
                if isinstance(error.__cause__, ContextTooLong):
                    too_long.append(error.__cause__)
                after_death = 0 if error.died and after_death is None else after_death
                continue
            return await self._serve(work, backend, served, sink)
        if too_long and len(too_long) == len(work.attempts):
            raise too_long[0]
        return None

    async def _try(self, work: Work, backend: Backend, sink: Sink | None) -> Served:
        began_s = self.clock.now_s()
        try:
            served = await attempt(
                work, backend, sink=sink, clock=self.clock, default_max_tokens=self.default_max_tokens
            )
        except UpstreamError as error:
            if error.retry_after_s is not None:
                work.retry_after_s.append(error.retry_after_s)
            self._tell(work, backend, began_s, error)
            raise
        except BadRequest:
            self._tell(work, backend, began_s, UpstreamError("a 400", reason=Reason.BACKEND_ERROR))
            raise
        self._tell(work, backend, began_s, None)
        return served

    def _tell(self, work: Work, backend: Backend, began_s: float, error: UpstreamError | None) -> None:
        tried = self._attempt(backend, began_s, error)
        work.tried(tried)
        self.observe(tried)

    def _attempt(self, backend: Backend, began_s: float, error: UpstreamError | None) -> Attempt:
        return Attempt(
            path=backend.name,
            outcome="ok" if error is None else error.outcome,
            reason=None if error is None else error.reason,
            duration_ms=round((self.clock.now_s() - began_s) * 1000, 1),
        )

    async def _serve(self, work: Work, backend: Backend, served: Served, sink: Sink | None) -> Reply:
        record = work.by_model(backend.name, backend.config.model, served.loss)
        if sink is not None and served.relay is not None:
            await served.relay.finish(record, include_usage=work.request.include_usage)
        return Reply(status=200, record=record, completion=served.completion)

    async def _broken(self, work: Work, backend: Backend, sink: Sink, error: UpstreamError) -> Reply:
        """After the first token there is no other path: say in the stream that it failed."""
        record = work.without_model(backend.name, abstained=True)
        await send_error(sink, f"the answer above is not complete or not to be trusted: {error.reason}", record)
        return Reply(status=200, record=record)

    async def _without_model(self, work: Work, names: list[str], sink: Sink | None) -> Reply:
        for name in names:
            found = self._answer_of(name, work)
            if found is not None:
                completion, record = found
                if sink is not None:
                    await send_whole(sink, completion, record)
                return Reply(status=200, record=record, completion=completion)
        marks = work.policy.structured
        suggestion = marks.suggestion_zh if work.language == "zh" else marks.suggestion_en
        record = work.without_model("structured", abstained=True)
        return Reply(status=marks.status, record=record, suggestion=suggestion)

    def _answer_of(self, name: str, work: Work) -> tuple[Completion, DegradationRecord] | None:
        """The answer of a path without a model; None when it has none for this request."""
        if work.request.wants_json:
            return None
        if name == "extract":
            quoted = extract(work.request.messages, language=work.language, marks=work.policy.extract)
            if quoted is not None:
                abstained = work.policy.extract.counts_as == "abstention"
                return prepared(quoted, path=name), work.without_model(name, abstained=abstained)
        if name == "template":
            templates = work.policy.templates
            template = template_for(work.request.question, language=work.language, templates=templates)
            if template is not None:
                record = work.without_model(name, abstained=template.abstains)
                return prepared(template.text, path=name), record
        return None

    def _refuse(self, work: Work) -> Reply:
        record = work.without_model("refused", abstained=True)
        return Reply(status=429, record=record, retry_after_s=work.retry_after())
