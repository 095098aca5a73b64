"""How to degrade: the paths and their order, limits, breaker, health, grounding and the answers without a model."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gateway import toml
from gateway.config import MODEL_FREE, UNAIDED, Config
from gateway.decision import DecisionMarks
from gateway.drift import DriftMarks
from gateway.errors import ConfigError
from gateway.health import HealthMarks
from gateway.section import Count, Positive, Section, Share, Text
from gateway.watched_file import emptied

Language = Literal["en", "zh"]


class Paths(Section, frozen=True, kw_only=True):
    """Which paths there are, in the order they are tried; each at most once per request."""

    order: tuple[str, ...] = ()  # backends and paths without a model; () means every backend, then MODEL_FREE
    small_first: tuple[str, ...] = ()  # backends to try first at level degraded; () means the order's last first
    stream_failover: Literal["error_event", "hold", "hold_all"] = "error_event"
    max_after_death: Annotated[int, Meta(ge=0)] = 1  # further backends after one died under the request
    at_critical: Literal["refuse", "answer"] = "answer"  # new work at level critical: 429, or paths without a model


class Deadline(Section, frozen=True, kw_only=True):
    """One deadline for the whole request, retries and fallbacks included."""

    request_s: Positive = 60.0
    reserve_s: Annotated[float, Meta(ge=0)] = 0.2  # kept back for the paths without a model

    def __post_init__(self) -> None:
        if self.reserve_s >= self.request_s:
            text = f"reserve_s is {self.reserve_s:g} and request_s {self.request_s:g}: no time is left for a backend"
            raise ValueError(f"{text}, reserve_s must be less")


class Limits(Section, frozen=True, kw_only=True):
    """Time limits of one attempt at a backend; the request's deadline cuts them all."""

    connect_s: Positive = 1.0
    first_token_s: Positive = 10.0  # streams: until the first token of content
    idle_s: Positive = 5.0  # streams: between two tokens of content; keep-alives do not count
    total_s: Positive = 30.0


class Breaker(Section, frozen=True, kw_only=True):
    """When a backend is left alone, and how it is asked again."""

    consecutive_failures: Count = 3
    timeout_share: Share = 0.05  # of the calls in the window; slow calls count as timeouts
    window_s: Positive = 60.0
    min_calls: Count = 20  # no verdict by share below this many calls in the window
    slow_s: Positive | None = None  # None: no call is slow
    open_s: Positive = 30.0
    half_open_probes: Count = 1  # at the same time
    half_open_successes: Count = 1  # that close it
    background_probes: bool = True  # the gateway itself asks for one token every `open_s` at most; false: requests do


class Overload(Section, frozen=True, kw_only=True):
    """What happens when every backend says 'not now'."""

    action: Literal["refuse", "answer"] = "refuse"  # 429 with Retry-After, or the paths without a model
    queue_wait_s: Positive = 5.0
    max_retry_after_s: Positive = 3600.0  # a backend is left alone as long as it asks, up to this


class Truncation(Section, frozen=True, kw_only=True):
    """The hard limit of the prompt, and the one used when memory is short."""

    limit_tokens: Count = 12_288
    pressure_tokens: Count = 2_048  # tried when the guard or the ledger refuses the whole prompt
    compress: bool = True
    tokenizer_errors: Share = (
        0.05  # of the texts read back lost something: prompts are counted by estimate, sent in ASCII
    )


class LedgerMarks(Section, frozen=True, kw_only=True):
    """Admission by memory."""

    wait_s: Positive = 5.0
    long_tokens: Count = 1024  # requests at least this long stop being admitted above `watermark`
    watermark: Share = 0.85  # of what is promised, or of what the probe sees in use, whichever is more


class Validation(Section, frozen=True, kw_only=True):
    """What a 200 must be to count as an answer."""

    max_answer_bytes: Count = 8_388_608
    response_schema: bool = msgspec.field(name="schema", default=True)
    tools: bool = True  # only offered tools may be called, and one must be where the request says so


class Accounting(Section, frozen=True, kw_only=True):
    """The backend's own token counts against the gateway's; needs the backend's model_dir."""

    enabled: bool = True
    tolerance_tokens: Annotated[int, Meta(ge=0)] = 3
    tolerance_share: Share = 0.01
    missing_usage: Literal["accept", "distrust"] = "accept"


class Grounding(Section, frozen=True, kw_only=True):
    """Which model answers are checked against their own prompt, and for what."""

    apply: Literal["degraded", "always", "never"] = "degraded"
    numbers: bool = True
    negation: bool = True
    repetition: bool = True
    cut: bool = True  # an answer cut by length in the middle of a sentence
    language: bool = True
    min_support: Share = 0.0  # share of the answer's words that its prompt must hold


