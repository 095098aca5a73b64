"""What exists: the server, the backends behind it, their memory and tokenizers. How to degrade is the policy's."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gateway import toml
from gateway.api_key import ApiKey
from gateway.attention.config import AttentionConfig
from gateway.connection_limits import ConnectionLimits
from gateway.deferred.config import Deferred
from gateway.errors import ConfigError
from gateway.memory.config import Memory
from gateway.memory.shared_config import SharedLedgerConfig
from gateway.prompt.parts import PartTokens
from gateway.section import Bytes, Count, Name, Positive, Section, Share, Text, Url, require_url
from gateway.watchdog.config import WatchdogConfig

MODEL_FREE = ("extract", "template", "structured")
UNAIDED = ("rules", "classifier", "cache", *MODEL_FREE)  # every path without a model that an order may name
ADMIN_TOKEN_ENV = "TRUEFALL_ADMIN_TOKEN"
_OURS = frozenset(
    (
        *("connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    )
)  # of the connection and body that the gateway itself makes

_SET_HERE = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options"})


class Server(Section, frozen=True, kw_only=True):
    """Where the gateway listens and what it takes."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 0  # 0: any free port
    served_model: str = "truefall"  # the model name that means "by the policy's order"
    unknown_models: Literal["reject", "route"] = "reject"  # answer 404, or treat as `served_model`
    max_body_bytes: Bytes = 4_194_304
    max_tokens_bound: Count = 131_072  # the largest max_tokens a client may ask for
    default_max_tokens: Count = 512  # reserved and sent when the client names none
    admin_token: str | None = None  # None: the variable TRUEFALL_ADMIN_TOKEN, and without that no admin interface
    admin_loopback_only: bool = True
    forward_headers: tuple[str, ...] = ("x-truefall-trial",)  # of a request, sent on, 4 KiB at most; no others are
    drain_s: Positive = 65.0  # how long accepted work may take after SIGTERM; more than the policy's deadline.request_s
    watch_policy: bool = True  # take a changed policy file within a fifth of a second
    tick_s: Positive = 0.5  # how often the health level is judged and open breakers are probed
    log: Literal["json", "off"] = "json"

    def __post_init__(self) -> None:
        for name in self.forward_headers:
            if name.lower() in _OURS or re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) is None:
                raise ValueError(f"forward_headers: {name!r} is no header that can be passed on to a backend")

    def token(self) -> str | None:
        """The bearer token of the admin interface; None means that the interface is off."""
        return self.admin_token or os.environ.get(ADMIN_TOKEN_ENV) or None


PartSize = Annotated[int, Meta(ge=0, le=1_000_000)]


class Backend(Section, frozen=True, kw_only=True):
    """One OpenAI-compatible server."""

    name: Name
    url: Url  # up to and with /v1
    model: Text  # the id that the backend knows its model by
    engine: Literal["openai", "vllm", "transformers"] = "openai"
    upstream_stream: Literal["auto", "always", "as_asked"] = "auto"  # for JSON clients too; auto: `streams_in_need`
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # where the answer's limit stands
    api_key_env: str | None = None  # the variable that holds the key, never the key
    model_dir: Path | None = None  # tokenizer and config.json: exact token counts and KV bytes
    context_tokens: Annotated[int, Meta(ge=16)] = 8192
    tokens_per_picture: PartSize = 1_369  # Qwen2-VL: 37 x 37 of 28 pixels in 1024 x 1024, where OpenAI counts 765
    tokens_per_sound: PartSize = 750  # Qwen2-Audio: 25 a second, for the half minute that it hears at a time
    tokens_per_file: PartSize = 4_107  # of any other kind: three pages as pictures
    max_concurrent: Count = 16
    max_queue: Annotated[int, Meta(ge=0)] = 64
    speculative_off: dict[str, bool | int | str] = msgspec.field(
        default_factory=dict
    )  # added to the body when degraded
    memory: Memory = Memory()
    watchdog: WatchdogConfig | None = None  # the gateway starts the backend itself, and starts it again

    def __post_init__(self) -> None:
        require_url("url", self.url)
        if self.name in (*UNAIDED, "refused"):
            raise ValueError(f"name {self.name!r} is taken by a path without a model")
        if self.memory.kv_capacity_bytes is not None and self.memory.shape is None and self.model_dir is None:
            raise ValueError(
                "memory.kv_capacity_bytes needs to know what a token takes: "
                "set [backends.memory.shape], or model_dir to a folder with the model's config.json"
            )
        if taken := sorted(self.speculative_off.keys() & _SET_HERE):
            raise ValueError(f"speculative_off: {taken[0]!r} is what the gateway itself sets in a request")

    @property
    def part_tokens(self) -> PartTokens:
        """What a part of a message takes that is no text."""
        return PartTokens(picture=self.tokens_per_picture, sound=self.tokens_per_sound, file=self.tokens_per_file)

    @property
    def streams_always(self) -> bool:
        """Whether to ask for a stream whatever the client asked: some engines can cancel nothing else."""
        if self.upstream_stream == "auto":
            return self.engine == "transformers"
        return self.upstream_stream == "always"

    @property
    def streams_in_need(self) -> bool:
        """Whether to do so where memory is short: the first token alone tells when a request has come to hold it."""
        return self.streams_always or (self.upstream_stream == "auto" and self.memory.probe is not None)


class Embeddings(Section, frozen=True, kw_only=True):
    """An OpenAI-compatible server that embeds questions, instead of the built-in hashing."""

    url: Url  # up to and with /v1
    model: str
    api_key_env: str | None = None  # the variable that holds the key, never the key
    timeout_s: Positive = 0.5  # later, or on any error: the built-in hashing

    def __post_init__(self) -> None:
        require_url("url", self.url)


