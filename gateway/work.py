"""What one request has been through so far, and the degradation record that tells of it."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from gateway.answers.language import language_of
from gateway.clock import Clock
from gateway.decision import Branch
from gateway.draining import STEP_SHARE, Closing, Within
from gateway.policies.caller import NOBODY, Caller
from gateway.policies.manifest import DegradationPolicy
from gateway.policy import Language, Policy
from gateway.record import HEALTHY, Attempt, CacheUse, DegradationRecord, Dropped, Level, Reason
from gateway.request import ChatRequest, text_of

NOTED = frozenset({"rules", "classifier", "cache", "extract", "template"})  # paths whose answers carry a notice
LACKS_NOTHING = frozenset({"refused", "cache"})
OVERLOADED = frozenset({Reason.QUEUE_FULL, Reason.BACKPRESSURE})


class Deadline(msgspec.Struct, frozen=True, kw_only=True):
    """When the client must have its answer; `closing` may end the time for backends earlier."""

    ends_s: float
    clock: Clock
    closing: Closing = msgspec.field(default_factory=Closing)

    def left_s(self) -> float:
        """Seconds left, 0 when there are none."""
        return max(0.0, self.ends_s - self.clock.now_s())

    def while_open(self) -> Within:
        """A block that raises Closed where the gateway's own time ends before it."""
        return self.closing.within()

    def while_resting(self) -> Within:
        """The same for a step that is no backend's: it has a share of what is left after that end."""
        return self.closing.within(STEP_SHARE)


class Loss(msgspec.Struct, kw_only=True):
    """What one attempt took from the request before it sent it."""

    prompt_tokens: int = 0
    characters: int = 0  # of the prompt, in their ASCII form now
    tokenizer: bool = False  # it cannot be believed
    max_tokens: int = 0
    compressed_tokens: int = 0  # of the prompt, said again with fewer
    validation: bool = False
    backend_degraded: bool = False  # by its own record
    launch: bool = False  # the backend runs in a degraded launch

    def reasons(self) -> list[Reason]:
        found = []
        if self.prompt_tokens:
            found.append(Reason.PROMPT_TRUNCATED)
        if self.compressed_tokens:
            found.append(Reason.PROMPT_COMPRESSED)
        if self.tokenizer:
            found.append(Reason.TOKENIZER_DEGRADED)
        if self.max_tokens:
            found.append(Reason.MAX_TOKENS_REDUCED)
        if self.validation:
            found.append(Reason.VALIDATION_SLOW)
        if self.launch:
            found.append(Reason.DEGRADED_LAUNCH)
        if self.backend_degraded:
            found.append(Reason.BACKEND_DEGRADED)
        return found

    @property
    def kind(self) -> str:
        """Which notice tells of it."""
        if self.launch or self.backend_degraded:
            return "launch"
        shortened = self.prompt_tokens or self.max_tokens or self.compressed_tokens
        if shortened:
            return "shortened"
        return "estimated" if self.tokenizer else "unchecked" if self.validation else "shortened"

    def dropped(self) -> Dropped:
        return _or_nothing(
            Dropped(
                prompt_tokens=self.prompt_tokens,
                compressed_tokens=self.compressed_tokens,
                characters=self.characters,
                max_tokens=self.max_tokens,
                validation=self.validation,
            )
        )


