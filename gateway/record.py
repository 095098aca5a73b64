"""The one degradation record: what an answer lost on its way, the same for JSON, stream and headers."""

from enum import StrEnum
from typing import Literal

import msgspec


class Level(StrEnum):
    """How degraded an answer, or the whole gateway, is."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    CRITICAL = "critical"


class Reason(StrEnum):
    """Why an answer is degraded; a closed list, so that dashboards can count them."""

    PROMPT_TRUNCATED = "prompt_truncated"
    PROMPT_COMPRESSED = "prompt_compressed"
    TOKENIZER_DEGRADED = "tokenizer_degraded"  # it loses text: counted by estimate, sent in ASCII where it has to be
    MAX_TOKENS_REDUCED = "max_tokens_reduced"
    CONTEXT_TOO_LONG = "context_too_long"
    MEMORY_FULL = "memory_full"  # the guard or the ledger did not admit the request
    OUT_OF_MEMORY = "out_of_memory"  # the backend itself ran out
    KERNEL_FAILURE = "kernel_failure"  # a kernel of the backend, such as attention's, failed
    RESTARTING = "restarting"  # the watchdog is starting the backend
    DEGRADED_LAUNCH = "degraded_launch"  # the backend runs, in another configuration than the usual one
    BREAKER_OPEN = "breaker_open"
    TIMEOUT = "timeout"
    CONNECTION_FAILED = "connection_failed"
    BACKEND_ERROR = "backend_error"  # 5xx
    BACKPRESSURE = "backpressure"  # 429, or 503 with Retry-After
    BACKEND_DEGRADED = "backend_degraded"  # the backend is a gateway itself, and says that it degraded its answer
    INVALID_OUTPUT = "invalid_output"  # 200, and not an answer
    STREAM_CUT = "stream_cut"
    TOKENS_MISMATCH = "tokens_mismatch"  # the backend's own token counts say that the text was altered on its way
    UNGROUNDED = "ungrounded"  # the answer claims what its prompt does not hold
    SCHEMA_VIOLATED = "schema_violated"
    TOOLS_VIOLATED = "tools_violated"  # it calls a tool that nobody offered, or none where one had to be called
    VALIDATION_SLOW = "validation_slow"  # only required fields were looked for, or the content was not
    HEALTH_LEVEL = "health_level"  # the gateway's level asked for it
    DEADLINE_EXCEEDED = "deadline_exceeded"
    QUEUE_FULL = "queue_full"
    DRAINING = "draining"
    SEMANTIC_GATE = "semantic_gate"  # too far from what it stands for
    POLICY = "policy"
    ASYNC_LOST = "async_lost"  # the gateway stopped while it worked on it
    DECISION = "decision"  # the decision tree: the target was doing badly
    INTERNAL_ERROR = "internal_error"  # a mistake of the gateway's own; its log has the traceback


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try at one path."""

    path: str
    outcome: Literal["ok", "refused", "failed", "indeterminate"]
    reason: Reason | None = None
    duration_ms: float = 0.0


class Dropped(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the answer had to do without."""

    prompt_tokens: int = 0  # cut from the prompt
    compressed_tokens: int = 0  # taken out of it by compression: repeats, implied constraints, examples
    characters: int = 0  # of the prompt, replaced by their ASCII form
    max_tokens: int = 0
    tools: bool = False
    response_schema: bool = msgspec.field(name="schema", default=False)
    validation: bool = False


class CacheUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which earlier answer was given: how old it is, and how alike the two questions are, in [-1, 1]."""

    age_s: float
    similarity: float
    intent: str | None = None


class DegradationRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The field `degradation` of every answer. A healthy answer carries its level and nothing else.

    `path` names the fallback that served: a backend's name, or one of the paths without a model
    (`rules`, `classifier`, `cache`, `extract`, `template`, `structured`, `refused`).
    """

    level: Level = msgspec.field()
    path: str | None = None
    reasons: tuple[Reason, ...] = ()
    model_requested: str | None = None
    model_served: str | None = None
    attempts: tuple[Attempt, ...] = ()
    dropped: Dropped = Dropped()
    abstained: bool = False  # the answer says that it is not one
    cache: CacheUse | None = None
    review: str | None = None  # where an answer that was held back waits for a person
    policy: str | None = None  # the DegradationPolicy manifest that forced the fallback
    notice: str | None = None

    @property
    def model_named(self) -> str | None:
        """What the answer's `model` has to say; None where the backend's own word stands, as it is what was meant."""
        return None if self.level is Level.HEALTHY else self.model_served


HEALTHY = DegradationRecord(level=Level.HEALTHY)
