"""Labelled answers: what a judge is measured on and fitted to."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Case, Label

DATA = Path(__file__).parent / "data"
GENERATED_FROM = 8  # every eighth row of the data to tune on is perturbed, too
_CASE_FIELDS = frozenset(f.name for f in fields(Case))
_TUPLES = frozenset({"must_keep", "must_not"})
_TEXTS = frozenset({"reference", "candidate", "prompt", "context"})
_EXTRA = frozenset({"label", "mode", "split", "why"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A case and what it is."""

    case: Case
    label: Label
    mode: str = ""  # kind of lie, or of paraphrase; "" where not given
    split: str = ""


def load_labelled(name_or_path: str) -> list[Labelled]:
    """Rows of a JSON lines file (id, reference, candidate, label; optional case fields, mode, split), or of a set;
    `generated` is made from the references of the others.

    Raises ConfigError naming file, line and field; NothingJudged for an empty file; EvalsetError for an unknown set.
    """
    path = Path(name_or_path)
    if name_or_path == "generated":
        from harness.fidelity.generated import generated

        frozen = [*_rows(DATA / "test.jsonl"), *(row for row in _counterexamples("collapse") if row.split == "test")]
        return [*generated(list(_rows(DATA / "dev.jsonl"))[::GENERATED_FROM], "dev"), *generated(frozen, "test")]
    if not path.is_file() or path.name == "counterexamples.jsonl":
        return list(_counterexamples(name_or_path))
    rows = list(_rows(path))
    if not rows:
        raise NothingJudged(f"{path} holds no rows")
    return rows


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
    seen: dict[str, int] = {}
    for number, line in enumerate(path.read_text("utf-8", errors="strict").splitlines(), start=1):
        if not line.strip():
            continue
        row = _row(line, f"{path}:{number}")
        first = seen.setdefault(row.case.id, number)
        if first != number:
            raise ConfigError(
                f"{path}:{number}: id {row.case.id!r} stands in line {first} too; every row needs its own"
            )
        yield row


def _row(line: str, place: str) -> Labelled:
    try:
        values: Any = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON ({error}); one object a line is needed") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{place}: {type(values).__name__} is not an object with id, reference, candidate and label")
    for name in ("id", "reference", "candidate", "label"):
        if not isinstance(values.get(name), str | int):
            raise ConfigError(f"{place}: field {name!r} is {values.get(name)!r}; a text is needed")
    for name in _TEXTS & values.keys():
        if not isinstance(values[name], str):
            raise ConfigError(f"{place}: field {name!r} is {values[name]!r}; a text is needed")
    label = str(values["label"])
    if label not in set(Label):
        raise ConfigError(f"{place}: field 'label' is {label!r}; known are {', '.join(Label)}")
    for name in _TUPLES & values.keys():
        if not (isinstance(values[name], list) and all(isinstance(one, str) for one in values[name])):
            raise ConfigError(f"{place}: field {name!r} is {values[name]!r}; a list of texts is needed")
    given: dict[str, Any] = {
        k: tuple(v) if k in _TUPLES else v for k, v in values.items() if k in _CASE_FIELDS and v is not None
    }
    given["id"] = str(given["id"])
    mode = values.get("mode") or values.get("family") or values.get("kind") or ""
    return Labelled(case=Case(**given), label=Label(label), mode=str(mode), split=str(values.get("split") or ""))