class Work(msgspec.Struct, kw_only=True):
    """One request on its way. `target` is the backend that a healthy gateway would ask."""

    request: ChatRequest
    policy: Policy
    level: Level
    target: str
    deadline: Deadline
    began_s: float
    model_requested: str | None
    attempts: list[Attempt] = msgspec.field(default_factory=list)
    lasting: set[str] = msgspec.field(default_factory=set)  # paths that would refuse it in the same way again
    reasons: list[Reason] = msgspec.field(default_factory=list)
    retry_after_s: list[float] = msgspec.field(default_factory=list)
    loss: Loss = msgspec.field(default_factory=Loss)  # of the call that was sent last
    tenant: str = ""  # who asks, as a digest; answers are never shared between two
    review: str | None = None  # an answer of this request that waits for a person
    forward: Mapping[str, str] = msgspec.field(
        default_factory=lambda: MappingProxyType({})
    )  # headers of the client's that backends are sent
    caller: Caller = NOBODY  # as manifests see it; empty while there are none
    branch: Branch = Branch.ANSWER  # of the decision tree
    ranking: tuple[str, ...] = ()  # backends, the fittest first; () where the policy does not rank
    forced: DegradationPolicy | None = None  # the manifest that decides where the paths begin
    client_s: float = 0.0  # how long its client did not read

    def own_s(self, now_s: float) -> float:
        """The time on a clock that stands still while the client does not read: what the gateway itself takes."""
        return now_s - self.client_s

    def client_waited(self, waited_s: float) -> None:
        """The client let a part of its answer wait for so long."""
        self.client_s += waited_s

    @property
    def language(self) -> Language:
        """The language to answer in: of the question, or else of the newest message that has one."""
        texts = [text_of(message) for message in reversed(self.request.messages)]
        return language_of([self.request.question, *texts])

    @property
    def forced_by(self) -> str | None:
        """The manifest that took paths away from this request; None when none did."""
        return self.forced.name if self.forced is not None and Reason.POLICY in self.reasons else None

    def note(self, reason: Reason) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)

    def tried(self, attempt: Attempt, *, lasts: bool = False) -> None:
        """Keep one attempt, and why it failed; `lasts`: the next would fail in the same way."""
        self.attempts.append(attempt)
        if lasts:
            self.lasting.add(attempt.path)
        if attempt.reason is not None:
            self.note(attempt.reason)

    def overloaded(self) -> bool:
        """Whether every backend refused before it ran anything, and at least one only for want of room."""
        refused = all(attempt.outcome == "refused" for attempt in self.attempts)
        return refused and any(reason in OVERLOADED for reason in self.reasons)

    def retry_after(self) -> int:
        """Whole seconds, at least 1: the soonest that any backend named."""
        return max(1, math.ceil(min(self.retry_after_s, default=1.0)))

    def by_model(self, path: str, model: str, loss: Loss) -> DegradationRecord:
        """The record of an answer that backend `path` gave."""
        reasons = _merged(self.reasons, loss.reasons())
        if path == self.target and not reasons:
            return HEALTHY
        chosen = self.forced_by or Reason.DECISION in self.reasons
        if path != self.target and not chosen and all(one.path != self.target for one in self.attempts):
            reasons = _merged([Reason.HEALTH_LEVEL], reasons)  # the level's order, not a failure, led here
        kind = "backend" if path != self.target else loss.kind
        told = path != self.target or bool(loss.reasons())
        level = self.level if self.level is not Level.HEALTHY else Level.DEGRADED
        return DegradationRecord(
            level=level,
            path=path,
            reasons=tuple(reasons),
            model_requested=self.model_requested,
            model_served=model,
            attempts=tuple(self.attempts),
            dropped=loss.dropped(),
            review=self.review,
            policy=self.forced_by,
            notice=self._notice(kind, model) if told else None,
        )

    def without_model(
        self,
        path: str,
        *,
        abstained: bool,
        extra: Sequence[Reason] = (),
        cache: CacheUse | None = None,
        model: str | None = None,
    ) -> DegradationRecord:
        """The record of an answer that no model gave now; critical, unless the policy's order put the path first.

        `model` is the one that gave an earlier answer. A refusal is no answer, so it lacks nothing; an earlier one was
        held to the same schema.
        """
        reasons = _merged(self.reasons, extra) or [Reason.HEALTH_LEVEL]
        kind = path if path in NOTED else None
        request = self.request
        lost = Dropped(tools=request.has_tools, response_schema=request.response_format != "text")
        by_choice = reasons == [Reason.POLICY] and self.level is not Level.CRITICAL
        return DegradationRecord(
            level=Level.DEGRADED if by_choice else Level.CRITICAL,
            path=path,
            reasons=tuple(reasons),
            model_requested=self.model_requested,
            model_served=model,
            attempts=tuple(self.attempts),
            dropped=HEALTHY.dropped if path in LACKS_NOTHING else _or_nothing(lost),
            abstained=abstained,
            cache=cache,
            review=self.review,
            policy=self.forced_by,
            notice=self._notice(kind, model or path, cache) if kind else None,
        )

    def broken(self, shown: DegradationRecord, path: str, model: str, reason: Reason) -> DegradationRecord:
        """The record of a stream of backend `path` that failed after its first token; `shown` is how it began.

        It says all that `shown` said, in that order, what the call lost, and `reason`.
        """
        self.note(reason)
        record = self.by_model(path, model, self.loss)
        reasons = tuple(_merged(shown.reasons, record.reasons))
        return msgspec.structs.replace(record, level=Level.CRITICAL, reasons=reasons, abstained=True)

    def _notice(self, kind: str, model: str, cache: CacheUse | None = None) -> str:
        text: str = getattr(self.policy.notices, f"{kind}_{self.language}")
        if cache is not None:
            text = text.replace("{age}", _age(cache.age_s, self.language))
            text = text.replace("{similarity}", f"{max(0.0, cache.similarity):.0%}")
        return text.replace("{model}", model)


def _age(age_s: float, language: Language) -> str:
    """An age for people, in one unit."""
    for size_s, english, chinese in ((3600, "h", "小时"), (60, "min", "分钟")):
        if age_s >= size_s:
            return f"{int(age_s // size_s)} {chinese if language == 'zh' else english}"
    return f"{int(age_s)} {'秒' if language == 'zh' else 's'}"


def _merged(first: Sequence[Reason], second: Sequence[Reason]) -> list[Reason]:
    return list(dict.fromkeys((*first, *second)))


def _or_nothing(dropped: Dropped) -> Dropped:
    """The record's own default where nothing was dropped: only that one is left out of the JSON."""
    return HEALTHY.dropped if dropped == HEALTHY.dropped else dropped
