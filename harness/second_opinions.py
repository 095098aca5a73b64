"""The models that a profile names under [judge], to be asked about every answer of a run beside the verdict."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from harness.errors import ModelError
from harness.fidelity.case import Judgement, Label
from harness.fidelity.entailment import TRUST as NLI_TRUST
from harness.fidelity.llm_judge import TRUST, LlmJudge, completions_url, key_in, unmeasured
from harness.models.spec import JudgeSpec

if TYPE_CHECKING:
    from harness.fidelity.entailment import Entailment


class Opinions(TypedDict, total=False):
    """What `harness.fidelity.verdict.judge` takes. Left out: not asked."""

    entailment: "Entailment"
    llm_judge: LlmJudge


def opinions_of(spec: JudgeSpec, device: str = "cpu") -> Opinions:
    """Load and open what is named. Raises ConfigError for a key that is not there, ModelError for a folder."""
    opinions = Opinions()
    if (llm_judge := llm_judge_of(spec)) is not None:
        opinions["llm_judge"] = llm_judge
    if spec.nli is not None:
        from harness.fidelity.entailment import Entailment

        opinions["entailment"] = Entailment(folder_of(spec.nli), device=device, trust=spec.nli_trust or NLI_TRUST)
    return opinions


def check_opinions(spec: JudgeSpec) -> None:
    """What would be missed only at the end of a run, without loading a model. Raises ConfigError, ModelError."""
    llm_judge_of(spec)
    if spec.nli is not None:
        folder_of(spec.nli)


def undecided(found: Judgement) -> bool:
    """Whether a judge model that gave no opinion could have changed the label: it makes no truth of a lie."""
    return found.label is not Label.MISLEADING and unmeasured(found)


def llm_judge_of(spec: JudgeSpec) -> LlmJudge | None:
    if spec.url is None or spec.model is None:
        return None
    key = key_in(spec.key_env, "[judge] key_env")
    return LlmJudge(url=completions_url(spec.url), model=spec.model, key=key, trust=spec.trust or TRUST)


def folder_of(nli: Path) -> Path:
    if not (nli / "config.json").is_file():
        raise ModelError(f"[judge] nli is {str(nli)!r}; it must be a model folder: config.json is missing")
    return nli
