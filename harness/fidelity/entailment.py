"""What a natural-language-inference model has against an answer: one more finding, where such a model is named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import ModelError
from harness.fidelity.case import Case, Finding

NAME = "entailment"
PAIRS_AT_ONCE = 32
MAX_TOKENS = 512
FLOOR = 0.2  # probability of a contradiction under which there is no finding
CLEAR = 0.9  # probability from which it is one, and not only something to weigh
TRUST = 0.6  # so that a clear one alone makes an answer misleading (0.54), and any other does not


class Entailment:
    """A cross-encoder for sequence classification with a label "contradiction", from a local folder.

    Nothing is downloaded. `trust`: the risk that a contradiction of probability 1 is by itself, in (0, 1]. Raises
    ModelError for a folder that holds no such model.
    """

    def __init__(self, folder: Path, *, device: str = "cpu", trust: float = TRUST) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"{folder} holds no model for natural-language inference: {str(error)[:160]}") from None
        labels = {int(i): str(label).casefold() for i, label in self._model.config.id2label.items()}
        self._contradiction = next((i for i, label in labels.items() if label.startswith("contradict")), None)
        if self._contradiction is None:
            raise ModelError(
                f"{folder}: its labels are {', '.join(labels.values())}; one called contradiction is needed"
            )
        self._device, self.trust = device, trust
        self._model.to(device).eval()
        self._limit = min(MAX_TOKENS, int(getattr(self._model.config, "max_position_embeddings", MAX_TOKENS)))

    def contradictions(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Probability in [0, 1], per (premise, hypothesis), that the hypothesis contradicts the premise."""
        import torch

        found: list[float] = []
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            block = pairs[start : start + PAIRS_AT_ONCE]
            inputs = self._tokenizer(
                [one for one, _ in block], [other for _, other in block],
                padding=True, truncation=True, max_length=self._limit, return_tensors="pt",
            ).to(self._device)  # fmt: skip
            with torch.inference_mode():
                likely = torch.softmax(self._model(**inputs).logits.float(), dim=-1)
            found += [float(row[self._contradiction]) for row in likely]
        return found

    def findings(self, cases: Sequence[Case]) -> list[tuple[Finding, ...]]:
        """At most one finding per case, read both ways round: a contradiction has no direction."""
        forth = self.contradictions([(case.reference, case.candidate) for case in cases])
        back = self.contradictions([(case.candidate, case.reference) for case in cases])
        return [finding_of((one + other) / 2, self.trust) for one, other in zip(forth, back, strict=True)]


def finding_of(likely: float, trust: float = TRUST) -> tuple[Finding, ...]:
    """The finding on a contradiction of this probability: half as grave where it is not `CLEAR`."""
    if likely < FLOOR:
        return ()
    reason = f"the inference model sees a contradiction (probability {likely:.2f})"
    return (Finding(check=NAME, severity=trust * likely * (1.0 if likely >= CLEAR else 0.5), reason=reason),)