class Extract(Section, frozen=True, kw_only=True):
    """The path that quotes the caller's own text."""

    min_score: Share = 0.45  # share of the question's idf weight that the best sentence must hold
    tie_share: Share = 0.9  # a second sentence this close that contradicts the first means: refuse
    max_sentences: Annotated[int, Meta(ge=1, le=4)] = 2
    counts_as: Literal["abstention", "answer"] = "abstention"  # word overlap alone does not prove an answer
    preface_en: str = (
        "We cannot answer this right now. This passage of your text is closest to the question; "
        "whether it answers it has not been checked:"
    )
    preface_zh: str = "目前无法回答。以下是您提供的原文中与问题最接近的内容，是否能回答问题尚未核实："


class Template(Section, frozen=True, kw_only=True):
    """A business-defined answer."""

    lang: Language
    text: Text
    keywords: tuple[Annotated[str, Meta(min_length=1)], ...] = ()  # any one in the question; () is the default
    examples: tuple[Annotated[str, Meta(min_length=1)], ...] = ()  # questions like the ones it is for
    abstains: bool = True  # says honestly that it is no answer


class TemplateMatch(Section, frozen=True, kw_only=True):
    """How a template is found."""

    min_similarity: Share = 0.5  # of the question to the closest example, hashed; below it keywords decide
    embedded_min_similarity: Share = 0.6  # the same in the space of the config's [answers.embeddings]


class CacheMarks(Section, frozen=True, kw_only=True):
    """Earlier answers, for the path "cache". Nothing is kept unless `paths.order` names it."""

    max_age_s: Positive = 3600.0
    min_similarity: Share = 0.3  # of the two questions; equal slots are needed in any case
    max_entries: Count = 1000
    max_bytes: Count = 16_777_216
    keep_share: Share = 0.02  # of the gateway's time may go into keeping; what comes faster is passed over
    tenant_headers: tuple[str, ...] = (
        "authorization",
        "x-api-key",
        "openai-organization",
        "openai-project",
        "x-tenant-id",
    )  # requests that differ in any of these never share an answer
    ignored_metadata: tuple[str, ...] = ()  # dotted keys of the request's metadata that change no answer
    synonyms: tuple[tuple[Annotated[str, Meta(min_length=1)], ...], ...] = ()  # groups of words that mean the same


class Gatekeeper(Section, frozen=True, kw_only=True):
    """The path "classifier"."""

    min_confidence: Share = 0.85  # below it the next path answers


class GateMarks(Section, frozen=True, kw_only=True):
    """The semantic gate on degraded model answers: difference to what they stand for, entropy in nats.

    The entropy is that of the answer's words, or of a reading model's attention where the config has one.
    """

    apply: Literal["never", "degraded"] = "never"
    unmeasured: Literal["pass", "next"] = "pass"  # there is nothing to compare with
    query_delta: Share = 0.12  # a user query passes below this difference …
    query_entropy: Annotated[float, Meta(ge=0)] = 1.4  # … and above this entropy
    summary_delta: Share = 0.25
    summary_entropy: Annotated[float, Meta(ge=0)] = 1.1
    extraction_delta: Share = 0.30  # an extraction goes to a person above this difference …
    extraction_entropy: Annotated[float, Meta(ge=0)] = 0.9  # … and below this entropy
    concentration: Share = 0.85  # attention with so much on its five strongest targets has no entropy to speak of


DEFAULT_TEMPLATES = (
    Template(
        lang="en",
        text="We cannot answer this right now because the service is degraded. No action was taken. "
        "Please try again in a few minutes.",
    ),
    Template(lang="zh", text="服务目前处于降级状态，暂时无法回答您的问题，也没有执行任何操作。请几分钟后再试。"),
)


class Structured(Section, frozen=True, kw_only=True):
    """The body when nothing else answers."""

    status: Annotated[int, Meta(ge=200, le=299)] = 206
    suggestion_en: str = "try shorter input"
    suggestion_zh: str = "请缩短输入后重试"

    def __post_init__(self) -> None:
        if self.status in (204, 205):
            raise ValueError(f"status is {self.status}, which has no body; must be another from 200 to 299")


