"""Faults of meaning: tokens of prompts and answers that are lost, replaced, moved. The semantic proxy applies them.

`rate` is a share of tokens (or phrases, or sentences), `toxicity` a share of requests. What was touched is recorded.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Literal

from faults.errors import BadFault
from faults.fault import Firing, Sleeper, Target
from faults.parameter import check_bounds, means, share
from faults.semantic_client import semantic_fault

Unit = Literal["chunk", "word", "sentence"]  # a chunk is a token of the model


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokenDrop:
    """Drop tokens of the last user message."""

    name: ClassVar[str] = "token_drop_prompt"
    rate: float = field(default=0.15, metadata=share("share of tokens"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_drop", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTokenDrop:
    """Drop tokens of the answer, also in streams; usage stays what the backend said."""

    name: ClassVar[str] = "token_drop_answer"
    rate: float = field(default=0.15, metadata=share("share of tokens"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_drop", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSynonyms:
    """Replace words of the last user message by synonyms."""

    name: ClassVar[str] = "synonyms_prompt"
    rate: float = field(default=0.08, metadata=share("share of words; one without synonym passes it on"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_synonyms", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSynonyms:
    """Replace words of the answer by synonyms."""

    name: ClassVar[str] = "synonyms_answer"
    rate: float = field(default=0.08, metadata=share("share of words; one without synonym passes it on"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_synonyms", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blur:
    """Blur the instruction: weaken its verbs, weaken, move or drop its constraints; English and Chinese."""

    name: ClassVar[str] = "blur"
    rate: float = field(default=1.0, metadata=share("share of the phrases found that are weakened; 0: nothing at all"))
    moved: float = field(default=0.0, metadata=share("share of the sentences with a constraint that go to the end"))
    dropped: float = field(default=0.0, metadata=share("share of them that are lost; with `moved` at most 1"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.moved + self.dropped > 1:
            bound = f"at most {1 - self.moved:g}, as moved is {self.moved:g}"
            raise BadFault(f"blur: dropped is {self.dropped:g}, must be {bound}")

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_blur", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateAnswer:
    """Cut the answer silently: the finish reason still says it is whole."""

    name: ClassVar[str] = "truncate_answer"
    at: Unit = field(default="word", metadata=means("what is counted; a chunk is a token"))
    keep: int = field(default=12, metadata=means("units that are left", low=0, high=10**6))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_truncate", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReorder:
    """Swap neighbouring sentences of the last user message."""

    name: ClassVar[str] = "reorder_prompt"
    rate: float = field(default=0.5, metadata=share("share of sentence pairs"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_reorder", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReorder:
    """Swap neighbouring sentences of the answer."""

    name: ClassVar[str] = "reorder_answer"
    rate: float = field(default=0.5, metadata=share("share of sentence pairs"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_reorder", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDuplicate:
    """Say words of the last user message twice."""

    name: ClassVar[str] = "duplicate_prompt"
    rate: float = field(default=0.15, metadata=share("share of words"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_duplicate", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDuplicate:
    """Say words of the answer twice."""

    name: ClassVar[str] = "duplicate_answer"
    rate: float = field(default=0.15, metadata=share("share of words"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_duplicate", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLanguage:
    """Ask for an answer in the other language (English, Chinese)."""

    name: ClassVar[str] = "language_prompt"
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_language", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLanguage:
    """Put common words of the answer into the other language (English, Chinese)."""

    name: ClassVar[str] = "language_answer"
    rate: float = field(default=0.5, metadata=share("share of words; one without translation passes it on"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_language", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMojibake:
    """Garble words of the last user message by a wrong character set."""

    name: ClassVar[str] = "mojibake_prompt"
    rate: float = field(default=0.3, metadata=share("share of words"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "prompt_mojibake", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMojibake:
    """Garble words of the answer by a wrong character set."""

    name: ClassVar[str] = "mojibake_answer"
    rate: float = field(default=0.3, metadata=share("share of words"))
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_mojibake", self, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleAnswer:
    """Give the answer of an earlier request; the first request has none to get."""

    name: ClassVar[str] = "stale_answer"
    toxicity: float = field(default=1.0, metadata=share("share of requests"))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:  # noqa: ARG002
        return semantic_fault(target, "answer_stale", self, rng)
