"""One backend as the gateway holds it: its client, breaker, queue, tokenizer and memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from gateway import config as configured
from gateway.attention.boundaries import Boundaries
from gateway.backends.breaker import Breaker, State
from gateway.backends.client import Client
from gateway.backends.failures import TOKENS_FIELDS
from gateway.backends.lane import Lane
from gateway.backends.probing import Pace
from gateway.backends.process_probe import follow
from gateway.clock import Clock
from gateway.damaged import DAMAGED, why
from gateway.environ_key import key_from
from gateway.errors import ConfigError
from gateway.masking import Secrets
from gateway.memory.device_probes import CudaProbe, VllmProbe
from gateway.memory.estimate import KvShape, kv_peak_bytes
from gateway.memory.guard import Guard, Margin
from gateway.memory.leases import Leases
from gateway.memory.ledger import Ledger
from gateway.memory.probes import CgroupProbe, Probe
from gateway.memory.shared import SharedLedger
from gateway.memory.shared_config import SharedLedgerConfig
from gateway.policy import Policy
from gateway.prompt.tokens import CharCounter, Counter, TokenCounter
from gateway.prompt.watched import WatchedCounter
from gateway.standing import Standing
from gateway.watchdog.keeper import Keeper, http_probe

_NOT_NAMED_S = 1.0  # how long to leave a backend alone that wants less and does not say until when
_MOST_KV_BYTES = 4_096  # remembered at a time
_OR_SHAPE = "name the folder of a whole model in model_dir, or set [backends.memory.shape]"


@dataclass(slots=True, kw_only=True)
class Backend:
    """Everything that belongs to one backend. `ledger`, `guard` and `shape` are None where not configured."""

    name: str
    config: configured.Backend
    client: Client
    breaker: Breaker
    lane: Lane
    counter: Counter
    knows_template: bool  # the counter has the model's own tokenizer and chat template
    shape: KvShape | None
    ledger: Ledger | None
    shared: SharedLedger | None  # where promises are made when other gateways share the ledger
    guard: Guard | None
    probe: Probe | None
    boundaries: Boundaries | None = None  # who says where a prompt may best be cut; blocks, so not on the event loop
    keeper: Keeper | None = None  # the watchdog, where the gateway runs the backend itself
    secrets: Secrets = field(default_factory=Secrets)  # that no answer may quote
    standing: Standing = field(default_factory=Standing)
    pace: Pace = field(default_factory=Pace)  # of the gateway's own probes
    away_until_s: float = field(default=0.0)  # it is left alone until then
    asked_until_s: float = field(default=0.0)  # it asked to be left alone until then, which may be longer
    _kv_bytes: dict[tuple[int, int], int] = field(default_factory=dict, init=False, repr=False)

    def kv_bytes(self, prompt_tokens: int, max_tokens: int) -> int:
        """Most bytes of KV cache that the request takes; 0 where the model's shape is unknown."""
        if self.shape is None:
            return 0
        key = prompt_tokens, max_tokens
        known = self._kv_bytes.get(key)
        if known is None:
            if len(self._kv_bytes) >= _MOST_KV_BYTES:
                self._kv_bytes = {}
            known = self._kv_bytes[key] = kv_peak_bytes(self.shape, prompt_tokens, max_tokens)
        return known

    def leave_alone(self, asked_s: float | None, *, now_s: float, most_s: float) -> None:
        """It asked to be left alone for `asked_s`; it is, but for no more than `most_s`.

        None: it named no time, so that it is for a second, or for as long as it asked before.
        """
        if asked_s is None:
            asked_s = max(_NOT_NAMED_S, self.asked_until_s - now_s)
        self.asked_until_s = now_s + asked_s
        self.away_until_s = min(self.asked_until_s, now_s + most_s)

    @property
    def tokenizer(self) -> WatchedCounter | None:
        """The model's own, while it cannot be believed; None while it can, and where there is none."""
        return self.counter if isinstance(self.counter, WatchedCounter) and self.counter.degraded else None

    @property
    def counts_exactly(self) -> bool:
        """Whether a prompt has as many tokens here as at the backend."""
        return self.knows_template and self.tokenizer is None

    @property
    def wants_probe(self) -> bool:
        """Whether the next request here tells if it is well again."""
        return self.breaker.wants_probe and (self.keeper is None or self.keeper.up)

    @property
    def is_out(self) -> bool:
        """Known to be unwell: its breaker is open. One that only a request can probe is not known to be, once due."""
        return self.breaker.keeps_away or (self.breaker.state is State.OPEN and not self.wants_probe)

    @property
    def promises(self) -> Ledger | SharedLedger | None:
        """Where memory is reserved."""
        return self.shared or self.ledger

    def outgoing(
        self, body: Mapping[str, Any], *, messages: list[Any], max_tokens: int, stream: bool, degraded: bool
    ) -> bytes:
        """The body to send: everything the client asked for, with the model, the prompt and the limits of this path."""
        sent = {**body, "model": self.config.model, "messages": messages}
        for name in TOKENS_FIELDS:
            sent.pop(name, None)
        sent[self.config.max_tokens_field] = max_tokens
        sent.pop("stream_options", None)
        if stream:
            sent["stream"] = True
        if stream and self.config.engine != "transformers":  # that engine always tells its usage
            sent["stream_options"] = {"include_usage": True}
        if degraded:
            sent.update(self.config.speculative_off)
        return msgspec.json.encode(sent)


