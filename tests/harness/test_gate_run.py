import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from evalsets.jsonl import load_set
from harness import cli
from harness.criteria import shipped
from harness.errors import ConfigError, NothingJudged, ResultError
from harness.fidelity.case import NO_BASELINE, Case, Judgement, Label, Similarity
from harness.gate_run import gate_run
from harness.judge import device_of, judge_run, judged_through, read_scores, write_scores
from harness.sent_items import items_sha256
from harness.store import RunFolder
from harness.trial import Begun, Block, Outcome, Trial

ITEMS = load_set("support")
META = {"evalset": "support", "items_sha256": items_sha256(ITEMS), "profile": "cpu"}


class SameText:
    """Stands for the model: 1 for the same text, else 0.8."""

    def __init__(self, flags=()):
        self.pairs, self.flags = [], flags

    def score(self, pairs):
        self.pairs += pairs
        values = [1.0 if r == c else 0.8 for r, c in pairs]
        return [
            Similarity(bertscore_p=v, bertscore_r=v, bertscore_f1=v, cosine=v, composite=v, flags=self.flags)
            for v in values
        ]


def judge(cases, similarities):
    labels = [Label.MISLEADING if "WRONG" in case.candidate else Label.FAITHFUL for case in cases]
    return [
        Judgement(id=c.id, label=label, risk=0.5, reasons=(f"in {c.lang}",), similarity=s)
        for c, label, s in zip(cases, labels, similarities, strict=True)
    ]


def trial(item, fault, **more):
    block = "steady#0" if fault == "none" else f"{fault}#0"
    path = "secondary" if fault == "hang" else "extract"
    healthy = {"level": "healthy"} if fault == "none" else {"level": "degraded", "path": path}
    given = {"outcome": Outcome.OK, "status": 200, "answer": item.reference, **healthy, **more}
    return Trial(
        id=f"{fault}/{item.id}",
        experiment=fault,
        block=block,
        fault=fault,
        target=None,
        item_id=item.id,
        lang=item.lang,
        stream=False,
        **given,
    )


def run_folder(path, trials, *, meta=META, fired=True):
    folder = RunFolder.create(path, meta)
    for each in trials:
        folder.append(each)
    for name in sorted({each.block for each in trials}):
        fault = next(each.fault for each in trials if each.block == name)
        none = fault == "none"
        folder.close_block(
            Block(
                id=name,
                experiment=fault,
                fault=fault,
                target=None,
                trials=sum(each.block == name for each in trials),
                steady=True,
                fired=None if none else fired,
                recovered=None if none else True,
            )
        )
    return folder


@pytest.fixture
def good(tmp_path):
    trials = [trial(item, fault) for fault in ("none", "kill", "hang") for item in ITEMS[:30]]
    folder = run_folder(tmp_path / "good", trials)
    judge_run(folder.path, ITEMS, SameText(), judge)
    return folder


def gated(path, **more):
    out = io.StringIO()
    code = gate_run(path, shipped("cpu"), out=out, **more)
    return code, out.getvalue()


