"""Labelled answers: what a judge is measured on and fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Case, Label
from harness.fidelity.ids import Ids
from harness.fidelity.pairs import RowError, object_of, row_of, shown
from harness.fidelity.score_file import numbered

DATA = Path(__file__).parent / "data"
GENERATED_FROM = 8  # every eighth row of the data to tune on is perturbed, too
REWORDED = {"dev": ("joined.jsonl", "free.jsonl"), "test": ("test.jsonl", "ablation.jsonl", "free.jsonl")}
_TEXTS = ("label", "mode", "family", "kind", "split")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A case and what it is."""

    case: Case
    label: Label
    mode: str = ""  # kind of lie, or of paraphrase; "" where not given
    split: str = ""


def load_labelled(name_or_path: str) -> list[Labelled]:
    """Rows of a JSON lines file (id, reference, candidate, label; optional case fields, mode, split), or of a set;
    `generated` is made from the references of the others, `generated_fresh` from some of its own,
    `generated_rewordings` from what others answer honestly in words of their own.

    Raises ConfigError naming file, line and field; NothingJudged for an empty file; EvalsetError for an unknown set.
    """
    path = Path(name_or_path)
    if name_or_path == "generated":
        return [*load_generated("dev"), *load_generated("test")]
    if name_or_path == "generated_fresh":
        return load_generated("fresh")
    if name_or_path == "generated_rewordings":
        return [*load_rewordings("dev"), *load_rewordings("test")]
    if not path.is_file() or path.name == "counterexamples.jsonl":
        return list(_counterexamples(name_or_path))
    rows = list(_rows(path))
    if not rows:
        raise NothingJudged(f"{path} holds no rows")
    return rows


def load_generated(split: str) -> list[Labelled]:
    """What the generator of perturbations makes of the references of a split: "dev", "test" or "fresh"."""
    from harness.fidelity.generated import FRESH, FRESH_SEED, generated, references

    if split == "fresh":
        return [*generated(references(DATA / f"{FRESH}.jsonl"), split, FRESH_SEED)]
    if split == "dev":
        return [*generated(list(_rows(DATA / "dev.jsonl"))[::GENERATED_FROM], split)]
    collapse = [row for row in _counterexamples("collapse") if row.split == split]
    return [*generated([*_rows(DATA / "test.jsonl"), *collapse], split)]


def load_rewordings(split: str) -> list[Labelled]:
    """What the generator makes of the honest rewordings of hand-written rows: "dev" or "test"."""
    from harness.fidelity.generated import rewordings

    rows = [row for name in REWORDED[split] for row in _rows(DATA / name) if row.split in ("", split)]
    return [*rewordings(rows, split)]


def _counterexamples(name: str) -> Iterator[Labelled]:
    from evalsets.counterexample import load_counterexamples

    for one in load_counterexamples(name):
        for kind, text, label in (
            ("collapsed", one.collapsed, Label.MISLEADING),
            ("faithful", one.faithful, Label.FAITHFUL),
        ):
            case = Case(
                id=f"{one.id}/{kind}",
                reference=one.reference,
                candidate=text,
                prompt=one.prompt,
                context=one.context,
                lang=one.lang,
            )
            yield Labelled(case=case, label=label, mode=one.mode, split=one.split)


def _rows(path: Path) -> Iterator[Labelled]:
    with Ids() as ids, path.open("rb") as lines:
        for number, line in numbered(lines):
            try:
                values = object_of(line, number)
                row = row_of(values, number)
                ids.add(row)
            except RowError as error:
                raise ConfigError(f"{path}:{number}: {error}") from None
            yield _labelled(row.case, values, f"{path}:{number}")


def _labelled(case: Case, values: dict[str, Any], place: str) -> Labelled:
    for name in _TEXTS:
        if name in values and not isinstance(values[name], str):
            raise ConfigError(f"{place}: field {name!r} has to be a text, got {shown(values[name])}")
    label = values.get("label")
    if label not in set(Label):
        raise ConfigError(f"{place}: field 'label' is {shown(label)}; known are {', '.join(Label)}")
    mode = values.get("mode") or values.get("family") or values.get("kind") or ""
    return Labelled(case=case, label=Label(label), mode=mode, split=values.get("split", ""))
