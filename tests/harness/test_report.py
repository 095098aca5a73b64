"""The report of a run made by code: what it shows first, what it escapes, and that it needs nothing from outside."""

import re
from html.parser import HTMLParser

import pytest
from run_builder import Row, run_folder

from evalsets.jsonl import load_set
from harness import cli
from harness.errors import NothingJudged, ResultError
from harness.report import write_report
from harness.report.page import render, totals
from harness.report.rows import read_report_data
from harness.store import RunFolder
from harness.trial import Outcome

ITEMS = load_set("support")
ZH = next(item for item in ITEMS if item.lang == "zh")
HTML = "<script>alert(1)</script> & <b>"
NOTHING = {"label": None, "answer": None, "path": None}  # nobody answered
TEMPLATE_LIE = "Refunds are always possible."
FAIL = {
    "verdict": "FAIL",
    "exit_code": 1,
    "summary": "1 of 2 checks failed",
    "checks": [{"verdict": "FAIL", "group": "run", "name": "a <check>", "reason": "4 of 9"}],
}


def all_kinds() -> list[Row]:
    """Healthy, degraded, repeated, Chinese, unjudged, refused, failed, never answered, and HTML in an answer."""
    lie = {"fault": "kill", "label": "misleading", "answer": TEMPLATE_LIE, "path": "template"}
    return [
        *(Row(item=item) for item in ITEMS[:12]),
        *(Row(item=item, **lie, risk=0.7, reasons=("polarity: “always”",)) for item in ITEMS[:3]),
        Row(item=ZH, fault="kill", label="misleading", answer="北京今天没有下雨", path="secondary", risk=0.99),
        Row(item=ITEMS[4], fault="kill", label="misleading", answer=HTML, path="secondary"),
        Row(item=ITEMS[5], fault="kill", label="abstained", answer="We cannot answer now.", path="template"),
        Row(item=ITEMS[6], fault="kill", outcome=Outcome.UNANSWERED, latency_ms=None, **NOTHING),
        Row(item=ITEMS[7], fault="hang", outcome=Outcome.FAILED, sent_at_s=None, **NOTHING),
        Row(item=ITEMS[8], fault="hang", label="abstained", answer=None, outcome=Outcome.REFUSED, path="refused"),
        Row(item=ITEMS[9], fault="hang", score=None, path="secondary", latency_ms=0.0),
        Row(item=ITEMS[10], fault="hang", label=None, answer="half an ans", path="secondary"),
    ]  # fmt: skip