class Answers(Section, frozen=True, kw_only=True):
    """What the paths without a model answer from. Files that `truefall` commands make, or a person writes."""

    rules: Path | None = None  # path "rules": TOML, see examples/rules.toml
    classifier: Path | None = None  # path "classifier": from `truefall gatekeeper train`
    intents: Path | None = None  # for "cache" and "template": from `truefall intents build`
    cache_file: Path | None = None  # kept answers survive a restart here; None: in memory only
    cache_save_s: Positive = 30.0  # least time between two writings of it
    review_db: Path | None = None  # SQLite file of answers that wait for a person; None: no queue
    review_max_bytes: Annotated[int, Meta(ge=65_536)] = 67_108_864  # the queue is full at this size
    embeddings: Embeddings | None = None


class Manifests(Section, frozen=True, kw_only=True):
    """Where DegradationPolicy manifests come from; at most one of the two."""

    path: Path | None = None  # a file or a folder, such as a mounted ConfigMap; watched while watch_policy is true
    namespace: Annotated[str, Meta(min_length=1)] | None = None  # watch this namespace of the API server
    kubeconfig: Path | None = None  # None: the pod's service account, else the user's own kubeconfig

    def __post_init__(self) -> None:
        if self.path is not None and self.namespace is not None:
            raise ValueError("path and namespace are both set; manifests come from files or from the API server")


class Telemetry(Section, frozen=True, kw_only=True):
    """What is told to others about each request."""

    otlp_endpoint: Url | None = None  # OTLP over HTTP; None: no traces
    sample_ratio: Share = 0.1  # of the traces that begin here; a caller's own decision is kept
    service_name: str = "truefall-gateway"
    otlp_metrics: bool = False  # the metrics of /metrics too, with their exemplars
    export_s: Positive = 5.0  # spans, and metrics, are sent this often
    log_text: bool = False  # prompts and answers in the request log
    drift_baseline: Path | None = None  # keeps what the policy's [drift] learned; None: in memory only

    def __post_init__(self) -> None:
        require_url("otlp_endpoint", self.otlp_endpoint)
        if self.otlp_metrics and self.otlp_endpoint is None:
            raise ValueError("otlp_metrics is true and there is no otlp_endpoint to send them to")


class Config(Section, frozen=True, kw_only=True):
    """The whole file."""

    backends: Annotated[tuple[Backend, ...], Meta(min_length=1)]
    server: Server = Server()
    answers: Answers = Answers()
    manifests: Manifests = Manifests()
    telemetry: Telemetry = Telemetry()
    deferred: Deferred = Deferred()
    shared_ledger: SharedLedgerConfig = SharedLedgerConfig()
    attention: AttentionConfig = AttentionConfig()
    connections: ConnectionLimits = ConnectionLimits()
    api_keys: tuple[ApiKey, ...] = ()  # () lets everybody in

    def __post_init__(self) -> None:
        names = [backend.name for backend in self.backends]
        twice = sorted({name for name in names if names.count(name) > 1})
        clients = [key.name for key in self.api_keys]
        if len(set(clients)) < len(clients):
            raise ValueError("api_keys: a name is there twice")
        if twice:
            raise ValueError(f"backends: name {twice[0]!r} is used {names.count(twice[0])} times, at most once")

    def names(self) -> tuple[str, ...]:
        """The backends' names, in the file's order."""
        return tuple(backend.name for backend in self.backends)


def load_config(path: Path) -> Config:
    """Raises ConfigError, or OSError when the file cannot be read. Relative paths are from the file's folder."""
    config = toml.load(path, Config)
    backends = tuple(_rooted(backend, path.parent) for backend in config.backends)
    for backend in backends:
        if backend.model_dir is not None and not backend.model_dir.is_dir():
            raise ConfigError(f"{path}: backend {backend.name!r}: model_dir {backend.model_dir} is not a folder")
    files = config.manifests
    manifests = msgspec.structs.replace(
        files, path=_under(path.parent, files.path), kubeconfig=_under(path.parent, files.kubeconfig)
    )
    answers = _rooted_answers(config.answers, path.parent)
    telemetry = msgspec.structs.replace(
        config.telemetry, drift_baseline=_under(path.parent, config.telemetry.drift_baseline)
    )
    deferred = msgspec.structs.replace(config.deferred, path=_under(path.parent, config.deferred.path))
    attention = msgspec.structs.replace(config.attention, model_dir=_under(path.parent, config.attention.model_dir))
    if attention.model_dir is not None and not attention.model_dir.is_dir():
        raise ConfigError(f"{path}: attention: model_dir {attention.model_dir} is not a folder")
    return msgspec.structs.replace(
        config,
        backends=backends,
        answers=answers,
        manifests=manifests,
        telemetry=telemetry,
        deferred=deferred,
        attention=attention,
    )


def _under(folder: Path, file: Path | None) -> Path | None:
    return None if file is None else folder / file


def _rooted_answers(answers: Answers, folder: Path) -> Answers:
    names = ("rules", "classifier", "intents", "cache_file", "review_db")
    files = {name: getattr(answers, name) for name in names}
    return msgspec.structs.replace(answers, **{name: folder / file for name, file in files.items() if file is not None})


def _rooted(backend: Backend, folder: Path) -> Backend:
    def rooted(path: Path | None) -> Path | None:
        return None if path is None else folder / path

    memory = msgspec.structs.replace(
        backend.memory, pid_file=rooted(backend.memory.pid_file), cgroup=rooted(backend.memory.cgroup)
    )
    watchdog = backend.watchdog.under(folder) if backend.watchdog is not None else None
    return msgspec.structs.replace(backend, model_dir=rooted(backend.model_dir), memory=memory, watchdog=watchdog)
