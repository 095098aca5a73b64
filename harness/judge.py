"""Judge a run: every answer against its item's reference, one row each in `scores.parquet`."""

import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evalsets.item import Item
from harness.errors import NothingJudged, ResultError
from harness.fidelity.case import Case, Judgement, Label, Similarity
from harness.judge_identity import Identity, identity_of
from harness.score_rows import SCORES, by_trial
from harness.second_opinions import opinions_of, undecided
from harness.sent_items import require_items_as_sent
from harness.store import RunFolder
from harness.trial import Outcome, Trial
from harness.whole_file import write_whole

if TYPE_CHECKING:
    from harness.fidelity.scorer import Scorer

SCORES_FILE = "scores.parquet"
JUDGE_FILE = "judge.json"  # how good the judge itself is
IDENTITY = b"truefall.judge"  # the key under which a file of scores says whose they are

Judge = Callable[[Sequence[Case], Sequence[Similarity]], list[Judgement]]


class PairScorer(Protocol):
    """What is needed of a scorer."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Similarity]: ...


class Asked(NamedTuple):
    """Trials with the same item, answer and mark are judged once: they are the same case."""

    item_id: str
    answer: str
    degraded: bool | None


def judge_run(
    run_dir: Path,
    evalset_items: Sequence[Item],
    scorer: PairScorer | None = None,
    judge: Judge | None = None,
    *,
    scores_file: str = SCORES_FILE,
) -> None:
    """Write `scores.parquet`, or `scores_file`, into a run folder.

    The scores of the rows are the scorer's; the verdict looks through the packaged encoder, whichever that is.
    `scorer`, `judge` None: the profile's encoder, the fidelity verdict with what the profile names under [judge].
    A trial whose item is not in `evalset_items`, or that got no answer at all, keeps its row, unjudged; as does an
    answer that only the opinion of a judge model could have called misleading, where there is no opinion.
    Raises NothingJudged for a run without trials, ResultError where the items are not those that the run sent.
    """
    folder = RunFolder.open(run_dir)
    trials = folder.trials()
    if not trials:
        raise NothingJudged(f"{run_dir}: no trial of a whole block is there to judge")
    meta = folder.meta()
    require_items_as_sent(meta, evalset_items, of=run_dir)
    items = {item.id: item for item in evalset_items}
    cases = {
        key: case_of(key, items[key.item_id]) for trial in trials if (key := asked(trial)) and key.item_id in items
    }
    judged, identity = {}, None
    if cases:
        scorer = scorer or scorer_of(meta)
        if judge is None:
            judge, identity = judge_of(meta, scorer), identity_of(meta)
        judged = judge_cases(cases, scorer, judge)
    write_scores(run_dir / scores_file, [score_row(trial, judged) for trial in trials], identity)


def asked(trial: Trial) -> Asked | None:
    """What there is to judge of a trial by its text; None where the outcome alone says what it is."""
    if said_by_outcome(trial) or trial.outcome in (Outcome.FAILED, Outcome.UNANSWERED):
        return None
    return Asked(trial.item_id, trial.answer or "", None if trial.level is None else trial.degraded)


def said_by_outcome(trial: Trial) -> bool:
    """A refusal, a rejection, a structured 206, or an error in-band without any text: openly no answer."""
    if trial.outcome in (Outcome.REFUSED, Outcome.REJECTED):
        return True
    return trial.outcome is Outcome.DEGRADED and (trial.status == 206 or not trial.answer)


def case_of(key: Asked, item: Item) -> Case:
    return Case(
        id=key.item_id,
        reference=item.reference,
        candidate=key.answer,
        prompt=item.prompt,
        context=item.context,
        lang=item.lang,
        must_keep=item.must_keep,
        must_not=item.must_not,
        contract=None if item.contract is None else dict(item.contract),
        degraded=key.degraded,
    )


def scorer_of(meta: Mapping[str, Any]) -> PairScorer:
    """The encoder of the profile that a run was made with. Raises ConfigError, ModelError."""
    from harness.fidelity.model_folder import encoder_folder
    from harness.fidelity.scorer import Scorer
    from harness.models import load_profile

    encoder = load_profile(str(meta.get("profile", "cpu"))).encoder
    folder, precision = encoder_folder(encoder.name), encoder.dtype
    return Scorer(folder, encoder.layers, device_of(meta), precision=precision, baseline=encoder.baseline)


def judge_of(meta: Mapping[str, Any], scorer: PairScorer) -> Judge:
    """The verdict, and what the profile of a run names under [judge]. Raises ConfigError, ModelError."""
    from harness.models import load_profile

    spec, device = load_profile(str(meta.get("profile", "cpu"))).judge, device_of(meta)
    return verdict_of(device, eyes=eyes_beside(scorer, device), **opinions_of(spec, device))


def device_of(meta: Mapping[str, Any]) -> str:
    """Where the models of a run are: "cpu" or "cuda"."""
    return "cuda" if str(meta.get("device", "cpu")).startswith("cuda") else "cpu"


def judge_cases(cases: Mapping[Asked, Case], scorer: PairScorer, judge: Judge) -> dict[Asked, Judgement]:
    similarities = scorer.score([(case.reference, case.candidate) for case in cases.values()])
    return dict(zip(cases, judge(list(cases.values()), similarities), strict=True))


def verdict_of(device: str = "cpu", *, eyes: PairScorer | None = None, **more: Any) -> Judge:
    """The verdict with the cross-encoder that comes along; `more` goes to `judge`. Raises ModelError, ConfigError.

    `eyes`: what it looks through, where the similarities that it is given are another encoder's (`eyes_beside`).
    """
    from harness.fidelity.cross_encoder import shipped_cross_encoder
    from harness.fidelity.verdict import judge

    decide = partial(judge, reader=shipped_cross_encoder(device), **more)
    return decide if eyes is None else partial(judged_through, eyes, decide)


def eyes_beside(scorer: PairScorer, device: str, cache_dir: Path | None = None) -> "Scorer | None":
    """The packaged encoder, which the risk model was fitted on; None where `scorer` is that already."""
    from harness.fidelity.scorer import Scorer

    if isinstance(scorer, Scorer) and scorer.as_fitted:
        return None
    return packaged_scorer(device) if cache_dir is None else Scorer(device=device, cache_dir=cache_dir)


@cache
def packaged_scorer(device: str) -> "Scorer":
    """The packaged encoder, loaded at its first use: a run and the table of its judges look through the same one."""
    from harness.fidelity.scorer import Scorer

    return Scorer(device=device)


def judged_through(
    eyes: PairScorer, judge: Judge, cases: Sequence[Case], similarities: Sequence[Similarity]
) -> list[Judgement]:
    """Judgements by what `eyes` see of the pairs; the scores that they carry stay `similarities`."""
    seen = eyes.score([(case.reference, case.candidate) for case in cases])
    return [
        replace(judgement, similarity=reported)
        for judgement, reported in zip(judge(cases, seen), similarities, strict=True)
    ]


def score_row(trial: Trial, judged: Mapping[Asked, Judgement]) -> dict[str, Any]:
    """One row; None where nothing was judged or measured."""
    key = asked(trial)
    if key is not None and key in judged:
        found = judged[key]
        label, risk = (None, None) if undecided(found) else (found.label, found.risk)
        scores = {name: finite(getattr(found.similarity, name)) for name in SCORES}
        flags = list(found.similarity.flags)
        return row_of(trial, label, risk, list(found.reasons), flags=flags, **scores)
    if said_by_outcome(trial):
        return row_of(trial, Label.ABSTAINED, 0.0, [f"openly no answer: {trial.outcome.value}, HTTP {trial.status}"])
    return row_of(trial, None, None, [])


def row_of(
    trial: Trial,
    label: Label | None,
    risk: float | None,
    reasons: list[str],
    *,
    flags: Sequence[str] = (),
    **scores: Any,
) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(SCORES)
    named = None if label is None else label.value
    return {
        "trial_id": trial.id,
        "label": named,
        "risk": risk,
        "reasons": reasons,
        **empty,
        **scores,
        "flags": list(flags),
    }


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def write_scores(file: Path, rows: Sequence[Mapping[str, Any]], judge: Identity | None = None) -> None:
    """Whole or not at all; `judge`: whose scores they are, where that is known. Raises ResultError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.list_(pa.string())
    schema = pa.schema(
        [
            *(pa.field("trial_id", pa.string()), pa.field("label", pa.string()), pa.field("risk", pa.float64())),
            pa.field("reasons", texts),
            *(pa.field(name, pa.float64()) for name in SCORES),
            pa.field("flags", texts),
        ],
        metadata={IDENTITY: json.dumps(dict(judge or {})).encode()},
    )
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([writable(row) for row in rows], schema=schema), content)
    try:
        write_whole(file, content.getvalue())
    except OSError as error:
        raise ResultError(f"{file}: cannot write: {error.strerror or error}; free some space") from None


