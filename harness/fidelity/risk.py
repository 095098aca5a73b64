"""The risk that an answer misleads: a logistic model of what the checks found and of how similar the texts are."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.errors import ConfigError
from harness.fidelity.case import Finding, Similarity
from harness.fidelity.reading.pair import Pair

WEIGHTS = Path(__file__).parent / "data" / "risk.json"
SHAPE = (  # features besides the checks
    "gravest", "missing", "added", "unshared", "far_cosine", "far_bertscore", "near_words", "near_letters",
    "near_bertscore", "answerless",
)  # fmt: skip
NEAR = MappingProxyType(  # closeness from which an unexplained difference starts to tell, and from which it tells all
    {"near_words": (0.4, 0.95), "near_letters": (0.4, 0.95), "near_bertscore": (0.6, 0.98)}
)
CERTAIN = MappingProxyType(  # severity from which a finding is enough by itself, however far or near the texts are
    {
        "conditions": 0.9, "sequence": 1.0, "names": 1.0, "quantifiers": 1.0, "roles": 1.0, "antonyms": 1.0,
        "degenerate": 0.9, "language": 1.0, "contract": 0.9, "must_keep": 1.0, "modality": 1.0,
    }
)  # fmt: skip
FREE = (0.1, 0.5)  # closeness up to which an answer is worded wholly freely, and from which not at all
SUREST = 0.002  # nearer to 0 or 1 no judge's word is taken beside the other's
NEUTRAL = {"cosine": 0.8, "bertscore_f1": 0.75}  # in place of a score that was not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A weight per feature: each check's gravest severity, and those in `SHAPE`; what a certain finding is worth."""

    bias: float
    weights: Mapping[str, float]
    sure: float = 0.8  # risk of a certain finding of severity 1, whatever the rest says, in [0, 1]
    threshold: float = 0.5  # risk from which an answer is called misleading, in (0, 1)
    joined: Mapping[str, "Joined"] = field(default_factory=dict)  # by language; of another one the checks are alone

    def risk(self, values: Mapping[str, float]) -> float:
        """Probability that the answer misleads, in [0, 1]."""
        z = self.bias + sum(self.weights.get(name, 0.0) * value for name, value in values.items())
        weighed = likely(max(-40.0, min(40.0, z)))
        return 1.0 - (1.0 - weighed) * (1.0 - self.sure * values.get("certain", 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What the log odds of all cross-encoders together will be, by those of the checks and of the one asked so far."""

    own: float = 0.0  # weight of the checks' log odds
    read: float = 0.0  # weight of those of the one that was asked; 0 where none was
    shift: float = 0.0
    spread: float  # standard deviation of what it leaves open

    def log_odds(self, risk: float, doubt: float) -> float:
        return self.own * log_odds(risk) + self.read * log_odds(doubt) + self.shift


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """How far the checks and the cross-encoders are believed in one language."""

    own: float = 1.0  # weight of the checks' log odds
    read: float = 1.0  # weight of the cross-encoders'
    shift: float = 0.0  # of their sum
    far_own: float = 1.0  # the same three of an answer that is worded wholly freely
    far_read: float = 1.0
    far_shift: float = 0.0
    guesses: Mapping[str, Guess] = field(default_factory=dict)  # by the one that was asked, "" for none

    def risk(self, risk: float, doubt: float, *, far: float = 0.0, least: float = 0.0) -> float:
        """Probability that the answer misleads, of the checks and of the cross-encoders (`doubt`); at least `least`.

        `far`: how freely the answer is worded, in [0, 1].
        """
        near = self.own * log_odds(risk) + self.read * log_odds(doubt) + self.shift
        free = self.far_own * log_odds(risk) + self.far_read * log_odds(doubt) + self.far_shift
        return max(least, likely((1.0 - far) * near + far * free))


JOINED = ("own", "read", "shift", "far_own", "far_read", "far_shift")  # the weights of `Joined`, as `fit_joined` finds


def log_odds(probability: float) -> float:
    """Of a probability in [0, 1], held between `SUREST` and 1 - `SUREST`."""
    held = min(max(probability, SUREST), 1.0 - SUREST)
    return math.log(held / (1.0 - held))


def likely(odds: float) -> float:
    """The probability with these log odds."""
    return 1.0 / (1.0 + math.exp(-odds))


def features(both: Pair, findings: Sequence[Finding], similarity: Similarity) -> dict[str, float]:
    """What the model looks at, by name, each about in [0, 1]."""
    values: dict[str, float] = {}
    for finding in findings:
        values[finding.check] = max(values.get(finding.check, 0.0), finding.severity)
    values["gravest"] = max(values.values(), default=0.0)
    values["certain"] = max(
        (f.severity for f in findings if f.certain or f.severity >= CERTAIN.get(f.check, 2.0)), default=0.0
    )
    ours, theirs = len(both.reference.content), len(both.candidate.content)
    values["missing"] = len(both.missing) / ours if ours else 0.0
    values["added"] = len(both.added) / theirs if theirs else 1.0
    values["unshared"] = max(0.0, 2 * values["missing"] - 1) * max(0.0, 2 * values["added"] - 1)
    values["answerless"] = max(0.0, 2 * both.untold - 1)
    cosine = NEUTRAL["cosine"] if similarity.cosine is None else similarity.cosine
    f1 = NEUTRAL["bertscore_f1"] if similarity.bertscore_f1 is None else similarity.bertscore_f1
    values["far_cosine"] = max(0.0, min(1.0, 1.0 - cosine))
    values["far_bertscore"] = max(0.0, min(1.0, 1.0 - f1))
    if both.differs:  # the closer two texts are, the more a difference that nothing explains tells
        letters = math.sqrt(both.closeness * both.closeness_letters)
        measured = {"near_words": both.closeness, "near_letters": letters, "near_bertscore": f1}
        values |= {name: _ramp(value, *NEAR[name]) for name, value in measured.items()}
    return {name: value if math.isfinite(value) else 1.0 for name, value in values.items()}


def freedom(closeness: float) -> float:
    """How freely an answer is worded that shares this part of its words with the reference: 0 to 1."""
    return 1.0 - _ramp(closeness, *FREE)


def _ramp(value: float, low: float, high: float) -> float:
    return max(0.0, min(1.0, (value - low) / (high - low)))


@cache
def shipped_model() -> Model:
    """The weights that come along. Raises ConfigError when the file is damaged."""
    return read_model(WEIGHTS)


def read_model(path: Path) -> Model:
    """Raises ConfigError naming the file and what is wrong with it."""
    try:
        values = json.loads(path.read_text("utf-8"))
        return Model(
            bias=float(values["bias"]),
            weights={k: float(v) for k, v in values["weights"].items()},
            sure=float(values["sure"]),
            threshold=float(values["threshold"]),
            joined={language: _joined(told) for language, told in values["joined"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} is not a risk model ({error}): fit one with `python -m harness.fidelity.fit_risk`"
        ) from error


def _joined(values: Mapping[str, Any]) -> Joined:
    weights = {name: float(values[name]) for name in JOINED}
    guesses = values.get("guesses", {})  # without any, every encoder is asked
    return Joined(
        **weights,
        guesses={
            asked: Guess(**{name: float(told[name]) for name in ("own", "read", "shift", "spread")})
            for asked, told in guesses.items()
        },
    )
