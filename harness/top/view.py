"""The picture on the terminal: the level first, then what serves, what is broken, and what is full. Pure."""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from harness.top.reading import Reading, path_rates, quantile_ms, rates

LEVEL_STYLE = {"healthy": "bold white on green", "degraded": "bold black on yellow", "critical": "bold white on red"}
BREAKER_STYLE = {"closed": "green", "half_open": "yellow", "open": "bold red"}
_BAR = 24
_REASONS = 6
_HIGH, _CRITICAL = 0.80, 0.95
_NORMAL_DEGRADED, _NORMAL_TEMPLATES = 0.01, 0.05


def picture(before: Reading, now: Reading, *, url: str, trouble: str | None = None) -> RenderableType:
    """All of it; `trouble` is why the newest reading could not be had."""
    parts: list[RenderableType] = [_head(before, now, url)]
    if trouble is not None:
        parts.append(Text(f" {trouble}; this is what it said last ", style="bold white on red"))
    parts += [_paths(before, now), _backends(now)]
    reasons = _reasons(before, now)
    if reasons is not None:
        parts.append(reasons)
    if now.state is None:
        parts.append(Text(" no admin token (TRUEFALL_ADMIN_TOKEN): memory and manifests are not shown", style="dim"))
    else:
        parts += [_drifted(name, now.state["drift"]) for name in _alerts(now.state["drift"])]
    if now.state is not None and (now.state["manifests"]["all"] or now.state["manifests"]["refused"]):
        parts.append(_manifests(now.state["manifests"]))
    spaced = [part for one in parts for part in (one, Text())]
    return Group(*spaced)


def _head(before: Reading, now: Reading, url: str) -> Panel:
    line = Text()
    line.append(f" {now.level.upper()} ", style=LEVEL_STYLE[now.level])
    line.append(f"  {sum(rates(before, now, 'truefall_requests_total', 'path').values()):.1f} answers/s", style="bold")
    for share in (0.5, 0.95, 0.99):
        line.append(f"   P{share * 100:.0f} ", style="dim")
        line.append(_milliseconds(quantile_ms(before, now, share)))
    line.append("   in flight ", style="dim")
    line.append(f"{now.value('truefall_in_flight'):.0f}")
    line.append("\n of the last 1000:  ", style="dim")
    for label, name, normal in (
        ("degraded", "degraded_request_ratio", _NORMAL_DEGRADED),
        ("templates", "fallback_template_hit_rate", _NORMAL_TEMPLATES),
        ("memory refused", "kv_cache_allocation_failure_rate", 0.0),
    ):
        value = now.value(name)
        line.append(f"{label} ", style="dim")
        line.append(f"{value:.1%}   ", style="bold red" if value > normal else "green")
    state = now.state or {}
    policy = state.get("policy", {})
    about = f"policy {policy['name']} v{policy['version']}" if policy else ""
    draining = "  DRAINING" if state.get("draining") else ""
    return Panel(line, title=f"truefall  {url}", subtitle=about + draining, box=box.ROUNDED)


def _paths(before: Reading, now: Reading) -> Table:
    table = _table("path", "answers/s", "share", "", "P50", "P95")
    for one in path_rates(before, now):
        filled = round(one.share * _BAR)
        bar = Text("█" * filled, style="cyan") + Text("░" * (_BAR - filled), style="dim")
        numbers = (f"{one.per_s:.1f}", f"{one.share:.0%}", bar, _milliseconds(one.p50_ms), _milliseconds(one.p95_ms))
        table.add_row(one.path, *numbers)
    if not table.row_count:
        table.add_row(Text("no traffic", style="dim"), "", "", "", "", "")
    return table


def _backends(now: Reading) -> Table:
    table = _table("backend", "breaker", "running", "waiting", "ledger", "")
    for name in now.backends():
        key = (("backend", name),)
        breaker = now.breaker(name)
        state = Text(breaker, style=BREAKER_STYLE[breaker])
        told = (now.state or {}).get("backends", {}).get(name, {})
        if breaker == "open" and told:
            state.append(f" {told['breaker']['opens_again_in_s']:.0f}s")
        occupancy = now.samples.get("truefall_ledger_occupancy", {}).get(key)
        table.add_row(
            name,
            state,
            f"{now.samples.get('truefall_running', {}).get(key, 0):.0f}",
            f"{now.samples.get('truefall_waiting', {}).get(key, 0):.0f}",
            "none" if occupancy is None else f"{occupancy:.0%}",
            Text("") if occupancy is None else _gauge(occupancy),
        )
    return table


def _gauge(share: float) -> Text:
    style = "bold red" if share > _CRITICAL else "yellow" if share > _HIGH else "green"
    filled = min(_BAR, round(share * _BAR))
    return Text("█" * filled, style=style) + Text("░" * (_BAR - filled), style="dim")


def _reasons(before: Reading, now: Reading) -> Table | None:
    found = {
        name: rate for name, rate in rates(before, now, "truefall_degrade_reasons_total", "reason").items() if rate
    }
    if not found:
        return None
    table = _table("why degraded", "per s")
    for name, rate in sorted(found.items(), key=lambda one: -one[1])[:_REASONS]:
        table.add_row(name, f"{rate:.1f}")
    return table


def _alerts(drift: Mapping[str, Any]) -> list[str]:
    return [name for name, watch in drift["features"].items() if watch["alert"]]


def _drifted(name: str, drift: Mapping[str, Any]) -> Text:
    causes = ", ".join(cause["reason"] for cause in drift["causes"]) or "none among the reasons"
    kl = drift["features"][name]["kl"]
    return Text(f" {name} has drifted: divergence {kl:.2f}; causes: {causes}", style="bold red")


def _manifests(state: Mapping[str, Any]) -> RenderableType:
    table = _table("manifest", "in force", "target", "percent", "fallback", "when")
    for one in state["all"]:
        at = f" {one['endpoint']}" if one["endpoint"] else ""
        active = Text("yes", style="bold yellow") if one["active"] else Text("no", style="dim")
        when = " and ".join(one["conditions"]) or "always"
        table.add_row(one["name"], active, f"{one['target']}{at}", f"{one['percentage']:g}", one["fallback"], when)
    if not state["refused"]:
        return table
    return Group(table, Text(f" newest manifests refused: {state['refused']}", style="bold red"))


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), header_style="bold", show_edge=False)
    numbers = {"answers/s", "share", "P50", "P95", "running", "waiting", "ledger", "per s", "percent"}
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return table


def _milliseconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"
