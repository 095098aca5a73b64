"""A comparison of two policies for people: a table on the terminal, `ab.html` and `ab.json`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from harness.ab.compare import Comparison
from harness.ab.conclusion import Choice, Conclusion
from harness.ab.metrics import Kind, Metric, Shown
from harness.report.plots import svg_of
from harness.stats import Estimate
from harness.whole_file import write_whole

TEMPLATE = Path(__file__).with_name("ab.html.j2")
COLOURS = {Shown.A: "#8a5a00", Shown.B: "#1a5fb4", Shown.NEITHER: "#5f6368"}
RATES = ("misleading", "abstained", "failed", "CTR")  # shown in percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What A and B stand for."""

    run_a: str
    run_b: str
    policy_a: str
    policy_b: str
    same: bool  # both runs used the same policy

    def to_json(self) -> dict[str, Any]:
        return {
            "A": {"run": self.run_a, "policy": self.policy_a},
            "B": {"run": self.run_b, "policy": self.policy_b},
            "same_policy": self.same,
        }


def write_ab(out: Path, found: Comparison, conclusion: Conclusion, sides: Sides) -> Path:
    """Write `ab.html` and `ab.json` into `out` and return the page's path."""
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "choice": conclusion.choice.value,
        "sentence": conclusion.sentence,
        "needed_items": conclusion.needed_items,
        "sides": sides.to_json(),
        **found.to_json(),
    }
    written = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(out / "ab.json", written)
    page = out / "ab.html"
    write_whole(page, render(found, conclusion, sides))
    return page


def render(found: Comparison, conclusion: Conclusion, sides: Sides) -> str:
    """The whole page; references nothing outside itself."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(
        conclusion=conclusion,
        heading=heading_of(conclusion),
        sides=sides,
        coverage=str(found.pairing),
        events=events_of(found),
        weights=found.weights,
        groups=[
            ("What the answers say", [row_of(metric) for metric in found.of(Kind.SEMANTIC)]),
            ("What users did", [row_of(metric) for metric in found.of(Kind.BUSINESS)]),
            ("Both, weighed", [row_of(found.combined)]),
        ],
        plot=difference_plot([*found.metrics, found.combined]),
    )


def heading_of(conclusion: Conclusion) -> str:
    words = {Choice.EITHER: "Either will do", Choice.UNDECIDED: "Undecided"}
    return words.get(conclusion.choice, f"Choose {conclusion.choice.value}")


def events_of(found: Comparison) -> str:
    if not found.events and not found.events_left_out:
        return "no events given: only the answers are compared"
    left_out = f", {found.events_left_out} of items that are not compared left out" if found.events_left_out else ""
    return f"{found.events} rows of events{left_out}"


def row_of(metric: Metric) -> dict[str, Any]:
    """One line of a table, as texts."""
    return {
        "name": metric.name,
        "better": "higher" if metric.higher_is_better else "lower",
        "a": value_text(metric, metric.a) + target_text(metric, metric.bounds_a),
        "b": value_text(metric, metric.b) + target_text(metric, metric.bounds_b),
        "difference": difference_text(metric),
        "items": str(metric.n) if metric.difference else "–",
        "shown": "not measured" if metric.difference is None else metric.shown.value,
        "colour": COLOURS[metric.shown],
    }


def value_text(metric: Metric, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.1f}%" if metric.name in RATES else f"{value:.3f}"


def target_text(metric: Metric, bounds: Estimate | None) -> str:
    """Whether a value is shown to reach its target."""
    if metric.target is None or bounds is None:
        return ""
    if bounds.low >= metric.target:
        return f" (≥ {metric.target:g})"
    return f" (< {metric.target:g})" if bounds.high < metric.target else f" ({metric.target:g} not shown)"


def difference_text(metric: Metric) -> str:
    """B − A with its interval; rates in percentage points."""
    found = metric.difference
    if found is None:
        return "–"
    factor, digits = (100, 1) if metric.name in RATES else (1, 3)
    if found.n < 2:
        return f"{factor * found.value:+.{digits}f} (one item: no interval)"
    low, high = factor * found.low, factor * found.high
    return f"{factor * found.value:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def difference_plot(metrics: list[Metric]) -> str:
    """How much better B is, with its 95% interval, each row on a scale of its own."""
    shown = [metric for metric in metrics if metric.difference is not None and metric.n >= 2]

    def draw(axes: Any) -> None:
        axes.axvline(0, color="#202124", linewidth=1)
        for height, metric in enumerate(reversed(shown)):
            value, low, high = towards_b(metric)
            reach = max(abs(low), abs(high)) or 1.0
            colour = COLOURS[metric.shown]
            axes.plot([low / reach, high / reach], [height, height], color=colour, linewidth=5, alpha=0.35)
            axes.plot([value / reach], [height], "o", color=colour, markersize=8)
            axes.text(1.06, height, difference_text(metric), va="center", fontsize=8.5, color="#202124")
        axes.set_yticks(range(len(shown)), [metric.name for metric in reversed(shown)])
        axes.set_xlim(-1.04, 1.7)
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_xticks([-0.5, 0, 0.5], ["← A is better", "same", "B is better →"])
        axes.spines["left"].set_visible(False)
        axes.tick_params(length=0)

    return svg_of(draw, width_in=9, height_in=0.7 + 0.42 * max(1, len(shown)))


def towards_b(metric: Metric) -> tuple[float, float, float]:
    """Value, low and high, turned so that above 0 means that B is better."""
    found = metric.difference or Estimate(0.0, 0.0, 0.0, 0)
    if metric.higher_is_better:
        return found.value, found.low, found.high
    return -found.value, -found.high, -found.low


def show(found: Comparison, conclusion: Conclusion, sides: Sides, out: TextIO | None = None) -> None:
    """A table of the metrics side by side, then the conclusion on a line of its own."""
    from rich.console import Console
    from rich.table import Table

    stream = out or sys.stdout
    console = Console(file=stream, highlight=False, markup=False, width=None if stream.isatty() else 140)
    table = Table(box=None, pad_edge=False)
    for heading in ("", f"A: {sides.policy_a}", f"B: {sides.policy_b}", "B − A (95% interval)", "items", "shown"):
        table.add_column(heading, overflow="fold")
    for metric in (*found.metrics, found.combined):
        row = row_of(metric)
        table.add_row(*(row[key] for key in ("name", "a", "b", "difference", "items", "shown")))
    console.print(table)
    weighed = (
        f"weights: semantic {found.weights.semantic:.2f}, business {found.weights.business:.2f} "
        f"({100 * found.weights.semantic_share:.0f}% of the combined score is semantic)"
    )
    console.print(f"{found.pairing}; {events_of(found)}; {weighed}")
    if sides.same:
        console.print("Both runs used the same policy: whatever differs is chance.")
    print(conclusion.sentence, file=stream)
