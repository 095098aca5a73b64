"""The figures of `truefall judge-the-judge` as lines of text, for a terminal that is 100 columns wide."""

from collections.abc import Iterator, Mapping, Sequence

from harness.fidelity.clustered import Range
from harness.fidelity.judge_the_judge import ALL, ALL_ROWS, NAMES, Measured

FIGURES = (  # what is measured, and of how many rows
    ("auroc", "AUROC", "n_misleading", "lies"),
    ("accepted", "lies accepted", "n_misleading", "of"),
    ("rejected", "truths rejected", "n_faithful", "of"),
    ("recognised", "abst. recognised", "n_abstained", "of"),
)
GROUP, COUNT, CELL = 19, 5, 17  # characters; four judges side by side make 100
Found = Mapping[tuple[str, str], Measured]  # by group and judge


def table(measured: Sequence[Measured]) -> list[str]:
    """Per figure a line per group (all, languages, modes), the judges side by side, each with its 95 % interval."""
    found = {(m.group, m.judge): m for m in measured}
    lines: list[str] = []
    for figure, title, counted, rows in FIGURES:
        groups = [m.group for m in measured if getattr(m, figure)]
        judges = [m.judge for m in measured if getattr(m, figure)]
        if groups:
            named = "".join(f"  {NAMES.get(judge, judge):{CELL}}" for judge in dict.fromkeys(judges))
            lines += ["", f"{title:{GROUP}}{rows:>{COUNT}}{named}".rstrip()]
            lines += _rows(found, figure, counted, dict.fromkeys(groups), dict.fromkeys(judges))
    if any(_borrows(found, m) for m in measured):
        lines += ["", "“truths rejected” leaves out modes that are held against all truths, for want of their own."]
    return lines[1:]


def _rows(
    found: Found, figure: str, counted: str, groups: Mapping[str, None], judges: Mapping[str, None]
) -> Iterator[str]:
    for group in groups:
        row = [found[group, judge] for judge in judges]
        if figure == "rejected" and _borrows(found, row[0]):
            continue
        named = group if group == ALL_ROWS else f"  {group}"
        cut = named if len(named) <= GROUP else f"{named[: GROUP - 1]}…"
        cells = "".join(f"  {shown(m, figure, counted):{CELL}}" for m in row)
        yield f"{cut:{GROUP}}{getattr(row[0], counted):>{COUNT}}{cells}".rstrip()


def _borrows(found: Found, m: Measured) -> bool:
    """Whether the truths of this group are those of all rows."""
    return m.group != ALL_ROWS and 0 < m.n_faithful == found[ALL_ROWS, m.judge].n_faithful


def short_table(measured: Sequence[Measured]) -> list[str]:
    """All rows together only: a line per judge."""
    rows = [m for m in measured if m.group == ALL_ROWS]
    one = rows[0]
    lines = [
        f"{one.n_misleading} lies, {one.n_faithful} truths, {one.n_abstained} abstentions",
        (f"{'judge':14}" + "".join(f"  {title:{CELL}}" for _, title, _, _ in FIGURES)).rstrip(),
    ]
    for m in rows:
        cells = "".join(f"  {shown(m, figure, counted):{CELL}}" for figure, _, counted, _ in FIGURES)
        lines.append(f"{NAMES.get(m.judge, m.judge):14}{cells}".rstrip())
    return lines


def shown(m: Measured, figure: str, counted: str) -> str:
    """One cell: an AUROC, or how many rows and what share; with its interval. "–" where nothing was measured."""
    found: Range | None = getattr(m, figure)
    if found is None:
        return "–"
    if figure == "auroc":
        return f"{found.value:.3f} ({found.low:.2f}–{found.high:.2f})"
    hits = round(found.value * getattr(m, counted))
    return f"{hits:3} {100 * found.value:3.0f}% ({100 * found.low:.0f}–{100 * found.high:.0f})"


def ablation_table(tables: Mapping[str, Sequence[Measured]]) -> list[str]:
    """Markdown: per check left out and per set, AUROC, lies accepted, truths rejected, abstentions recognised."""
    found = {(name, m.judge): m for name, rows in tables.items() for m in rows if m.group == ALL_ROWS}
    checks = list(dict.fromkeys(judge for _, judge in found))
    lines = [f"| without | {' | '.join(tables)} |", f"|---|{'---|' * len(tables)}"]
    for check in checks:
        cells = [_cell(found[name, check], None if check == ALL else found[name, ALL]) for name in tables]
        lines.append(f"| {'nothing' if check == ALL else check} | {' | '.join(cells)} |")
    return lines


def _cell(m: Measured, whole: Measured | None) -> str:
    """Figures of one set; "–" where nothing differs from `whole`."""
    if whole is not None and (m.auroc, m.accepted, m.rejected, m.recognised) == (
        whole.auroc, whole.accepted, whole.rejected, whole.recognised
    ):  # fmt: skip
        return "–"
    parts = [f"{m.auroc.value:.3f}"] if m.auroc else []
    parts += [f"{_count(m.accepted, m.n_misleading)} lies"] if m.n_misleading else []
    parts += [f"{_count(m.rejected, m.n_faithful)} truths"] if m.n_faithful else []
    parts += [f"{_count(m.recognised, m.n_abstained)} abst."] if m.n_abstained else []
    return ", ".join(parts)


def _count(share: Range | None, total: int) -> str:
    return "–" if share is None else f"{round(share.value * total)}/{total}"
