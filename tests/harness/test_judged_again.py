"""A second judgement of a run: the first verdict stays, and no FAIL turns green by drawing again."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from run_builder import Row, run_folder

import harness.judge
from evalsets.jsonl import load_set
from harness import cli
from harness.errors import ResultError
from harness.fidelity.case import Judgement, Label, Similarity
from harness.gate_run import judge_locked
from harness.judge import IDENTITY, SCORES_FILE, judge_in, read_scores
from harness.judge_identity import differing, identity_of, verdict_digest
from harness.run_lock import only_writer

ITEMS = load_set("support")[:30]


class Same:
    """Stands for the encoder: every pair scores alike."""

    def score(self, pairs):
        return [Similarity(bertscore_p=0.8, bertscore_r=0.8, bertscore_f1=0.8, cosine=0.8, composite=0.8)] * len(pairs)


@pytest.fixture
def draw(monkeypatch):
    """Let the next judgements call every answer as told, one label after the other, by the judge that is named."""

    def told(*labels, model="small"):
        left = list(labels)

        def judge(cases, similarities):
            label = left.pop(0) if len(left) > 1 else left[0]
            return [
                Judgement(id=c.id, label=label, risk=0.5, reasons=(), similarity=s)
                for c, s in zip(cases, similarities, strict=True)
            ]

        monkeypatch.setattr(harness.judge, "scorer_of", lambda meta: Same())
        monkeypatch.setattr(harness.judge, "judge_of", lambda meta, scorer: judge)
        monkeypatch.setattr(harness.judge, "identity_of", lambda meta: {"model": model})

    return told


SHIPPED = (Path(harness.judge.__file__).parent / "gates" / "cpu.toml").read_text()
LAX = """[run]
confidence = 0.9
max_crashes = 9
max_unmarked = 9
min_coverage = 0.0
[paths.any]
match = ["*"]
pool = "class"
min_n = 1
misleading = 1.0
"""


SERVED = {"none": "primary", "kill": "extract", "hang": "secondary"}  # by fault: every class of the criteria
ROWS = [Row(item=item, fault=fault, path=path) for fault, path in SERVED.items() for item in ITEMS]


def unjudged(tmp_path) -> Path:
    path = run_folder(tmp_path / "r", ROWS).path
    (path / "verdict.json").unlink()
    (path / SCORES_FILE).unlink()
    return path


@pytest.fixture
def run(tmp_path, draw) -> Path:
    """A run whose answers the first judge calls misleading."""
    path = unjudged(tmp_path)
    draw(Label.MISLEADING)
    assert cli.main(["gate", str(path)]) == 1
    return path


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def again(run, tmp_path, *more):
    return cli.main(["gate", str(run), "--judge-again", "--markdown", str(tmp_path / "m.md"), *more])


def test_a_second_draw_of_the_same_judge_leaves_what_was_there_and_turns_no_fail_green(run, draw, tmp_path, capsys):
    before = content(run)
    draw(Label.FAITHFUL)
    assert again(run, tmp_path) == 1
    after = content(run)
    assert {name: after[name] for name in before} == before
    assert sorted({*after} - {*before}) == ["junit-judgement-2.xml", "scores-2.parquet", "verdict-judgement-2.json"]
    assert {row["label"] for row in read_scores(run / "scores-2.parquet").values()} == {"faithful"}
    stands = "the first said FAIL; the FAIL of judgement 1 by the same judge stands"
    assert stands in (tmp_path / "m.md").read_text()
    assert (tmp_path / "m.md").read_text().startswith("## FAIL: r, judged again (judgement 2; the first said FAIL)")
    xml = ET.fromstring(after["junit-judgement-2.xml"])
    assert xml.get("name", "").endswith("r, judged again (judgement 2; the first said FAIL)")
    assert any(stands in one.get("message", "") for one in xml.iter("failure"))
    assert capsys.readouterr().out.splitlines()[-1].startswith("FAIL: 1 of ")
    assert again(run, tmp_path) == 1, "nor does the third"
    assert json.loads((run / "verdict-judgement-3.json").read_text())["judgement"] == 3


def test_another_judge_may_say_something_else_and_that_it_is_another_is_said(run, draw, tmp_path):
    draw(Label.FAITHFUL, model="large")
    assert again(run, tmp_path) == 0
    heading = "## PASS: r, judged again (judgement 2; the first said FAIL, by another judge (model))"
    assert (tmp_path / "m.md").read_text().startswith(heading)
    assert "by another judge" in (run / "junit-judgement-2.xml").read_text()
    own = json.loads((run / "verdict.json").read_text())
    assert (own["verdict"], own["judge"]) == ("FAIL", {"model": "small"})
    assert cli.main(["gate", str(run)]) == 1, "the run's own verdict is that of its first judgement"
    draw(Label.MISLEADING, model="large")
    assert again(run, tmp_path) == 1
    draw(Label.FAITHFUL, model="large")
    assert again(run, tmp_path) == 1, "the large one has said FAIL now, too"


def test_other_criteria_are_applied_to_the_first_judgement_before_the_second(run, draw, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(SHIPPED + "\n")
    draw(Label.FAITHFUL)
    assert again(run, tmp_path, "--criteria", str(mine)) == 1
    assert json.loads((run / "verdict-by-mine.json").read_text())["verdict"] == "FAIL"
    assert (run / "verdict-by-mine-judgement-2.json").is_file()


def test_scores_that_were_thrown_away_do_not_make_the_next_judgement_the_first(run, draw):
    (run / SCORES_FILE).unlink()
    draw(Label.FAITHFUL)
    assert cli.main(["gate", str(run)]) == 1
    assert json.loads((run / "verdict.json").read_text())["verdict"] == "FAIL"


def test_a_fail_of_any_draw_stands_under_a_copy_of_the_criteria_too(draw, tmp_path):
    run, copy = unjudged(tmp_path), tmp_path / "copy.toml"
    copy.write_text(SHIPPED + "\n# a copy\n")
    for label, code in ((Label.FAITHFUL, 0), (Label.MISLEADING, 1)):
        draw(label)
        assert again(run, tmp_path) == code
    draw(Label.FAITHFUL)
    assert again(run, tmp_path, "--criteria", str(copy)) == 1
    assert "the FAIL of judgement 2 by the same judge stands" in (tmp_path / "m.md").read_text()
    for number in (2, 3):
        (run / f"scores-{number}.parquet").unlink()
    assert again(run, tmp_path) == 1, "nor is it undone by throwing its scores away"


def test_criteria_of_the_same_name_that_became_stricter_are_applied_to_the_first(run, draw, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(LAX)
    assert cli.main(["gate", str(run), "--criteria", str(mine)]) == 0
    mine.write_text(SHIPPED + "\n# mine\n")
    draw(Label.FAITHFUL)
    assert again(run, tmp_path, "--criteria", str(mine)) == 1
    assert json.loads((run / "verdict-by-mine.json").read_text())["verdict"] == "FAIL"
    mine.write_text(LAX)
    assert again(run, tmp_path, "--criteria", str(mine)) == 0, "by these no judgement has failed"


def test_a_damaged_verdict_hides_no_fail(run, draw, tmp_path):
    (run / "verdict.json").write_text("{")
    draw(Label.FAITHFUL)
    assert again(run, tmp_path) == 1
    (run / SCORES_FILE).write_bytes(b"PAR1 no")
    assert again(run, tmp_path) == 1, "the written verdict says it, where the scores cannot be read"


def test_a_fail_against_a_baseline_that_was_judged_again_stands_too(draw, tmp_path):
    run, base = unjudged(tmp_path), unjudged(tmp_path / "before").rename(tmp_path / "base")
    mine, copy = tmp_path / "mine.toml", tmp_path / "copy.toml"
    mine.write_text(LAX + '[baseline]\npool = "class"\nmin_n = 10\nmisleading_margin = 0.1\nf1_margin = 0.1\n')
    copy.write_text(mine.read_text() + "# a copy\n")
    draw(Label.FAITHFUL, Label.MISLEADING)
    assert cli.main(["gate", str(run), "--criteria", str(mine), "--baseline", str(base)]) == 0
    draw(Label.MISLEADING, Label.FAITHFUL)
    assert again(run, tmp_path, "--criteria", str(mine), "--baseline", str(base)) == 1
    draw(Label.FAITHFUL, Label.MISLEADING)
    assert again(run, tmp_path, "--criteria", str(copy), "--baseline", str(base)) == 1
    assert "the FAIL of judgement 2 by the same judge stands" in (tmp_path / "m.md").read_text()


@pytest.mark.slow
def test_without_its_first_scores_a_run_is_judged_once_and_the_report_shows_that(run, draw):
    (run / SCORES_FILE).unlink()
    draw(Label.FAITHFUL)
    for _ in range(3):
        assert cli.main(["gate", str(run)]) == 1
    assert [file.name for file in run.glob("scores*")] == ["scores-2.parquet"]
    assert cli.main(["report", str(run)]) == 0
    (run / "verdict.json").unlink()
    assert cli.main(["report", str(run)]) == 0


def test_whose_scores_they_are_is_asked_before_the_answers_are_judged(draw, tmp_path, monkeypatch):
    run, told = unjudged(tmp_path), []
    draw(Label.FAITHFUL)
    judge = harness.judge.judge_of({}, Same())

    def noting(cases, similarities):
        told.append("judged")
        return judge(cases, similarities)

    monkeypatch.setattr(harness.judge, "judge_of", lambda meta, scorer: noting)
    monkeypatch.setattr(harness.judge, "identity_of", lambda meta: told.append("asked") or {"model": "small"})
    assert cli.main(["gate", str(run)]) == 0
    assert told == ["asked", "judged"]


@pytest.mark.parametrize("said", [b"{", b"\xff", b"3"])
def test_a_file_that_says_nonsense_of_its_judge_cannot_be_read(run, said):
    table = pq.read_table(run / SCORES_FILE)
    pq.write_table(table.replace_schema_metadata({IDENTITY: said}), run / SCORES_FILE)
    with pytest.raises(ResultError, match="what it says of its judge is damaged"):
        judge_in(run / SCORES_FILE)


def test_a_comparison_that_judges_again_leaves_the_scores_of_both_runs(run, draw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = run_folder(tmp_path / "other", ROWS).path
    before = content(run), content(other)
    draw(Label.FAITHFUL)
    assert cli.main(["ab", str(run), str(other), "--judge-again"]) in (0, 3)
    after = content(run), content(other)
    assert all({name: now[name] for name in then} == then for then, now in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "argv",
    [
        ["gate", "{run}", "--baseline", "{other}"],
        ["gate", "{run}", "--baseline", "{other}", "--judge-again"],
        ["ab", "{run}", "{other}"],
        ["ab", "{run}", "{other}", "--judge-again"],
    ],
)
def test_nothing_is_judged_in_a_folder_that_another_one_writes(run, draw, tmp_path, capsys, argv):
    other = run_folder(tmp_path / "other", ROWS)
    if "--judge-again" not in argv:
        (other.path / SCORES_FILE).unlink()
    draw(Label.FAITHFUL)
    with only_writer(other):
        before = content(other.path)
        assert cli.main([word.format(run=run, other=other.path) for word in argv]) == 2
        assert "is writing this run folder" in capsys.readouterr().err
        assert content(other.path) == before


def test_a_folder_of_which_the_scores_are_only_read_is_not_held(tmp_path):
    folder = run_folder(tmp_path / "r", ROWS)
    with only_writer(folder):
        assert judge_locked(folder.path, again=False) == SCORES_FILE


def test_a_run_is_not_judged_again_as_its_own_baseline(run, draw, tmp_path, capsys):
    draw(Label.FAITHFUL)
    before = content(run)
    assert cli.main(["gate", str(run), "--judge-again", "--baseline", str(run)]) == 2
    assert "a run cannot be its own baseline" in capsys.readouterr().err
    assert content(run) == before


def test_a_judge_is_known_by_its_rules_and_weights_and_an_unknown_one_differs_from_nobody(tmp_path):
    (tmp_path / "risk.json").write_text("1")
    one = verdict_digest(tmp_path)
    (tmp_path / "test.jsonl").write_text("labelled answers are no part of it")
    assert verdict_digest(tmp_path) == one
    (tmp_path / "risk.json").write_text("2")
    assert verdict_digest(tmp_path) != one
    assert differing({}, {"verdict": "a"}) == []
    assert differing({"verdict": "a", "nli": "x"}, {"verdict": "a"}) == ["nli"]


@pytest.mark.slow
@pytest.mark.models
def test_the_judge_of_the_packaged_profile_has_a_revision():
    assert {*identity_of({"profile": "cpu"})} == {"verdict", "encoder"}


def test_scores_say_whose_they_are(run):
    assert judge_in(run / SCORES_FILE) == {"model": "small"}
