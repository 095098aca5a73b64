"""Judged answers made by letters, and the shipped criteria, as tests of the gate want them."""

from dataclasses import replace

from harness.criteria import load_criteria, shipped
from harness.fidelity.case import Label
from harness.gate import gate
from harness.gate_row import GateRow
from harness.trial import Block

SHIPPED = {name: load_criteria(shipped(name)) for name in ("cpu", "gpu")}
CPU, GPU = (  # most tests look at one class at a time
    replace(each, classes=tuple(replace(one, optional=True) for one in each.classes)) for each in SHIPPED.values()
)
FLOOR = tuple(replace(one, misleading_margin=None, f1_margin=None) for one in GPU.classes)  # limits only
FIRED = Block(
    id="kill#0", experiment="kill", fault="kill", target="primary", trials=1, steady=True, fired=True, recovered=True
)
LABELS = {"f": Label.FAITHFUL, "a": Label.ABSTAINED, "m": Label.MISLEADING, "?": None}


def rows(labels, *, path="secondary", fault="kill", f1=0.8, lang="en", start=0, healthy=False, answer="x"):
    """One row per letter: f(aithful), a(bstained), m(isleading), ? (not judged); items numbered from `start`."""
    return [
        GateRow(
            path="healthy" if healthy else path,
            fault=fault,
            lang=lang,
            item_id=f"i{start + k}",
            label=LABELS[letter],
            bertscore_f1=None if letter in "a?" else f1,
            healthy=healthy,
            trial_id=f"{fault}/{path}/i{start + k}",
            answer=answer,
        )
        for k, letter in enumerate(labels)
    ]


def steady(labels, **more):
    return rows(labels, fault="none", healthy=True, **{"f1": 0.8, **more})


def decide(found, criteria=CPU, blocks=(FIRED,), **more):
    return gate(found, criteria, blocks=blocks, **more)


def check_of(decision, part):
    (found,) = [check for check in decision.checks if part in check.name]
    return found