def test_a_good_run_passes_and_leaves_its_verdict(good, tmp_path):
    code, said = gated(good.path, markdown=tmp_path / "m.md", junit=tmp_path / "j.xml")
    assert code == 0
    assert said.splitlines()[-2].startswith("Plan B is shown to mislead no more than the gate allows.")
    assert said.splitlines()[-1].startswith("PASS: all")
    verdict = json.loads((good.path / "verdict.json").read_text())
    assert (verdict["verdict"], verdict["exit_code"]) == ("PASS", 0)
    assert {"name", "verdict", "reason", "needed_n"} <= set(verdict["checks"][0])
    suite = ET.parse(good.path / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert (tmp_path / "j.xml").read_bytes() == (good.path / "junit.xml").read_bytes()
    assert (tmp_path / "m.md").read_text().startswith("## PASS: good")


def test_a_run_whose_answers_mislead_fails_with_a_failure_in_the_xml(tmp_path):
    bad = [trial(item, "kill", answer=f"WRONG {item.id}") for item in ITEMS[:30]]
    folder = run_folder(tmp_path / "bad", [*(trial(item, "none") for item in ITEMS[:30]), *bad])
    judge_run(folder.path, ITEMS, SameText(), judge)
    code, said = gated(folder.path)
    assert code == 1
    assert "30 of 30 items (100.0%)" in said
    assert ET.parse(folder.path / "junit.xml").find(".//failure") is not None


def test_a_block_that_never_ended_is_inconclusive_and_named(good):
    for item in ITEMS[:7]:
        good.append(trial(item, "latency", answer="WRONG"))
    judge_run(good.path, ITEMS, SameText(), judge)
    code, _ = gated(good.path)
    assert code == 3
    verdict = json.loads((good.path / "verdict.json").read_text())
    (check,) = (check for check in verdict["checks"] if check["name"] == "every block ended")
    assert check["verdict"] == "INCONCLUSIVE"
    assert "latency#0: begun and never ended" in check["reason"]
    assert "7 answers of it do not count" in check["reason"]


def test_a_block_that_an_exception_ended_is_inconclusive_and_says_which(good):
    begun = Begun("latency#0", "latency", "latency", "primary")
    for item in ITEMS[:7]:
        good.append(trial(item, "latency", answer="WRONG"))
    good.close_block(begun.cut_short(7, "cut short by RuntimeError: the client broke"))
    judge_run(good.path, ITEMS, SameText(), judge)
    code, said = gated(good.path)
    assert code == 3
    assert "the client broke" in said


def test_an_answer_that_is_judged_twice_is_an_error_and_judging_anew_mends_it(good):
    file = good.path / "scores.parquet"
    rows = list(read_scores(file).values())
    write_scores(file, [{**rows[0], "label": "misleading"}, *rows])
    with pytest.raises(ResultError, match=f"trial '{rows[0]['trial_id']}' is judged more than once there"):
        gated(good.path)
    file.unlink()
    judge_run(good.path, ITEMS, SameText(), judge)
    assert gated(good.path)[0] == 0


def test_an_unfired_fault_is_inconclusive_and_an_error_in_the_xml(tmp_path):
    trials = [trial(item, fault) for fault in ("none", "kill") for item in ITEMS[:30]]
    folder = run_folder(tmp_path / "r", trials, fired=False)
    judge_run(folder.path, ITEMS, SameText(), judge)
    code, _ = gated(folder.path)
    assert code == 3
    assert ET.parse(folder.path / "junit.xml").find(".//error").get("type") == "INCONCLUSIVE"


def test_the_same_answer_under_two_faults_is_judged_once(tmp_path):
    trials = [trial(ITEMS[0], fault) for fault in ("kill", "hang", "latency")]
    folder = run_folder(tmp_path / "r", trials)
    scorer = SameText()
    judge_run(folder.path, ITEMS, scorer, judge)
    assert len(scorer.pairs) == 1
    assert {row["label"] for row in read_scores(folder.path / "scores.parquet").values()} == {"faithful"}


def test_scores_of_an_encoder_without_a_baseline_decide_nothing(tmp_path):
    trials = [trial(item, fault) for fault in ("none", "kill") for item in ITEMS[:30]]
    folder = run_folder(tmp_path / "r", [replace(one, path="secondary") for one in trials])
    judge_run(folder.path, ITEMS, SameText((NO_BASELINE,)), judge)
    code, said = gated(folder.path)
    assert code == 3
    assert "`truefall baseline`" in said


class Half:
    """Stands for the packaged encoder."""

    def score(self, pairs):
        return [Similarity(bertscore_p=0.5, bertscore_r=0.5, bertscore_f1=0.5, cosine=0.5, composite=0.5)] * len(pairs)


def test_the_verdict_looks_through_its_own_eyes_and_the_scores_stay_those_of_the_scorer():
    seen = []

    def noting(cases, similarities):
        seen.extend(one.bertscore_f1 for one in similarities)
        return judge(cases, similarities)

    case = Case(id="1", reference="r", candidate="r")
    (found,) = judged_through(Half(), noting, [case], SameText().score([("r", "r")]))
    assert (seen, found.similarity.bertscore_f1) == ([0.5], 1.0)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_verdict_runs_where_the_run_ran_and_beside_another_encoder_has_eyes_of_its_own(
    tmp_path, monkeypatch, device
):
    asked = []

    def verdict(device, *, eyes):
        asked.append((device, eyes))
        return judge

    monkeypatch.setattr("harness.judge.verdict_of", verdict)
    monkeypatch.setattr("harness.judge.eyes_beside", lambda scorer, device: f"eyes on {device}")
    folder = run_folder(tmp_path / "r", [trial(ITEMS[0], "kill")], meta={**META, "device": device})
    judge_run(folder.path, ITEMS, SameText())
    assert asked == [(device, f"eyes on {device}")]
    assert device_of({}) == "cpu"


@pytest.mark.parametrize(
    ("more", "label"),
    [
        ({"outcome": Outcome.REFUSED, "status": 429, "answer": None}, "abstained"),
        ({"outcome": Outcome.DEGRADED, "status": 206, "answer": "try shorter input"}, "abstained"),
        ({"outcome": Outcome.DEGRADED, "status": 200, "answer": None, "error": "cut"}, "abstained"),
        ({"outcome": Outcome.DEGRADED, "status": 200, "answer": "WRONG so far", "error": "cut"}, "misleading"),
        ({"outcome": Outcome.FAILED, "status": 500, "answer": None}, None),
        ({"outcome": Outcome.UNANSWERED, "status": None, "answer": None}, None),
        ({"outcome": Outcome.OK, "answer": None}, "faithful"),
        ({"item_id": "gone"}, None),
    ],
)
def test_what_is_openly_no_answer_abstains_and_what_never_came_is_not_judged(tmp_path, more, label):
    base = trial(ITEMS[0], "kill").to_row()
    folder = run_folder(tmp_path / "r", [Trial.from_row({**base, **more})])
    judge_run(folder.path, ITEMS, SameText(), judge)
    assert read_scores(folder.path / "scores.parquet")[base["id"]]["label"] == label


def test_a_run_without_a_whole_block_is_nothing_judged(tmp_path):
    folder = RunFolder.create(tmp_path / "r", META)
    with pytest.raises(NothingJudged):
        judge_run(folder.path, ITEMS, SameText(), judge)
    with pytest.raises(NothingJudged):
        gated(folder.path)


def test_a_crash_in_the_run_fails_it(tmp_path):
    trials = [trial(item, fault) for fault in ("none", "kill") for item in ITEMS[:30]]
    trials.append(trial(ITEMS[30], "kill", outcome=Outcome.FAILED, status=500, answer=None, level=None))
    folder = run_folder(tmp_path / "r", trials)
    judge_run(folder.path, ITEMS, SameText(), judge)
    code, said = gated(folder.path)
    assert code == 1
    assert "every request is answered" in said.splitlines()[-1]


STRICTER = shipped("cpu").read_text().replace("\nmisleading = 0.10", "\nmisleading = 0.001", 1)


def verdicts(folder):
    files = [*folder.glob("verdict*.json"), *folder.glob("junit*.xml")]
    return {file.name: file.read_bytes() for file in sorted(files)}


def test_other_criteria_and_a_baseline_are_judged_beside_the_verdict_of_the_run(good, tmp_path):
    assert gated(good.path)[0] == 0
    own = verdicts(good.path)
    assert list(own) == ["junit.xml", "verdict.json"]
    mine = tmp_path / "mine.toml"
    mine.write_text(STRICTER)
    argv = ["gate", str(good.path), "--criteria", str(mine), "--junit", str(tmp_path / "j.xml")]
    assert cli.main([*argv, "--markdown", str(tmp_path / "m.md")]) == 3
    trials = [trial(item, fault) for fault in ("none", "kill") for item in ITEMS[:30]]
    earlier = run_folder(tmp_path / "earlier", trials)
    judge_run(earlier.path, ITEMS, SameText(), judge)
    _, said = gated(good.path, baseline=earlier.path)
    assert f"Written to {good.path / 'verdict-by-cpu-against-earlier.json'}; the run's own verdict" in said

    after = verdicts(good.path)
    assert {name: after[name] for name in own} == own
    beside = {"verdict-by-mine.json": "INCONCLUSIVE", "verdict-by-cpu-against-earlier.json": "PASS"}
    assert {name: json.loads(after[name])["verdict"] for name in beside} == beside
    assert after["junit-by-mine.xml"] == (tmp_path / "j.xml").read_bytes()
    assert ET.fromstring(after["junit-by-mine.xml"]).get("name") == "truefall gate good, by mine.toml"
    assert (tmp_path / "m.md").read_text().startswith("## INCONCLUSIVE: good, by mine.toml")


def test_the_end_of_a_run_and_a_second_judgement_by_the_same_criteria_are_the_verdict_of_the_run(good, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(STRICTER)
    assert cli.main(["gate", str(good.path), "--criteria", str(mine)]) == 3  # the first verdict of this run
    own = verdicts(good.path)
    assert list(own) == ["junit.xml", "verdict.json"]
    (good.path / "verdict.json").write_text(json.dumps({**json.loads(own["verdict.json"]), "verdict": "FAIL"}))
    assert cli.main(["gate", str(good.path), "--criteria", str(mine)]) == 3
    assert verdicts(good.path) == own
    assert gated(good.path, ends_run=True)[0] == 0
    assert json.loads(verdicts(good.path)["verdict.json"])["criteria"] == "cpu.toml"


def test_a_baseline_run_with_other_items_or_the_run_itself_is_refused(good, tmp_path):
    other = run_folder(tmp_path / "other", [trial(ITEMS[0], "none")], meta={**META, "items_sha256": "y"})
    with pytest.raises(ConfigError, match="items_sha256 is 'y' there"):
        gated(good.path, baseline=other.path)
    with pytest.raises(ConfigError, match="its own baseline"):
        gated(good.path, baseline=good.path)


def test_a_baseline_that_another_judge_judged_decides_nothing(good, tmp_path):
    trials = [trial(item, fault) for fault in ("none", "kill", "hang") for item in ITEMS[:30]]
    earlier = run_folder(tmp_path / "earlier", trials)
    judge_run(earlier.path, ITEMS, SameText(), judge)
    rows = read_scores(earlier.path / "scores.parquet").values()
    for theirs, ours, code in (("1", "1", 0), ("1", "2", 3)):
        write_scores(earlier.path / "scores.parquet", list(rows), {"verdict": theirs})
        write_scores(
            good.path / "scores.parquet", list(read_scores(good.path / "scores.parquet").values()), {"verdict": ours}
        )
        found, said = gated(good.path, baseline=earlier.path)
        assert (found, "--judge-again" in said) == (code, code == 3)


def test_a_run_that_is_not_judged_or_damaged_says_so(good):
    (good.path / "scores.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ResultError, match=r"scores\.parquet: cannot be read"):
        gated(good.path)
    (good.path / "scores.parquet").unlink()
    with pytest.raises(ResultError, match="judges the answers where no scores are left"):
        gated(good.path)


def test_scores_are_written_as_any_other_file_of_a_run(good, tmp_path):
    elsewhere, scores = tmp_path / "elsewhere.parquet", good.path / "scores.parquet"
    scores.rename(elsewhere)
    scores.symlink_to(elsewhere)
    judge_run(good.path, ITEMS, SameText(), judge)
    assert scores.is_symlink()
    assert read_scores(elsewhere)
    scores.unlink()
    scores.mkdir()
    with pytest.raises(ResultError, match=r"scores\.parquet: cannot write: Is a directory"):
        judge_run(good.path, ITEMS, SameText(), judge)
    assert not list(good.path.glob(".*"))


def test_rows_that_got_lost_are_noticed_before_anything_is_decided(good):
    rows = good.trials_file.read_text().splitlines()
    good.trials_file.write_text("\n".join(rows[:-1]) + "\n")
    with pytest.raises(ResultError, match=r"trials\.jsonl: block .* 29 of its 30 trials are there; rows were lost"):
        gated(good.path)


def test_the_command_takes_the_criteria_of_the_profile_and_ends_with_the_verdict(good, capsys):
    assert cli.main(["gate", str(good.path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("PASS")
    assert json.loads((good.path / "verdict.json").read_text())["criteria"].endswith("cpu.toml")


@pytest.mark.parametrize(("key", "value"), [("seed", 1), ("profile", "gpu"), ("max_tokens", 4000)])
def test_a_baseline_with_another_seed_models_or_length_is_refused(good, tmp_path, key, value):
    other = run_folder(tmp_path / "other", [trial(ITEMS[0], "none")], meta={**META, key: value})
    with pytest.raises(ConfigError, match=f"{key} is {value!r} there and .* share items, seed and models"):
        gated(good.path, baseline=other.path)


@pytest.mark.slow
def test_a_baseline_that_proves_nothing_is_no_measure(good, tmp_path):
    trials = [trial(item, fault) for fault in ("none", "kill", "hang") for item in ITEMS[:30]]
    unfired = run_folder(tmp_path / "unfired", trials, fired=False)
    soiled = run_folder(tmp_path / "soiled", trials, meta={**META, "leftovers": ["latency on primary"]})
    for earlier in (unfired, soiled):
        judge_run(earlier.path, ITEMS, SameText(), judge)
    assert gated(good.path, baseline=unfired.path)[0] == 3
    code, said = gated(good.path, baseline=soiled.path)
    assert (code, "latency on primary: was on when it began" in said) == (3, True)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["nowhere"], "not a run folder"),
        (["RUN", "--criteria", "none.toml"], "no such criteria file"),
        (["RUN", "--baseline", "nowhere"], "not a run folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(good, capsys, argv, says):
    assert cli.main(["gate", *(str(good.path) if word == "RUN" else word for word in argv)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("truefall gate: ")
    assert says in line


def test_a_profile_without_criteria_asks_for_them(tmp_path, capsys):
    folder = run_folder(tmp_path / "r", [trial(ITEMS[0], "none")], meta={**META, "profile": "mine"})
    assert cli.main(["gate", str(folder.path)]) == 2
    assert "give --criteria FILE" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_whose_faults_degraded_no_answer_in_one_language_is_undecided(tmp_path):
    zh = next(item for item in ITEMS if item.lang == "zh")
    trials = [trial(item, fault) for fault in ("none", "kill", "hang") for item in ITEMS[:30]]
    folder = run_folder(tmp_path / "r", [*trials, trial(zh, "none")], meta={**META, "evalset": "gone.jsonl"})
    judge_run(folder.path, ITEMS, SameText(), judge)
    code, said = gated(folder.path)
    assert (code, "no degraded answer in zh" in said) == (3, True)