def build(
    config: configured.Backend,
    *,
    session: aiohttp.ClientSession,
    policy: Callable[[], Policy],
    clock: Clock,
    environ: Mapping[str, str],
    tell: Callable[[str, str], None],
    leases: Callable[[str], Leases] | None = None,
    shared: SharedLedgerConfig | None = None,
    boundaries: Boundaries | None = None,
    secrets: Secrets | None = None,
    counters: dict[Path, TokenCounter] | None = None,
) -> Backend:
    """`counters`: those read so far, by model folder. Raises ConfigError where tokenizer, config or key are missing."""
    counter, knows_template = _counter(config, policy, tell, clock, {} if counters is None else counters)
    ledger, probe = _ledger(config, clock), _probe(config, clock)
    breaker = Breaker(lambda: policy().breaker, clock)
    return Backend(
        name=config.name,
        config=config,
        client=Client(
            name=config.name,
            url=config.url,
            api_key=key_of(config, environ),
            done_required=config.engine != "transformers",
            model=config.model,
            secrets=secrets or Secrets(),
            tell=tell,
        ),
        breaker=breaker,
        lane=Lane(max_concurrent=config.max_concurrent, max_queue=config.max_queue, clock=clock),
        counter=counter,
        knows_template=knows_template,
        secrets=secrets or Secrets(),
        shape=_shape(config),
        ledger=ledger,
        shared=SharedLedger(ledger, leases(config.name), shared, clock=clock, tell=tell)
        if ledger is not None and leases is not None and shared is not None
        else None,
        guard=_guard(config, probe, ledger, clock),
        probe=probe,
        boundaries=boundaries,
        keeper=_keeper(config, session=session, clock=clock, environ=environ, tell=tell, on_ready=breaker.hurry),
    )


def _keeper(
    config: configured.Backend,
    *,
    session: aiohttp.ClientSession,
    clock: Clock,
    environ: Mapping[str, str],
    tell: Callable[[str, str], None],
    on_ready: Callable[[], None],
) -> Keeper | None:
    if config.watchdog is None:
        return None
    return Keeper(
        config.watchdog,
        probe=http_probe(session, config.url, config.watchdog),
        clock=clock,
        environ=environ,
        tell=tell,
        on_ready=on_ready,
    )


def key_of(config: configured.Backend, environ: Mapping[str, str]) -> str | None:
    """The backend's API key. Raises ConfigError where its variable holds none that can be sent."""
    return key_from(environ, config.api_key_env, owner=f"backend {config.name!r}")


def _counter(
    config: configured.Backend,
    policy: Callable[[], Policy],
    tell: Callable[[str, str], None],
    clock: Clock,
    counters: dict[Path, TokenCounter],
) -> tuple[Counter, bool]:
    """Two backends with one model folder share its tokenizer: each copy takes tens of MiB, and seconds to read."""
    if config.model_dir is None or not (config.model_dir / "tokenizer.json").exists():
        return CharCounter(), False
    if config.model_dir not in counters:
        counters[config.model_dir] = TokenCounter.load(config.model_dir)
    exact = counters[config.model_dir]
    watched = WatchedCounter(
        exact,
        most_errors=lambda: policy().truncation.tokenizer_errors,
        tell=lambda what: tell("tokenizer", f"{config.name}: {what}"),
        now_s=clock.now_s,
    )
    return watched, exact.has_template


def _shape(config: configured.Backend) -> KvShape | None:
    """Where memory is promised: what a token takes. Raises ConfigError where nothing says it."""
    memory = config.memory
    if memory.kv_capacity_bytes is None:
        return None
    try:
        model_config = memory.shape.model_config() if memory.shape is not None else _model_config(config.model_dir)
        return KvShape.from_config(
            model_config,
            cache_dtype=memory.kv_dtype,
            block_tokens=memory.block_tokens,
            tensor_parallel=memory.tensor_parallel,
            scale_values=memory.scale_values,
        )
    except ConfigError as error:
        raise ConfigError(f"backend {config.name!r}: {error}") from None


def _model_config(folder: Path | None) -> Mapping[str, Any]:
    file = (folder or Path()) / "config.json"
    try:
        found = msgspec.json.decode(file.read_bytes())
    except (OSError, *DAMAGED) as error:
        told = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read: {why(error)}"
        raise ConfigError(f"kv_capacity_bytes needs what a token takes, and {file} {told}; {_OR_SHAPE}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"kv_capacity_bytes needs what a token takes, and {file} holds no JSON object; {_OR_SHAPE}")
    return found


def _ledger(config: configured.Backend, clock: Clock) -> Ledger | None:
    capacity_bytes = config.memory.kv_capacity_bytes
    return None if capacity_bytes is None else Ledger(capacity_bytes, clock)


def _guard(config: configured.Backend, probe: Probe | None, ledger: Ledger | None, clock: Clock) -> Guard | None:
    if probe is None or ledger is None:
        return None
    memory = config.memory
    by_bytes = memory.margin_bytes is not None
    margin = Margin(bytes_=memory.margin_bytes, share=None if by_bytes else memory.margin_share)
    return Guard(probe, margin, ledger, clock, max_age_s=memory.max_age_s)


def _probe(config: configured.Backend, clock: Clock) -> Probe | None:
    memory = config.memory
    if memory.probe == "process":
        return follow(memory, clock)
    if memory.probe == "cgroup" and memory.cgroup is not None:
        return CgroupProbe(memory.cgroup, clock)
    if memory.probe == "vllm" and memory.kv_capacity_bytes is not None:
        return VllmProbe(memory.kv_capacity_bytes)
    return CudaProbe(memory.device, clock) if memory.probe == "cuda" else None
