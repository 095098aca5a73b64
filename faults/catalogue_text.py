"""What people read about the catalogue: a list, one fault explained, and the page in the docs."""

from faults.catalogue import CATALOGUE, Parameter, find, parameters, summary

SECTIONS = {
    "faults.network": "Network in front of a backend (Toxiproxy)",
    "faults.outage": "Outages",
    "faults.http_outage": "Wrong answers over HTTP (semantic proxy)",
    "faults.tokens": "Meaning (semantic proxy)",
    "faults.memory": "Memory",
    "faults.memory_spike": "Memory",
    "faults.ballast": "Memory",
    "faults.ledger_pressure": "Memory",
    "faults.components": "Components inside the backend",
}


def section(name: str) -> str:
    return SECTIONS[find(name).__module__]


def listing() -> str:
    """One line per fault, under its kind."""
    width = max(map(len, CATALOGUE))
    lines: list[str] = []
    for title in dict.fromkeys(SECTIONS.values()):
        names = [name for name in CATALOGUE if section(name) == title]
        lines += [title, *(f"  {name:<{width}}  {summary(name)}" for name in names), ""] if names else []
    return "\n".join(lines).rstrip()


def explanation(name: str) -> str:
    """What the fault does, its parameters, and how to write it."""
    found = parameters(name)
    lines = [name, f"  {summary(name)}", ""]
    lines += [f"  {_line(parameter)}" for parameter in found] or ["  no parameters"]
    return "\n".join([*lines, "", f"  written as: {example(name)}"])


def example(name: str) -> str:
    needed = [f"{p.name}={500 if p.type == 'int' else 1}" for p in parameters(name) if p.default == "required"]
    optional = [f"{p.name}={p.default}" for p in parameters(name) if p.default not in ("required", "none")]
    shown = needed or optional[:1]
    return name + (f":{','.join(shown)}" if shown else "")


def _line(parameter: Parameter) -> str:
    default = parameter.default if parameter.default == "required" else f"default {parameter.default}"
    return f"{parameter.name} ({parameter.type}, {default}): {parameter.meaning.text}{_bounds(parameter)}"


def _bounds(parameter: Parameter) -> str:
    low, high = parameter.meaning.low, parameter.meaning.high
    if low is None and high is None:
        return ""
    return f", at least {low:g}" if high is None else f", {low or 0:g} to {high:g}"


def page() -> str:
    """docs/faults.md."""
    lines = [
        "# Faults",
        "",
        "Written from the code by `truefall faults page`; a test keeps it up to date.",
        "",
        "Written as `name` or `name:param=value,param=value`, in experiments as `Dose(fault=name, params={…})`.",
        "Each is undone however its block ends, and says what it touched; one that touched nothing proves nothing.",
    ]
    for title in dict.fromkeys(SECTIONS.values()):
        names = [name for name in CATALOGUE if section(name) == title]
        if names:
            lines += ["", f"## {title}", "", "| fault | what it does | parameters |", "|---|---|---|"]
            lines += [f"| `{name}` | {summary(name)} | {_cell(name)} |" for name in names]
    return "\n".join(lines) + "\n"


def _cell(name: str) -> str:
    cells = [
        f"`{p.name}`{'' if p.default in ('required', 'none') else f' = {p.default}'}: {p.meaning.text}{_bounds(p)}"
        for p in parameters(name)
    ]
    return "<br>".join(cells).replace("|", "\\|")