class Notices(Section, frozen=True, kw_only=True):
    """What to show the end user; `{model}` is the model that served."""

    backend_en: str = "Answered by the fallback model {model}."
    backend_zh: str = "由备用模型 {model} 回答。"
    shortened_en: str = "Answered under load: the input or the answer was shortened."
    shortened_zh: str = "高负载下回答：输入或回答已被缩短。"
    unchecked_en: str = "This answer was checked only in part."
    unchecked_zh: str = "此回答只经过部分检查。"
    estimated_en: str = "The length of your text was estimated, and special characters in it may have been replaced."
    estimated_zh: str = "输入长度为估算值，其中的特殊字符可能已被替换。"
    launch_en: str = "Answered by {model} in a reduced configuration."
    launch_zh: str = "由 {model} 以降级配置回答。"
    extract_en: str = "Quoted from your own text, without a model."
    extract_zh: str = "摘自您提供的原文，未使用模型。"
    template_en: str = "Prepared answer, without a model."
    template_zh: str = "预设回复，未使用模型。"
    rules_en: str = "Answered by a fixed rule, without a model."
    rules_zh: str = "由固定规则回答，未使用模型。"
    classifier_en: str = "Prepared answer to what the question seems to be about, without a language model."
    classifier_zh: str = "根据问题类别给出的预设回复，未使用语言模型。"
    cache_en: str = "An earlier answer, {age} old, to a question that is {similarity} similar to yours."
    cache_zh: str = "这是 {age}前对相似问题（相似度 {similarity}）的回答。"


class Policy(Section, frozen=True, kw_only=True):
    """The whole file."""

    name: str = "default"
    paths: Paths = Paths()
    deadline: Deadline = Deadline()
    limits: dict[str, Limits] = msgspec.field(default_factory=dict)  # by backend; "default" for the rest
    breaker: Breaker = Breaker()
    health: HealthMarks = HealthMarks()
    overload: Overload = Overload()
    truncation: Truncation = Truncation()
    ledger: LedgerMarks = LedgerMarks()
    validation: Validation = Validation()
    accounting: Accounting = Accounting()
    grounding: Grounding = Grounding()
    extract: Extract = Extract()
    structured: Structured = Structured()
    notices: Notices = Notices()
    templates: tuple[Template, ...] = DEFAULT_TEMPLATES
    template_match: TemplateMatch = TemplateMatch()
    cache: CacheMarks = CacheMarks()
    gatekeeper: Gatekeeper = Gatekeeper()
    semantic_gate: GateMarks = GateMarks()
    drift: DriftMarks = DriftMarks()
    decision: DecisionMarks = DecisionMarks()

    def limits_of(self, backend: str) -> Limits:
        """The limits of one backend."""
        return self.limits.get(backend) or self.limits.get("default") or Limits()


def load_policy(path: Path | None, config: Config, *, again: bool = False) -> Policy:
    """The policy in `path`, or the default one, made to fit `config`. Raises ConfigError; OSError.

    `again`: it was read before, and must not have become empty.
    """
    if path is None:
        return fitted(Policy(), config, source="default policy")
    source, text = str(path), toml.read(path)
    if again and not text.strip():
        raise emptied(source, enough='name = "default"')
    return fitted(toml.parse(text, Policy, source=source), config, source=source, text=text)


def fitted(policy: Policy, config: Config, *, source: str, text: str = "") -> Policy:
    """The policy with its orders filled in; `text` is what was read, for the lines that errors name.

    Raises ConfigError where it names what the config does not have.
    """

    def place(field: str, name: str) -> str:
        if field == "limits":
            return toml.place_of(source, text, (field, name))
        return toml.place_of(source, text, tuple(field.split(".")), item=name)

    backends = config.names()
    paths = policy.paths
    order = paths.order or (*backends, *MODEL_FREE)
    _require_known("paths.order", order, (*backends, *UNAIDED), place)
    for name, file in (("rules", config.answers.rules), ("classifier", config.answers.classifier)):
        if name in order and file is None:
            where = place("paths.order", name)
            raise ConfigError(f"{where}: paths.order: {name!r} needs answers.{name} in the config, the file it is in")
    _require_known("paths.small_first", paths.small_first, backends, place)
    _require_known("limits", tuple(policy.limits), ("default", *backends), place)
    in_order = tuple(name for name in order if name in backends)
    small_first = paths.small_first or in_order[::-1]
    return msgspec.structs.replace(policy, paths=msgspec.structs.replace(paths, order=order, small_first=small_first))


def _require_known(
    field: str, names: tuple[str, ...], known: tuple[str, ...], place: Callable[[str, str], str]
) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(f"{place(field, name)}: {field}: {name!r} is not a path; known are {', '.join(known)}")
        if (times := names.count(name)) > 1:
            raise ConfigError(f"{place(field, name)}: {field}: {name!r} is there {times} times, at most once")
