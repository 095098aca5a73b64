"""What was measured, as a page for people: one line an effect."""

from collections.abc import Iterable
from importlib.metadata import version
from os import cpu_count

from faults.catalogue import CATALOGUE
from harness.effects.measure import Measured
from harness.effects.table import NOT_HERE

HEAD = """\
# Faults, measured

Written by `truefall faults measure`. It starts a real `transformers serve` (a small model that recites one text, so
that every word of an answer is known) behind the embedded Toxiproxy and the semantic proxy, and sends the same few
requests without the fault, with it, and then at rate 0, or, where it has no rate, once it is undone.
`tests/faults/test_effects.py` runs the same: with the fault the value has to be as expected, in the other two columns
it must not be, at rate 0 the answers are the same to the letter, and the fault counts no request that it touched.
Delays are 2 s where the default is longer.

"""
COLUMNS = "| fault | what is measured | without | with it | at rate 0, or afterwards | expected with it | fired |\n"


def page(measured: Iterable[Measured]) -> str:
    """Markdown."""
    lines = [row(one) for one in measured]
    lacking = "".join(f"- `{name}`: {why}\n" for name, why in NOT_HERE.items())
    where = f"One run with transformers {version('transformers')} on {cpu_count()} CPU cores.\n"
    count = f"{len(CATALOGUE) - len(NOT_HERE)} of {len(CATALOGUE)} faults.\n"
    table = COLUMNS + "|---|---|---|---|---|---|---|\n" + "".join(lines)
    return f"{HEAD}{where}{count}\n{table}\nNot measured here:\n\n{lacking}"


def row(one: Measured) -> str:
    effect = one.effect
    unit = f", {effect.what.unit}" if effect.what.unit else ""
    kept = "; answers unchanged" if effect.keeps else ""
    values = " | ".join(number(value) for value in (one.without, one.with_it, one.afterwards))
    what = f"{effect.what.name}{unit}{kept}"
    return f"| `{effect.fault}` | {what} | {values} | {expected(one)} | {one.firing.touched} |\n"


def expected(one: Measured) -> str:
    low, high = one.effect.low, one.effect.high
    if low == high:
        return number(low)
    if high == float("inf"):
        return f"at least {number(low)}"
    return f"{number(low)} to {number(high)}"


def number(value: float) -> str:
    """Three digits of a share, whole numbers of all else."""
    return f"{value:.3g}" if abs(value) < 10 else f"{value:,.0f}"
