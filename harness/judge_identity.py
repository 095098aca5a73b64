"""Which judge it was: what its labels and scores depend on, so that two judgements of one run can be told apart."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIDELITY = Path(__file__).with_name("fidelity")
OF_THE_VERDICT = (".py", ".json", ".safetensors", ".txt", ".tsv")  # its rules, weights and word lists; no labelled sets

Identity = Mapping[str, str]  # part -> revision


def identity_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the judge that the profile of a run names. Raises ConfigError, ModelError.

    The digest of the verdict covers the packaged encoders too: what was trained for other weights is refused. A model
    behind an API is known by its name only; what answers under the same name counts as the same judge.
    """
    from harness.fidelity.entailment import TRUST as NLI_TRUST
    from harness.fidelity.llm_judge import TRUST
    from harness.fidelity.model_folder import encoder_folder, model_revision
    from harness.models import load_profile

    profile = load_profile(str(meta.get("profile", "cpu")))
    encoder, asked = profile.encoder, profile.judge
    parts = {
        "verdict": verdict_digest(),
        "encoder": f"{model_revision(encoder_folder(encoder.name))}/{encoder.layers}/{encoder.dtype}",
    }
    if encoder.baseline is not None:
        parts["baseline"] = hashlib.sha256(encoder.baseline.read_bytes()).hexdigest()
    if asked.nli is not None:
        parts["nli"] = model_revision(asked.nli)
        parts["nli_trust"] = f"{asked.nli_trust or NLI_TRUST:g}"
    if asked.model is not None:
        parts["model"] = asked.model
        parts["trust"] = f"{asked.trust or TRUST:g}"
    return parts


def verdict_digest(folder: Path = FIDELITY) -> str:
    """sha256 (hex) over the rules, weights and word lists of the verdict."""
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.suffix in OF_THE_VERDICT):
        digest.update(str(file.relative_to(folder)).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def differing(earlier: Identity, now: Identity) -> list[str]:
    """The parts that are shown to differ; none where one of the two is not known: to differ has to be shown."""
    if not earlier or not now:
        return []
    return [part for part in sorted({*earlier, *now}) if earlier.get(part) != now.get(part)]