class Page(HTMLParser):
    """Every attribute that could make a browser fetch something, and the text outside of tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        named = {"src", "href", "xlink:href", "data", "action", "srcset", "poster"}
        self.fetched += [value for name, value in attrs if name in named and value and not value.startswith("#")]

    def handle_data(self, data):
        self.text += f"{data} "


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = run_folder(tmp_path_factory.mktemp("all") / "run", all_kinds(), verdict=FAIL, unfired=["hang"])
    return read_report_data(folder.path, ITEMS)


@pytest.fixture(scope="module")
def page(data):
    return render(data)


@pytest.mark.slow
def test_a_misleading_answer_that_many_got_comes_first_with_its_count(data, page):
    shown = Page(page).text
    assert [wrong.times for wrong in data.wrong_answers()] == [3, 1, 1]
    assert shown.index("3 requests got this answer.") < shown.index("北京今天没有下雨") < shown.index("alert(1)")
    assert shown.count(TEMPLATE_LIE) == 1
    assert "polarity: “always”" in shown


@pytest.mark.slow
def test_the_banner_says_what_the_verdict_means_and_what_to_do_next(page):
    banner = " ".join(Page(page).text.split()).split("requests")[0]
    assert "Do not release: plan B breaks what the gate demands. The failed checks" in banner


@pytest.mark.slow
def test_html_in_an_answer_is_shown_and_never_run(page):
    assert "script" not in Page(page).tags
    assert "<script>alert(1)</script> & <b>" in Page(page).text
    assert "a <check>" in Page(page).text


@pytest.mark.slow
def test_the_page_fetches_nothing_and_its_plots_hold_no_nan(page):
    assert Page(page).fetched == []
    assert not re.search(r"url\(\s*['\"]?(?!#)|@import", page)
    plots = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(plots) == 3
    for plot in plots:
        assert not re.search(r"\b(nan|inf)\b", plot, re.IGNORECASE)


@pytest.mark.slow
def test_the_reference_stands_beside_the_answer_and_chinese_stays_chinese(page):
    assert ZH.reference in Page(page).text


def test_the_first_line_counts_every_kind(data):
    assert totals(data) == {
        "answers": 23, "degraded": 9, "failed": 2, "misleading": 5, "abstained": 2, "faithful": 1, "unjudged": 3,
    }  # fmt: skip


@pytest.mark.slow
def test_what_was_not_judged_is_said_and_left_out_of_the_rate(page):
    shown = " ".join(Page(page).text.split())
    assert "3 not judged" in shown
    assert "template kill 4 3 of 4" in shown
    assert "hang 2 0 of 1" in shown  # secondary: one of two was judged


@pytest.mark.parametrize("level", [None, "healthy"])
def test_a_fallback_that_does_not_say_that_it_is_one_is_shown_among_the_misleading(tmp_path, level):
    rows = [Row(item=ITEMS[0]), Row(item=ITEMS[0], fault="kill", label="misleading", answer="no", level=level)]
    data = read_report_data(run_folder(tmp_path / "run", rows).path, ITEMS)
    assert [wrong.row.trial.fault for wrong in data.wrong_answers()] == ["kill"]
    assert data.wrong_of_healthy() == []


def test_a_healthy_answer_that_misleads_without_a_fault_is_not_held_against_plan_b(tmp_path):
    rows = [Row(item=ITEMS[0], label="misleading"), Row(item=ITEMS[0], fault="kill", label="abstained")]
    data = read_report_data(run_folder(tmp_path / "run", rows).path, ITEMS)
    assert data.wrong_answers() == []
    assert len(data.wrong_of_healthy()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        Row(item=ITEMS[0]),
        Row(item=ITEMS[0], latency_ms=None, sent_at_s=None),
        Row(item=ITEMS[0], fault="kill", outcome=Outcome.UNANSWERED, latency_ms=None, **NOTHING),
    ],
)  # fmt: skip
def test_a_run_of_one_request_has_a_report_too(tmp_path, row):
    folder = run_folder(tmp_path / "run", [row])
    assert write_report(folder.path).read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_an_item_that_the_set_no_longer_has_leaves_question_and_reference_blank(tmp_path):
    folder = run_folder(tmp_path / "run", [Row(item=ITEMS[0], fault="kill", label="misleading", answer="x")])
    assert "1" in render(read_report_data(folder.path, ITEMS[1:]))


def test_an_empty_run_is_refused_and_leaves_no_page(tmp_path, capsys):
    folder = run_folder(tmp_path / "run", [])
    with pytest.raises(NothingJudged, match="no trial of a whole block"):
        write_report(folder.path)
    assert cli.main(["report", str(folder.path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (folder.path / "report.html").exists()


@pytest.mark.parametrize("missing", ["scores.parquet", "verdict.json"])
def test_a_run_that_is_not_judged_says_how_to_judge_it(tmp_path, missing):
    folder = run_folder(tmp_path / "run", [Row(item=ITEMS[0])])
    (folder.path / missing).unlink()
    with pytest.raises(ResultError, match=r"truefall gate"):
        write_report(folder.path)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(ResultError, match=r"run\.json"):
        write_report(tmp_path)
    assert not RunFolder(path=tmp_path).trials_file.exists()


JUDGED = {
    "set": "short answers", "group": "all", "judge": "this verdict", "lies": 9, "truths": 3,
    "auroc": [0.97, 0.91, 1.0], "accepted": [0.03, 0.0, 0.1], "rejected": [0.12, 0.05, 0.2], "recognised": None,
}  # fmt: skip


def test_how_good_the_judge_is_stands_in_the_report(tmp_path):
    folder = run_folder(tmp_path / "run", all_kinds(), verdict=FAIL)
    assert "How good the judge is" not in render(read_report_data(folder.path, ITEMS))
    folder.write_json("judge.json", {"judges": [JUDGED, {**JUDGED, "group": "zh", "auroc": None}]})
    text = " ".join(Page(render(read_report_data(folder.path, ITEMS))).text.split())
    assert "How good the judge is" in text
    assert "all 9 / 3 this verdict 0.97 (0.91–1.00) 3% (0–10) 12% (5–20) –" in text
    assert "zh 9 / 3 this verdict – 3%" in text


def test_modes_and_kinds_of_perturbation_are_folded_below_the_table_of_their_set(tmp_path):
    folder = run_folder(tmp_path / "run", all_kinds(), verdict=FAIL)
    sets = [{**JUDGED, "set": name} for name in ("short answers", "semantic collapse", "generated")]
    modes = [
        {**sets[set_], "group": mode, "judge": judge, "lies": 4}
        for set_, mode in ((1, "state-coupling"), (1, "hollow-output"), (2, "numbers"))
        for judge in ("this verdict", "BERTScore F1", "cosine")
    ]
    folder.write_json("judge.json", {"judges": sets, "modes": modes})
    page = render(read_report_data(folder.path, ITEMS))
    tables = page[page.index("How good the judge is") :]
    folded = [" ".join(Page(one).text.split()) for one in re.findall(r"<details>.*?</details>", tables, re.DOTALL)]
    assert [one.split(" Few lies")[0] for one in folded[:2]] == ["By mode: 2", "By kind of perturbation: 1"]
    assert "state-coupling 4 / 3 this verdict 0.97 (0.91–1.00) 3% (0–10) 12% (5–20) – BERTScore F1" in folded[0]
    assert "hollow-output 4 / 3" in folded[0]
    assert "numbers 4 / 3" in folded[1]
    assert "cosine" not in "".join(folded), "small: the verdict, and the score that it replaces"
    assert tables.index("semantic collapse") < tables.index("state-coupling") < tables.index("<h3>generated")


RISK = {  # lies at a high risk, truths at a low one, and a few at 0.5 that all mislead
    "set": "short answers", "ece": 0.05, "brier": 0.02,
    "bins": [
        {"count": 6, "mean_risk": 0.03, "misleading": 0.0, "low": 0.0, "high": 0.39},
        {"count": 3, "mean_risk": 0.5, "misleading": 1.0, "low": 0.44, "high": 1.0},
        {"count": 9, "mean_risk": 0.97, "misleading": 1.0, "low": 0.7, "high": 1.0},
    ],
}  # fmt: skip


@pytest.mark.slow
def test_whether_the_risk_comes_true_is_drawn_below_how_good_the_judge_is(tmp_path):
    folder = run_folder(tmp_path / "run", all_kinds(), verdict=FAIL)
    folder.write_json("judge.json", {"judges": [JUDGED], "reliability": [RISK, {**RISK, "set": "generated"}]})
    page = render(read_report_data(folder.path, ITEMS))
    text = " ".join(Page(page).text.split())
    assert text.index("How good the judge is") < text.index("Does the risk come true?")
    plot = re.findall(r"<svg.*?</svg>", page, re.DOTALL)[-1]
    assert "off by 0.050 on average (ECE)" in plot
    assert plot.count("share that really misleads") == 2
    assert Page(page).fetched == []


def test_a_judge_measured_before_there_were_diagrams_has_its_table_all_the_same(tmp_path):
    folder = run_folder(tmp_path / "run", all_kinds(), verdict=FAIL)
    folder.write_json("judge.json", {"judges": [JUDGED]})
    data = read_report_data(folder.path, ITEMS)
    assert (len(data.judges), data.reliability) == (1, ())
