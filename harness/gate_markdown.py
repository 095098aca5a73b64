"""A decision as Markdown for a pull request: the verdict, what it means, what is wrong; the rest folded away (pure)."""

import re
from collections.abc import Sequence

from harness.decision import MEANING, CellFigures, Check, Decision, Verdict

ORDER = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOTHING)


def as_markdown(decision: Decision, name: str) -> str:
    """What failed first, what could not be decided next; the checks that passed are folded."""
    passed = [check for check in decision.checks if check.verdict is Verdict.PASS]
    wrong = [check for verdict in ORDER for check in decision.checks if check.verdict is verdict]
    lines = [f"## {decision.verdict.value}: {literal(name)}", "", f"**{MEANING[decision.verdict]}** {counts(decision)}"]
    if wrong:
        lines += ["", *table(wrong)]
    if passed:
        lines += ["", f"<details><summary>Passed: {len(passed)}</summary>", "", *table(passed), "", "</details>"]
    if decision.cells:
        told = f"Each path, fault and language: {len(decision.cells)}"
        lines += ["", f"<details><summary>{told}</summary>", "", *cell_table(decision.cells), "", "</details>"]
    return "\n".join(lines) + "\n"


def counts(decision: Decision) -> str:
    """Such as "2 of 9 checks failed, 1 could not be decided." """
    failed = sum(check.verdict is Verdict.FAIL for check in decision.checks)
    undecided = sum(check.verdict is Verdict.INCONCLUSIVE for check in decision.checks)
    total = len(decision.checks)
    if not failed and not undecided:
        return literal(f"{decision.summary[:1].upper()}{decision.summary[1:]}.")
    told = [f"{failed} of {total} checks failed"] if failed else []
    told += [f"{undecided}{'' if failed else f' of {total} checks'} could not be decided"] if undecided else []
    return ", ".join(told) + "."


def table(checks: Sequence[Check]) -> list[str]:
    rows = [[f"**{check.verdict.value}**", check.title, check.reason] for check in checks]
    return ["| | criterion | measured |", "|---|---|---|", *map(cells, rows)]


def cell_table(found: Sequence[CellFigures]) -> list[str]:
    """Items and bounds; what a cell alone can prove, which is seldom much."""
    rows = [[literal(cell.path), cell.fault, cell.lang, *figures(cell)] for cell in found]
    heading = "| path | fault | language | items | misleading, upper bound | abstained, upper bound | F1, lower bound |"
    return [heading, "|---|---|---|---:|---:|---:|---:|", *map(cells, rows)]


def figures(cell: CellFigures) -> list[str]:
    """Such as "12", "1, 33.9%", "0, 22.1%", "0.62, 0.55"; "–" where nothing was measured."""
    f1 = "–" if cell.f1 is None else f"{cell.f1:.2f}, {'–' if cell.f1_low is None else f'{cell.f1_low:.2f}'}"
    return [str(cell.n), rate(cell.misleading, cell.misleading_high), rate(cell.abstained, cell.abstained_high), f1]


def rate(hits: int, high: float | None) -> str:
    return "–" if high is None else f"{hits}, {100 * high:.1f}%"


def cells(texts: Sequence[str]) -> str:
    first, *rest = texts
    return f"| {first} | " + " | ".join(literal(text) for text in rest) + " |"


def literal(text: str) -> str:
    """One line in which nothing is markup: no table cell, tag, emphasis, link or mention."""
    safe = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@\u200b")
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", safe)