def writable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Half a surrogate pair, quoted by a reason, cannot be written as UTF-8."""
    clean = [reason.encode("utf-8", "backslashreplace").decode() for reason in row["reasons"]]
    return {**row, "reasons": clean}


def read_scores(file: Path) -> dict[str, dict[str, Any]]:
    """Rows by trial id. Raises ResultError when the file is missing or damaged, lacks a column, or holds an id twice or
    a value of another type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not file.is_file():
        raise ResultError(f"{file}: missing; `truefall gate {file.parent}` judges the answers where no scores are left")
    try:
        rows: list[dict[str, Any]] = pq.read_table(file).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise ResultError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from None
    return by_trial(rows, file)


def judge_in(file: Path) -> dict[str, str]:
    """Whose scores a file holds; empty where it does not say. Raises ResultError when it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        told = (pq.read_schema(file).metadata or {}).get(IDENTITY, b"{}")
    except (pa.ArrowException, OSError) as error:
        raise ResultError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from None
    try:
        return dict(json.loads(told))
    except (ValueError, TypeError):
        raise ResultError(f"{file}: cannot be read: what it says of its judge is damaged") from None


def open_judge(profile: str = "cpu", device: str = "cpu") -> Callable[[Sequence[Case]], list[Judgement]]:
    """The encoder of a profile and the verdict with what it names under [judge], as one function of cases.

    Raises ConfigError, ModelError. A case that only a model without an opinion could have called misleading keeps the
    label that it has without, and says so among its reasons (`second_opinions.undecided`).
    """
    meta = {"profile": profile, "device": device}
    scorer = scorer_of(meta)
    judge = judge_of(meta, scorer)

    def judge_all(cases: Sequence[Case]) -> list[Judgement]:
        return judge(cases, scorer.score([(case.reference, case.candidate) for case in cases]))

    return judge_all
