"""Put a report together: data, plots and the template into `report.html`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from evalsets.jsonl import load_set
from harness.decision import MEANING, NEXT, CellFigures, titled
from harness.gate_markdown import figures
from harness.report.plots import COLOURS, latency_plot, reliability_plot, risk_plot, timeline_plot
from harness.report.rows import Cell, ReportData, WrongAnswer, read_report_data
from harness.sent_items import require_items_as_sent
from harness.stats import wilson
from harness.store import RunFolder
from harness.whole_file import write_whole

TEMPLATE = Path(__file__).with_name("page.html.j2")
SHOWN_WRONG = 12
TWO_SIDED_95 = 0.975  # each of the two bounds
LABELS = ("faithful", "abstained", "misleading")
JUDGES_OF_MODES = ("this verdict", "BERTScore F1")  # the others do about as F1 does; all are in judge.json
TRANSPORT_WORDS = {"PASS": "pass", "FAIL": "fail"}


def write_report(run: Path) -> Path:
    """Write `report.html` into a judged run folder and return its path.

    Raises ResultError when it is not one, or the references of now are not those that its answers were judged by.
    """
    meta = RunFolder.open(run).meta()
    items = load_set(str(meta.get("evalset", "support")))
    require_items_as_sent(meta, items, of=run)
    page = render(read_report_data(run, items))
    out = run / "report.html"
    write_whole(out, page)
    return out


def render(data: ReportData) -> str:
    """The whole page."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    cells, wrong = data.cells(), data.wrong_answers()
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(
        meta=data.meta,
        verdict=data.verdict,
        meaning=MEANING.get(data.verdict["verdict"], ""),
        next_step=NEXT.get(data.verdict["verdict"], ""),
        checks=[{**check, "title": titled(check["group"], check["name"])} for check in data.verdict["checks"]],
        gate_cells=[gate_cell(cell) for cell in data.verdict.get("cells", [])],
        totals=totals(data),
        cells=[cell_row(cell) for cell in cells],
        wrong=[wrong_row(wrong) for wrong in wrong[:SHOWN_WRONG]],
        wrong_total=len(wrong),
        wrong_healthy=[wrong_row(wrong) for wrong in data.wrong_of_healthy()[:3]],
        blocks=[block for block in data.blocks if block.fired is not None],
        steps=data.step_s,
        observables=data.observables,
        judges=judge_tables(data.judges),
        judge_modes=judge_tables([row for row in data.judge_modes if row["judge"] in JUDGES_OF_MODES]),
        reliability_svg=reliability_plot(data.reliability) if data.reliability else "",
        leftovers=data.meta.get("leftovers", []),
        colours=COLOURS,
        latency_svg=latency_plot(cells),
        risk_svg=risk_plot(cells),
        timeline_svg=timeline_plot(data),
    )


def gate_cell(cell: Mapping[str, Any]) -> list[str]:
    """One line of the gate's own table of cells, in the words of its Markdown."""
    found = CellFigures(**cell)
    return [found.path, found.fault, found.lang, *figures(found)]


def totals(data: ReportData) -> dict[str, Any]:
    """The figures of the first line."""
    degraded = data.plan_b()
    failed = [row for row in data.rows if row.trial.outcome in ("failed", "unanswered")]
    return {
        "answers": len(data.rows),
        "degraded": len(degraded),
        "failed": len(failed),
        "misleading": sum(row.label == "misleading" for row in degraded),
        "abstained": sum(row.label == "abstained" for row in degraded),
        "faithful": sum(row.label == "faithful" for row in degraded),
        "unjudged": sum(row.label is None for row in data.rows),
    }


def cell_row(cell: Cell) -> dict[str, Any]:
    """One line of the table: counts, the misleading share with its 95% interval, F1, latency."""
    judged = sum(cell.count(label) for label in LABELS)
    interval = wilson(cell.count("misleading"), judged, TWO_SIDED_95) if judged else None
    latencies = cell.latencies_ms()
    scores = [row.bertscore_f1 for row in cell.rows if row.bertscore_f1 is not None and row.label != "abstained"]
    return {
        "path": cell.path,
        "fault": cell.fault,
        "n": cell.n,
        "judged": judged,
        "shares": {label: cell.count(label) / cell.n for label in LABELS},
        "counts": {label: cell.count(label) for label in LABELS},
        "misleading": interval,
        "f1": sum(scores) / len(scores) if scores else None,
        "median_s": median(latencies) / 1000 if latencies else None,
        "worst_s": latencies[-1] / 1000 if latencies else None,
        "healthy": cell.path == "healthy",
    }


def judge_tables(judges: Sequence[dict[str, Any]]) -> dict[str, list[list[dict[str, Any]]]]:
    """By set of labelled answers, the rows of its table: a list per language or mode, with all its judges in it."""
    tables: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in judges:
        tables.setdefault(row["set"], {}).setdefault(row["group"], []).append(row)
    return {name: list(groups.values()) for name, groups in tables.items()}


def wrong_row(wrong: WrongAnswer) -> dict[str, Any]:
    """One misleading answer beside what it stands for."""
    row = wrong.row
    item = row.item
    return {
        "times": wrong.times,
        "path": row.path,
        "fault": row.trial.fault,
        "marked": row.trial.degraded,
        "item": row.trial.item_id,
        "question": item.prompt if item else "",
        "reference": item.reference if item else "",
        "answer": row.trial.answer or "",
        "risk": row.risk,
        "reasons": row.reasons,
        "notice": row.trial.record.get("notice"),
        "degraded_because": row.trial.reasons,
    }
