"""The reading model in a thread of its own: bounded in time, one text at once, given up when it keeps failing."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from enum import StrEnum
from typing import NamedTuple, Protocol

from prometheus_client import CollectorRegistry, Counter

from gateway.attention.boundaries import drops_between
from gateway.attention.config import AttentionConfig
from gateway.attention.model import Reading, Side, open_model

Tell = Callable[[str, str], None]


class Reader(Protocol):
    """What the probe needs of the model."""

    def read(self, text: str, *, keep: Side = "start") -> Reading: ...


class State(StrEnum):
    """Where the probe stands."""

    LOADING = "loading"
    READY = "ready"
    OFF = "off"  # it could not be loaded, or failed too often; words are counted instead


class Focus(NamedTuple):
    """How an answer's tokens are attended from, on average: `entropy` in nats, `concentration` in [0, 1]."""

    entropy: float
    concentration: float


class AttentionProbe:
    """Everything returns None, and the caller goes on without it, while the probe is loading, busy, late or failing."""

    def __init__(
        self,
        config: AttentionConfig,
        *,
        tell: Tell,
        registry: CollectorRegistry,
        opened: Callable[[AttentionConfig], Reader] = open_model,
    ) -> None:
        self._config = config
        self._tell = tell
        self._opened = opened
        self._readings = Counter(
            "truefall_attention_readings",
            "Texts that the reading model was asked to read",
            ("outcome",),
            registry=registry,
        )
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="attention")
        self._busy = threading.Lock()
        self._failed = 0
        self._reader: Reader | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.state = State.LOADING

    def start(self) -> None:
        """Load the model, beside everything else. Called once, on the event loop that the log belongs to."""
        self._loop = asyncio.get_running_loop()
        self._thread.submit(self._load)

    def close(self) -> None:
        """What is being read is not waited for."""
        self.state = State.OFF
        self._thread.shutdown(wait=False, cancel_futures=True)

    def drops(self, pieces: Sequence[str]) -> list[float | None] | None:
        """See `Boundaries`; not on the event loop, because it waits."""
        asked = self._ask("".join(pieces), keep="start")
        if asked is None:
            return None
        try:
            reading = asked.result(timeout=self._config.timeout_s)
        except (TimeoutError, CancelledError):
            self._went_wrong("late", f"no reading within {self._config.timeout_s:g} s")
            return None
        if reading is None:
            return None
        self._went_well()
        return drops_between(pieces, starts=reading.starts, entropies=reading.entropies)

    async def focus(self, context: str, answer: str) -> Focus | None:
        """How the tokens of `answer` look at each other and at `context`, which comes before it."""
        asked = self._ask(f"{context}\n{answer}", keep="end")
        if asked is None:
            return None
        reading = asyncio.wrap_future(asked)
        done, _ = await asyncio.wait({reading}, timeout=self._config.timeout_s)
        if not done or reading.cancelled():
            self._went_wrong("late", f"no reading within {self._config.timeout_s:g} s")
            return None
        found = reading.result()
        if found is None:
            return None
        self._went_well()
        own = [index for index, start in enumerate(found.starts) if start > len(context)]
        if not own:
            return None
        return Focus(_mean([found.entropies[i] for i in own]), _mean([found.tops[i] for i in own]))

    def _ask(self, text: str, *, keep: Side) -> "Future[Reading | None] | None":
        """None where nobody can read now."""
        if self.state is not State.READY or not self._busy.acquire(blocking=False):
            self._readings.labels("busy" if self.state is State.READY else self.state).inc()
            return None
        try:
            asked = self._thread.submit(self._read, text, keep)
        except RuntimeError:  # closed meanwhile
            self._busy.release()
            return None
        asked.add_done_callback(lambda _: self._busy.release())
        return asked

    def _read(self, text: str, keep: Side) -> Reading | None:
        """In the thread."""
        if self._reader is None:
            return None
        try:
            return self._reader.read(text, keep=keep)
        except Exception as error:  # torch and tokenizers raise whatever they like; it is logged and counted
            self._went_wrong("failed", f"{type(error).__name__}: {error}")
            return None

    def _load(self) -> None:
        """In the thread."""
        try:
            self._reader = self._opened(self._config)
        except Exception as error:  # any folder may be damaged in its own way; it is logged
            self._give_up(f"{self._config.model_dir}: {type(error).__name__}: {error}")
            return
        if self.state is State.LOADING:
            self.state = State.READY
            self._say("attention_ready", str(self._config.model_dir))

    def _went_well(self) -> None:
        self._readings.labels("read").inc()
        self._failed = 0

    def _went_wrong(self, outcome: str, detail: str) -> None:
        self._readings.labels(outcome).inc()
        self._failed += 1
        self._say("attention_failed", f"going on without it: {detail}")
        if self._failed >= self._config.failures:
            self._give_up(f"{self._failed} readings in a row failed, the last one: {detail}")

    def _give_up(self, detail: str) -> None:
        if self.state is not State.OFF:
            self.state = State.OFF
            self._say("attention_off", f"until a restart: {detail}")

    def _say(self, event: str, detail: str) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, event, detail)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
