"""Two figures that the source reports of faults, measured in a run: pure functions over its rows.

Intent confidence under instruction blurring: how sure a classifier is of a question before and after the fault blurred
it, relative. Throughput variation under response truncation: the coefficient of variation of the answers' units
(words; Chinese characters) per second, under the fault against without it, relative.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from evalsets.item import Item
from faults.semantic.blurring import blurred
from faults.semantic.units import Splitter, has_word
from harness.stats import Estimate, student_mean
from harness.store import RunFolder
from harness.trial import Outcome, Trial

FILE = "observables.json"
BLUR, TRUNCATE = "blur", "truncate_answer"
LEAST = 3  # values without which a variation says nothing
RESAMPLES = 2000

Confidence = Callable[[str], "Sure"]


class Sure(NamedTuple):
    """What a classifier takes a question for, and how sure it is, in [0, 1]."""

    intent: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Observable:
    """One figure beside the source's. None: not measured."""

    name: str
    source: float  # the relative change that the source reports
    before: float | None = None
    after: float | None = None
    change: Estimate | None = None  # relative
    note: str = ""

    def row(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "source": self.source,
            "before": self.before,
            "after": self.after,
            "change": None if self.change is None else self.change._asdict(),
            "note": self.note,
        }


def under(trials: Sequence[Trial], fault: str) -> list[Trial]:
    """Those that this fault was on for, alone or with others."""
    return [trial for trial in trials if fault in (trial.fault if trial.on is None else trial.on).split("+")]


def intent_confidence(trials: Sequence[Trial], items: Sequence[Item], classify: Confidence) -> Observable:
    """Over the questions that were sent under the fault and that it changes."""
    name = "intent-classification confidence under instruction blurring"
    asked = {trial.item_id for trial in under(trials, BLUR)}
    pairs = [(item.prompt, blurred(item.prompt)) for item in items if item.id in asked]
    changed = [(plain, blur) for plain, blur in pairs if plain != blur]
    if len(changed) < LEAST:
        why = "no experiment with blur" if not asked else f"blur changes {len(changed)} of {len(pairs)} questions"
        return Observable(name=name, source=-0.32, note=f"not measured: {why}")
    sure = [(classify(plain), classify(blur)) for plain, blur in changed]
    gaps = [(after.confidence - before.confidence) / before.confidence for before, after in sure]
    flips = sum(before.intent != after.intent for before, after in sure)
    changes = f"blur changes {len(changed)} of {len(pairs)} questions"
    return Observable(
        name=name,
        source=-0.32,
        before=fmean(before.confidence for before, _ in sure),
        after=fmean(after.confidence for _, after in sure),
        change=student_mean(gaps),
        note=f"{changes}; {flips} of {len(sure)} are taken for another intent",
    )


def throughput_variation(trials: Sequence[Trial], *, seed: int = 0) -> Observable:
    """Answers under the fault against answers of the same run without any fault."""
    name = "variation of token throughput under response truncation"
    calm = throughputs([trial for trial in trials if trial.fault == "none"])
    cut = throughputs(under(trials, TRUNCATE))
    if min(len(calm), len(cut)) < LEAST:
        why = (
            "no experiment with truncate_answer" if not cut else f"{len(calm)} answers without a fault, {len(cut)} with"
        )
        return Observable(name=name, source=0.47, note=f"not measured: {why}")
    before, after = variation(calm), variation(cut)
    if before == 0:
        return Observable(name=name, source=0.47, note="not measured: the answers without a fault do not vary")
    return Observable(
        name=name,
        source=0.47,
        before=before,
        after=after,
        change=resampled(calm, cut, seed=seed),
        note=f"coefficient of variation of units per second; {len(calm)} answers without a fault, {len(cut)} with",
    )


def throughputs(trials: Sequence[Trial]) -> list[float]:
    """Units of the answer per second, of each answer that came back."""
    return [
        units_of(trial.answer) / (trial.latency_ms / 1000)
        for trial in trials
        if trial.answer and trial.latency_ms and trial.outcome is Outcome.OK
    ]


def units_of(text: str) -> int:
    """Words, and characters of Chinese: what stands in for tokens of any model."""
    return sum(has_word(unit) for unit in Splitter([]).split(text))


def variation(values: Sequence[float]) -> float:
    """Standard deviation over mean."""
    return stdev(values) / fmean(values)


def resampled(calm: Sequence[float], cut: Sequence[float], *, seed: int) -> Estimate:
    """The relative change of the variation, with one-sided 95% bounds by resampling both."""
    rng = Random(f"{seed}/throughput")
    value = variation(cut) / variation(calm) - 1
    found = []
    for _ in range(RESAMPLES):
        one, other = rng.choices(calm, k=len(calm)), rng.choices(cut, k=len(cut))
        if variation(one) > 0:
            found.append(variation(other) / variation(one) - 1)
    found.sort()
    return Estimate(value, found[len(found) // 20], found[-1 - len(found) // 20], len(cut))


def write_observables(run: Path, items: Sequence[Item], classify: Callable[[], Confidence] | None = None) -> None:
    """Measure what the run has and write `observables.json`. The classifier is trained only when it is needed."""
    folder = RunFolder.open(run)
    trials = folder.trials()
    seed = int(folder.meta().get("seed", 0))
    make = classify or (lambda: trained_classifier(seed))
    sure = make() if under(trials, BLUR) else nobody
    found = [intent_confidence(trials, items, sure), throughput_variation(trials, seed=seed)]
    folder.write_json(FILE, {"observables": [observable.row() for observable in found]})


def nobody(_: str) -> Sure:
    """Stands for the classifier where there is nothing to classify."""
    return Sure("", 0.0)


def trained_classifier(seed: int) -> Confidence:
    """The gateway's L1, trained on the bundled questions, none of which is in an evaluation set."""
    from gateway.answers.gatekeepers import Classifier
    from harness.gatekeepers.labelled import load_questions
    from harness.gatekeepers.train import train

    found = Classifier(train(load_questions("questions"), seed=seed, trained_on="questions", responses={}))
    return lambda text: Sure(*found.guess(text))
