"""The semantic gate in the gateway: compare a degraded answer with what it stands for, and act on the decision."""

import asyncio
from collections.abc import Callable

from gateway.answers.cache import Hit
from gateway.answers.completion import Completion
from gateway.answers.embedding import embed, similarity
from gateway.answers.endpoint import EmbeddingEndpoint
from gateway.answers.kept import KeptAnswers, Log
from gateway.answers.semantic_gate import Decision, Task, closest_passage, decide, entropy_of, task_of
from gateway.attention.probe import AttentionProbe
from gateway.errors import Blame, UpstreamError
from gateway.record import HEALTHY, DegradationRecord, Reason
from gateway.review import Held, ReviewError, ReviewQueue
from gateway.work import Work


class OutgoingGate:
    """Holds the queue of answers that wait for a person, where there is one."""

    def __init__(
        self,
        kept: KeptAnswers,
        *,
        endpoint: EmbeddingEndpoint | None,
        queue: ReviewQueue | None,
        lost: Callable[[], None],
        log: Log,
        attention: AttentionProbe | None = None,
    ) -> None:
        self._kept = kept
        self._endpoint = endpoint
        self._queue = queue
        self._lost = lost
        self._log = log
        self._attention = attention

    async def check(self, work: Work, record: DegradationRecord, completion: Completion, *, path: str) -> Hit | None:
        """Let a degraded answer pass; the earlier answer to give instead, where that was decided.

        Raises UpstreamError when the next path has to answer, after the answer was queued for a person if need be.
        """
        marks = work.policy.semantic_gate
        if marks.apply == "never" or record == HEALTHY or completion.calls_tools or completion.refusal:
            return None
        hit = await self._kept.find(work)
        stands_for = hit.entry.text if hit else closest_passage(work.request.messages, work.policy.extract)
        delta = await self._delta(completion.text, stands_for) if stands_for else None
        entropy, task = await self._entropy(work, completion.text, stands_for), task_of(work.request)
        decision = decide(task, delta=delta, entropy=entropy, marks=marks)
        if decision is Decision.REVIEW:
            held = Held(
                path=path,
                task=task.value,
                delta=delta,
                entropy=entropy,
                question=work.request.question,
                answer=completion.text,
                stands_for=stands_for,
            )
            await self._queue_up(work, held)
        if decision in (Decision.PASS, Decision.CACHE):
            return hit if decision is Decision.CACHE else None
        raise _stopped(task, delta, entropy)

    async def _delta(self, answer: str, stands_for: str) -> float:
        """1 − similarity, in [0, 2]."""
        if self._endpoint is not None:
            first, second = await asyncio.gather(self._endpoint.embed(answer), self._endpoint.embed(stands_for))
            if first is not None and second is not None:
                return 1 - similarity(first, second)
        return 1 - similarity(embed(answer), embed(stands_for))

    async def _entropy(self, work: Work, answer: str, stands_for: str | None) -> float:
        """Of the attention while the answer is read after what it stands for; else of its words."""
        focus = None
        if self._attention is not None:
            focus = await self._attention.focus(stands_for or work.request.question, answer)
        if focus is None:
            return entropy_of(answer)
        return 0.0 if focus.concentration >= work.policy.semantic_gate.concentration else focus.entropy

    async def _queue_up(self, work: Work, held: Held) -> None:
        """A full disk or a broken file loses the entry, never the request: counted and logged."""
        if self._queue is None:
            self._lost()
            self._log("review_lost", "no answers.review_db in the config")
            return
        try:
            work.review = await asyncio.to_thread(self._queue.put, held)
        except (ReviewError, OSError) as error:
            self._lost()
            self._log("review_lost", str(error))


def _stopped(task: Task, delta: float | None, entropy: float) -> UpstreamError:
    told = "nothing to compare with" if delta is None else f"difference {delta:.2f}"
    text = f"{task} stopped by the semantic gate: {told}, entropy {entropy:.2f}"
    return UpstreamError(text, reason=Reason.SEMANTIC_GATE, blame=Blame.NEUTRAL)
