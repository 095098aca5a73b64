"""The answer cache in the gateway: what is kept of the requests that pass, and what is found when a model failed."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from gateway.answers import cache_file
from gateway.answers.cache import AnswerCache, Entry, Found, Hit, Outcome, Place, hashed_place
from gateway.answers.cache_key import Asked, asked_of
from gateway.answers.completion import Completion
from gateway.answers.embedding import HASHED, embed
from gateway.answers.endpoint import EmbeddingEndpoint
from gateway.answers.grounding import distrust
from gateway.answers.intents import Intents, Match
from gateway.answers.time_budget import TimeBudget
from gateway.answers.wording import FINGERPRINT, lexicon_of
from gateway.errors import ConfigError
from gateway.policy import Policy
from gateway.record import HEALTHY, DegradationRecord, Level
from gateway.request import text_of
from gateway.work import Work

_LOOP_CHARS = 4_096  # of prompt and answer; longer ones are compared in a thread
Log = Callable[[str, str], None]  # (event, detail)


class KeptAnswers:
    """The shell around `AnswerCache`: keys, embeddings, intents, and the file."""

    def __init__(
        self,
        cache: AnswerCache,
        *,
        endpoint: EmbeddingEndpoint | None,
        intents: Intents | None,
        file: Path | None,
        now_unix_s: Callable[[], float],
        log: Log,
        now_s: Callable[[], float],
        work_s: Callable[[], float] = time.thread_time,
        passed_over: Callable[[], None],
    ) -> None:
        """`passed_over` counts an answer that there was no time to keep."""
        self._budget = TimeBudget(now_s, work_s)
        self._passed_over = passed_over
        self.cache = cache
        self._endpoint = endpoint
        self._intents = intents
        self._file = file
        self._now_unix_s = now_unix_s
        self._log = log
        self._saved_changes = 0
        self._running: set[asyncio.Task[None]] = set()

    async def find(self, work: Work) -> Hit | None:
        """The earlier answer to this question, if there is one that may be given."""
        return (await self.look_up(work)).hit

    async def look_up(self, work: Work) -> Found:
        """The same, with what came of it."""
        asked = self._asked(work)
        if asked is None:
            return Found(Outcome.BYPASS)
        marks = work.policy.cache
        return self.cache.look_up(
            asked.key,
            places=await self._places(asked),
            max_age_s=marks.max_age_s,
            min_similarity=marks.min_similarity,
        )

    def keep(self, work: Work, record: DegradationRecord, completion: Completion, *, model: str) -> None:
        """Keep the answer if it is whole, undegraded and valid, and the policy has the path "cache".

        Where the gateway is so busy that this would take more than `cache.keep_share` of its time, it is passed over.
        """
        if "cache" not in work.policy.paths.order or not is_whole(work, record, completion):
            return
        if not self._budget.begin(work.policy.cache.keep_share):
            self._passed_over()
            return
        try:
            self._keep(work, completion, model)
        finally:
            self._budget.end()

    def _keep(self, work: Work, completion: Completion, model: str) -> None:
        if len(completion.text) + sum(len(text_of(message)) for message in work.request.messages) > _LOOP_CHARS:
            self._later(self._keep_long(work, completion, model))
        elif doubt_of(work, completion) is None:
            self._store(work, completion.text, model)

    async def _keep_long(self, work: Work, completion: Completion, model: str) -> None:
        """Long texts are compared off the event loop."""
        if await asyncio.to_thread(doubt_of, work, completion) is None:
            self._store(work, completion.text, model)

    def _store(self, work: Work, text: str, model: str) -> None:
        asked = self._asked(work)
        if asked is None:
            return
        if self._endpoint is None:
            self._put(work, asked, (hashed_place(asked.vector),), text, model)
        else:
            self._later(self._keep_embedded(work, asked, text, model))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    @property
    def has_intents(self) -> bool:
        return self._intents is not None

    async def places_of(self, text: str) -> tuple[Place, ...]:
        """Where a question lies: by hashing, and by the endpoint when it answers in time."""
        return await self._places(Asked(key="", text=text, vector=embed(text)))

    def intent_of(self, places: tuple[Place, ...]) -> Match | None:
        """The intent of a question, in the space that the intent file was made in."""
        return self._match(places)

    async def save(self) -> None:
        """Write the file if anything changed; a failure is logged and leaves the old file."""
        if self._file is None or self.cache.changes == self._saved_changes:
            return
        changes, entries = self.cache.changes, list(self.cache)
        try:
            await asyncio.to_thread(cache_file.save, self._file, entries, space=HASHED, wording=FINGERPRINT)
        except OSError as error:
            self._log("cache_not_saved", f"{self._file}: {error.strerror or error}")
        self._saved_changes = changes

    def load(self, *, max_entries: int, max_bytes: int) -> None:
        """Read the file; one of another kind is refused with a line in the log, and the cache starts empty."""
        if self._file is None or not self._file.exists():
            return
        try:
            entries = cache_file.load(self._file, space=HASHED, wording=FINGERPRINT)
        except (ConfigError, OSError) as error:
            self._log("cache_refused", f"{error}; starting empty")
            return
        for entry in entries:
            self.cache.put(entry, max_entries=max_entries, max_bytes=max_bytes)
        self._saved_changes = self.cache.changes

    def follow(self, policy: Policy) -> None:
        """Hold no more than a policy that comes into force lets it; without a path "cache" nothing, nor in the file."""
        marks = policy.cache
        bound = marks.max_entries if "cache" in policy.paths.order else 0
        self.cache.shrink(max_entries=bound, max_bytes=marks.max_bytes)

    async def _keep_embedded(self, work: Work, asked: Asked, text: str, model: str) -> None:
        self._put(work, asked, await self._places(asked), text, model)

    def _put(self, work: Work, asked: Asked, places: tuple[Place, ...], text: str, model: str) -> None:
        match = self._match(places)
        entry = Entry(
            key=asked.key,
            text=text,
            model=model,
            stored_unix_s=self._now_unix_s(),
            places=places,
            intent=match.intent.id if match else None,
        )
        marks = work.policy.cache
        self.cache.put(entry, max_entries=marks.max_entries, max_bytes=marks.max_bytes)

    def _asked(self, work: Work) -> Asked | None:
        marks = work.policy.cache
        return asked_of(
            work.request,
            tenant=work.tenant,
            target=work.target,
            language=work.language,
            lexicon=lexicon_of(marks.synonyms),
            ignored_metadata=marks.ignored_metadata,
            forward=work.forward,
        )

    async def _places(self, asked: Asked) -> tuple[Place, ...]:
        """Where the question lies: always by hashing, and by the endpoint when it answers in time."""
        own = hashed_place(asked.vector)
        if self._endpoint is None:
            return (own,)
        vector = await self._endpoint.embed(asked.text)
        return (own,) if vector is None else (own, Place(space=self._endpoint.space, vector=vector))

    def _match(self, places: tuple[Place, ...]) -> Match | None:
        if self._intents is None:
            return None
        place = next((place for place in places if place.space == self._intents.space), None)
        return self._intents.match(place.vector) if place else None


def is_whole(work: Work, record: DegradationRecord, completion: Completion) -> bool:
    """Only whole, undegraded answers in words are kept."""
    whole = completion.finish_reason == "stop" and completion.text.strip() != "" and not completion.bad_lines
    if not whole or completion.calls_tools or completion.refusal:
        return False
    return record == HEALTHY and work.level is Level.HEALTHY


def doubt_of(work: Work, completion: Completion) -> str | None:
    """What speaks against keeping the answer; None where nothing does."""
    return distrust(
        completion.text,
        messages=work.request.messages,
        finish_reason=completion.finish_reason,
        is_json=work.request.response_format != "text",
        marks=work.policy.grounding,
    )
