"""A row with anything anywhere is read as it is, or is an error that names the field: never a traceback."""

import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builder import Row, run_folder

from evalsets.jsonl import load_set
from harness import cli
from harness.criteria import load_criteria, shipped
from harness.errors import ResultError
from harness.gate_run import gate_row
from harness.gate_run_level import run_checks
from harness.store import append_row
from harness.trial import Block, Trial

ITEMS = load_set("support")[:3]
CRITERIA = load_criteria(shipped("cpu"))
TRIAL = Row(item=ITEMS[0], fault="kill").trial.to_row() | {
    "reasons": ["timeout"],
    "record": {
        "level": "degraded",
        "reasons": ["timeout"],
        "attempts": [{"path": "secondary", "outcome": "failed", "reason": "ungrounded"}],
    },
}
BLOCK = Block(
    id="kill#0", experiment="kill", fault="kill", target="primary", trials=1, steady=True, fired=True, evidence=("met",)
).to_row()
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def refusal(read: Callable[[], object]) -> str | None:
    """Why a row is refused; None: it is not."""
    try:
        read()
    except ResultError as error:
        return str(error)
    return None


@pytest.mark.slow
@given(name=st.sampled_from([*TRIAL]), value=anything)
def test_a_trial_with_anything_in_a_field_is_gated_or_refused_by_name(name, value):
    why = refusal(lambda: gate_row(Trial.from_row({**TRIAL, name: value}), {}))
    assert why is None or name in why


@pytest.mark.slow
@given(name=st.sampled_from([*TRIAL["record"]]), value=anything)
def test_a_record_with_anything_in_a_field_is_gated_or_refused_by_name(name, value):
    record = {**TRIAL["record"], name: value}
    why = refusal(lambda: gate_row(Trial.from_row({**TRIAL, "record": record}), {}))
    assert why is None or f"record.{name} is " in why


@pytest.mark.slow
@given(name=st.sampled_from([*BLOCK]), value=anything)
def test_a_block_with_anything_in_a_field_is_judged_or_refused_by_name(name, value):
    def judged() -> None:
        block = Block.from_row({**BLOCK, name: value})
        assert block.attempts >= 1
        run_checks([], CRITERIA.run, [block])

    why = refusal(judged)
    assert why is None or f"{name} is " in why


@pytest.fixture
def folder(tmp_path):
    return run_folder(tmp_path / "r", [Row(item=item, fault=fault) for fault in ("none", "kill") for item in ITEMS])


def gate_line(folder, capsys) -> str:
    """The one line that a gate refuses a run with."""
    assert cli.main(["gate", str(folder.path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("record", {"attempts": 2}, "record.attempts is 2; need a list of objects"),
        ("record", {"attempts": "many"}, "record.attempts is 'many'; need a list of objects"),
        ("record", {"attempts": [None]}, "record.attempts is a list; need a list of objects"),
        ("record", "fallback", "record is 'fallback'; need an object"),
        ("path", ["a"], "path is a list; need a text or null"),
        ("level", 3, "level is 3; need a text or null"),
        ("status", "200", "status is '200'; need a whole number or null"),
    ],
)
def test_a_gate_on_a_row_of_somebody_elses_is_one_line_with_trial_field_and_value(folder, capsys, field, value, said):
    row = Row(item=ITEMS[0], fault="kill").trial.to_row()
    append_row(folder.trials_file, {**row, "id": "kill/mine", field: value})
    line = gate_line(folder, capsys)
    assert "trials.jsonl: trial 'kill/mine': " + said in line


def test_a_gate_on_a_block_of_somebody_elses_is_one_line(folder, capsys):
    rows = [json.loads(line) for line in folder.blocks_file.read_text().splitlines()]
    folder.blocks_file.unlink()
    for row in rows:
        append_row(folder.blocks_file, {**row, "trials": "many"})
    assert "blocks.jsonl: block 'none#0': trials is 'many'; need a whole number" in gate_line(folder, capsys)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("bertscore_f1", "0.8", "bertscore_f1 is '0.8'; need a number or null"),
        ("cosine", True, "cosine is True; need a number or null"),
        ("risk", "high", "risk is 'high'; need a number or null"),
        ("label", 5, "label is 5; need a text or null"),
        ("reasons", "x", "reasons is 'x'; need a list of texts or null"),
    ],
)
def test_a_gate_on_scores_of_somebody_elses_is_one_line_with_trial_column_and_value(
    folder, capsys, column, value, said
):
    file = folder.path / "scores.parquet"
    rows = [{**row, column: value} for row in pq.read_table(file).to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows), file)
    assert f"scores.parquet: trial 'none/{ITEMS[0].id}': {said}" in gate_line(folder, capsys)
