"""Answers are judged by the items that were sent: a set that was edited since is refused, whatever was edited."""

import json
from dataclasses import replace

import pytest
from run_builder import Row, run_folder

from evalsets.jsonl import load_set
from harness import cli
from harness.errors import ResultError
from harness.judge import SCORES_FILE, judge_run
from harness.report import write_report
from harness.sent_items import HASHED, items_sha256, require_items_as_sent

ITEMS = load_set("support")[:4]
EDITS = {
    "id": "support-en-999",
    "lang": "zh",
    "system": "Be brief.",
    "context": "Another passage.",
    "prompt": "Another question?",
    "reference": "Another answer.",
    "must_keep": ("7 days",),
    "must_not": ("a refund",),
    "contract": {"type": "object"},
    "tags": ("edited",),
}


def test_each_field_that_a_request_or_a_judgement_uses_is_in_the_hash():
    assert sorted(EDITS) == sorted(HASHED)
    before = items_sha256(ITEMS)
    for name, value in EDITS.items():
        assert items_sha256([replace(ITEMS[0], **{name: value}), *ITEMS[1:]]) != before, name
    assert items_sha256([replace(ITEMS[0], source="elsewhere"), *ITEMS[1:]]) == before


def test_of_a_run_that_was_told_its_items_those_have_to_be_as_they_were():
    meta = {"item": [ITEMS[2].id, ITEMS[0].id], "items_sha256": items_sha256([ITEMS[2], ITEMS[0]])}
    require_items_as_sent(meta, [*ITEMS[:3], replace(ITEMS[3], reference="Another answer.")], of="r")
    with pytest.raises(ResultError, match="r: the items of evaluation set"):
        require_items_as_sent(meta, [replace(ITEMS[0], reference="Another answer."), *ITEMS[1:]], of="r")
    with pytest.raises(ResultError, match="r: the items of evaluation set"):
        require_items_as_sent(meta, ITEMS[:2], of="r")


def written(path, items):
    rows = [{name: getattr(item, name) for name in item.__dataclass_fields__} for item in items]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def own(tmp_path):
    return written(tmp_path / "own.jsonl", ITEMS)


@pytest.fixture
def run(tmp_path, own):
    rows = [Row(item=item, fault=fault) for fault in ("none", "kill") for item in ITEMS]
    return run_folder(tmp_path / "r", rows, evalset=str(own), items_sha256=items_sha256(ITEMS)).path


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("name", ["reference", "must_keep", "must_not", "contract"])
def test_a_gate_by_an_edited_set_is_refused_with_both_hashes(run, own, capsys, name, judged):
    if not judged:
        (run / SCORES_FILE).unlink()
    edited = [replace(ITEMS[0], **{name: EDITS[name]}), *ITEMS[1:]]
    written(own, edited)
    assert cli.main(["gate", str(run)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"their sha256 is {items_sha256(edited)} now and was {items_sha256(ITEMS)}; put the set back" in line
    assert line.endswith("the run may be of an earlier version whose sum covered fewer fields: make it again")


def test_neither_a_report_nor_a_judgement_uses_an_edited_set(run, own):
    edited = [replace(ITEMS[0], reference="Another answer."), *ITEMS[1:]]
    written(own, edited)
    with pytest.raises(ResultError, match="are not those that the run sent"):
        write_report(run)
    with pytest.raises(ResultError, match="are not those that the run sent"):
        judge_run(run, edited)


def test_scores_that_are_there_need_no_set(run, own, capsys):
    own.unlink()
    assert cli.main(["gate", str(run)]) in (1, 3)
    assert "sha256" not in capsys.readouterr().err


def test_a_run_that_does_not_say_what_it_sent_is_not_judged(run, capsys):
    meta = json.loads((run / "run.json").read_text())
    del meta["items_sha256"]
    (run / "run.json").write_text(json.dumps(meta))
    (run / SCORES_FILE).unlink()
    assert cli.main(["gate", str(run)]) == 2
    assert "run.json has no items_sha256" in capsys.readouterr().err
