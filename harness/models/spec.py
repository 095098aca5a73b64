"""What a profile says, checked on construction."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from harness.errors import ConfigError
from harness.fidelity.llm_judge import URL_FORM, usable_url

Engine = Literal["transformers", "vllm"]
Dtype = Literal["auto", "float32", "bfloat16", "float16", "int8"]  # int8: only the weights are


def need(holds: bool, field: str, value: object, right: str) -> None:
    """Raises ConfigError naming field, value and what would be right."""
    if not holds:
        raise ConfigError(f"{field} is {value!r}; it must be {right}")


def one_of(values: tuple[str, ...]) -> str:
    return "one of " + ", ".join(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One LLM and how it is served."""

    name: str  # a packaged model's name, a model folder, or a hub id
    engine: Engine = "transformers"
    dtype: Dtype = "auto"
    args: tuple[str, ...] = ()  # further arguments of the serving command
    context_tokens: int = 2048  # prompt and answer together
    max_concurrent: int = 1
    margin_share: float = 0.1  # share of device memory that stays free, in [0, 1)
    margin_bytes: int = 0  # memory of the engine's process that stays free, where there is no device
    kv_capacity_bytes: int = 400_000_000  # memory that KV caches may take together

    def __post_init__(self) -> None:
        need(bool(self.name), "name", self.name, "a packaged model, a folder or a hub id")
        need(self.engine in get_args(Engine), "engine", self.engine, one_of(get_args(Engine)))
        need(self.dtype in get_args(Dtype), "dtype", self.dtype, one_of(get_args(Dtype)))
        need(
            self.dtype != "int8" or self.engine == "transformers",
            "dtype",
            self.dtype,
            'another one for engine "vllm", which takes its quantisation in args (--quantization …)',
        )
        need(self.context_tokens >= 64, "context_tokens", self.context_tokens, "at least 64")
        need(self.max_concurrent >= 1, "max_concurrent", self.max_concurrent, "at least 1")
        need(0 <= self.margin_share < 1, "margin_share", self.margin_share, "a share in [0, 1)")
        need(self.kv_capacity_bytes >= 1, "kv_capacity_bytes", self.kv_capacity_bytes, "at least 1")
        need(self.margin_bytes >= 0, "margin_bytes", self.margin_bytes, "0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderSpec:
    """The text encoder behind BERTScore and the embedding cosine."""

    name: str  # the packaged encoder, a model folder, or a hub id
    layers: int | None = None  # BERTScore layer; None takes the last one
    dtype: Literal["float32", "bfloat16"] = "float32"
    baseline: Path | None = None  # of `truefall baseline`; None: BERTScore is not rescaled

    def __post_init__(self) -> None:
        need(bool(self.name), "name", self.name, "the packaged encoder, a folder or a hub id")
        need(self.layers is None or self.layers >= 1, "layers", self.layers, "at least 1")
        need(self.dtype in {"float32", "bfloat16"}, "dtype", self.dtype, one_of(("float32", "bfloat16")))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSpec:
    """Models that are asked about every answer of a run, beside the verdict's own; none where none is named."""

    nli: Path | None = None  # folder of a local inference cross-encoder
    url: str | None = None  # of an OpenAI-compatible API; prompt, context, reference and answer are sent there
    model: str | None = None  # the one to ask there
    key_env: str | None = None  # environment variable that holds the API key; the key itself stands nowhere else
    trust: float | None = None  # risk, in (0, 1], of an answer that `model` calls misleading; None: `llm_judge.TRUST`
    nli_trust: float | None = None  # that of a contradiction that `nli` is sure of; None: `entailment.TRUST`

    def __post_init__(self) -> None:
        need(self.url is None or usable_url(self.url), "url", public(self.url), URL_FORM)
        need(self.model != "", "model", self.model, "the name of a model")
        need(self.url is None or self.model is not None, "model", None, "the model to ask at url")
        need(self.model is None or self.url is not None, "url", None, "the API that has the model")
        need(self.key_env is None or self.url is not None, "url", None, "the API that key_env holds the key of")
        named = self.key_env is None or re.fullmatch("[A-Z_][A-Z0-9_]*", self.key_env)
        for field, trust, named_by in (("trust", self.trust, self.url), ("nli_trust", self.nli_trust, self.nli)):
            need(trust is None or 0 < trust <= 1, field, trust, "in (0, 1]")
            need(trust is None or named_by is not None, field, trust, "left out where no model is named to trust")
        right = "an environment variable's name in capitals, and no key"
        need(bool(named), "key_env", f"{(self.key_env or '')[:3]}…", right)


def public(url: str | None) -> str | None:
    """A URL without what may be secret in it: a user, a query."""
    if url is None:
        return None
    return re.sub(r"[?#].*", "?…", re.sub("//.*@", "//…@", url), flags=re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a run asks of the models."""

    max_new_tokens: int = 40
    fault_items: int = 8  # items sent under each fault
    baseline_items: int = 24  # items sent without a fault
    quick_items: int = 4  # items of a quick run, for either

    def __post_init__(self) -> None:
        for name in ("max_new_tokens", "fault_items", "baseline_items", "quick_items"):
            need(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The models of a run, and the policy and gate that go with them."""

    name: str
    primary: ModelSpec
    secondary: ModelSpec
    encoder: EncoderSpec
    policy: Path  # DegradationPolicy
    criteria: Path  # what the gate demands
    limits: Limits = Limits()
    judge: JudgeSpec = JudgeSpec()
