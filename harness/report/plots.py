"""The plots of a report, as SVG texts: outcomes by fault, latency by path, and the run on a time line."""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from harness.fidelity.reliability import draw as draw_reliability
from harness.fidelity.reliability import from_plain
from harness.report.rows import Cell, JudgedTrial, ReportData

COLOURS = {"faithful": "#2a7f62", "abstained": "#c9a227", "misleading": "#b3261e", "not judged": "#9aa0a6"}


def svg_of(draw: Callable[[Any], None], *, width_in: float, height_in: float) -> str:
    """Draw on one pair of axes and return the `<svg>` element."""
    return svg_of_many([draw], width_in=width_in, height_in=height_in)


def svg_of_many(draws: Sequence[Callable[[Any], None]], *, width_in: float, height_in: float) -> str:
    """Draw on several pairs of axes, side by side, and return the `<svg>` element."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with mpl.rc_context({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "truefall"}):
        figure, grid = plt.subplots(1, len(draws), figsize=(width_in, height_in), layout="constrained", squeeze=False)
        for axes, draw in zip(grid[0], draws, strict=True):
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            draw(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
        plt.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]


def name_of(cell: Cell) -> str:
    return f"{cell.path}  ·  {cell.fault}"


def latency_plot(cells: Sequence[Cell]) -> str:
    """Each answer's latency in seconds (log scale), a row per path and fault, with the median as a tick."""
    shown = [cell for cell in cells if any(cell.latencies_ms())]

    def draw(axes: Any) -> None:
        for height, cell in enumerate(reversed(shown)):
            for label, colour in COLOURS.items():
                values = [
                    r.trial.latency_ms / 1000
                    for r in cell.rows
                    if (r.label or "not judged") == label and r.trial.latency_ms
                ]
                axes.scatter(values, [height] * len(values), s=14, color=colour, alpha=0.55, linewidths=0, label=label)
            middle = median(cell.latencies_ms()) / 1000
            axes.plot([middle, middle], [height - 0.35, height + 0.35], color="#202124", linewidth=1.5)
        axes.set_yticks(range(len(shown)), [name_of(cell) for cell in reversed(shown)])
        axes.set_xscale("log")
        for ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
            ticks(lambda value, _: f"{value:g}" if str(value).strip("0.")[:1] in "125" else "")
        axes.set_xlabel("latency at the client, seconds (log scale); the tick is the median")
        axes.grid(axis="x", color="#e8eaed", linewidth=0.6)
        axes.set_axisbelow(True)

    return svg_of(draw, width_in=9, height_in=1.0 + 0.32 * len(shown))


def risk_plot(cells: Sequence[Cell]) -> str:
    """How the risk is spread in healthy and in degraded answers."""
    bins = [edge / 20 for edge in range(21)]

    def draw(axes: Any) -> None:
        for degraded, colour, name in ((False, "#5f6368", "healthy path"), (True, "#1a73e8", "degraded paths")):
            values = [
                r.risk for cell in cells for r in cell.rows if r.risk is not None and r.trial.degraded is degraded
            ]
            if values:
                weights = [1 / len(values)] * len(values)
                axes.hist(
                    values,
                    bins=bins,
                    weights=weights,
                    histtype="stepfilled",
                    alpha=0.35,
                    color=colour,
                    label=f"{name} (n={len(values)})",
                )
        axes.set_xlabel("risk that the answer misleads")
        axes.set_ylabel("share of answers")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)

    return svg_of(draw, width_in=4.4, height_in=2.6)


def reliability_plot(told: Sequence[Mapping[str, Any]]) -> str:
    """Whether the risk comes true, a diagram per set of labelled answers. `told`: as `judge.json` holds them."""
    draws = [partial(draw_reliability, found=from_plain(one), title=one["set"]) for one in told]
    return svg_of_many(draws, width_in=3.2 * len(draws), height_in=3.6)


def timeline_plot(data: ReportData) -> str:
    """Every answer where it happened: when, how long, judged how; faults as bars behind."""
    names = list(dict.fromkeys(block.experiment for block in data.blocks))

    def draw(axes: Any) -> None:
        for block in data.blocks:
            if block.fired is not None and block.began_at_s is not None and block.ended_at_s is not None:
                height = len(names) - 1 - names.index(block.experiment)
                axes.barh(
                    height, block.ended_at_s - block.began_at_s, left=block.began_at_s, height=0.8, color="#fce8e6"
                )
        for row in data.rows:
            draw_answer(axes, row, len(names) - 1 - names.index(row.trial.experiment))
        axes.set_yticks(range(len(names)), list(reversed(names)))
        axes.set_xlabel("seconds since the run began; the shaded bar is the time the fault was on")

    return svg_of(draw, width_in=9, height_in=1.0 + 0.3 * len(names))


def draw_answer(axes: Any, row: JudgedTrial, height: int) -> None:
    trial = row.trial
    if trial.sent_at_s is None or trial.latency_ms is None:
        return
    colour = COLOURS[row.label or "not judged"]
    axes.plot(
        [trial.sent_at_s, trial.sent_at_s + trial.latency_ms / 1000],
        [height, height],
        color=colour,
        linewidth=4,
        solid_capstyle="butt",
    )
