"""The generator of lies and rewordings: independent of what the judge reads with, and right in what it labels."""

import ast
import json
import re
from pathlib import Path
from random import Random

import pytest

import evalsets
import harness.fidelity
from harness.fidelity.case import Label
from harness.fidelity.labelled import DATA, load_generated, load_labelled, load_rewordings
from harness.fidelity.perturb_lies import LIES, lies
from harness.fidelity.perturb_truths import paraphrases

FILES = sorted(Path(harness.fidelity.__file__).parent.glob("perturb_*.py"))


def imported(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    found = {f"{n.module}.{alias.name}" for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert not any(n.level for n in nodes if isinstance(n, ast.ImportFrom))
    return found | {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}


def texts(file: Path) -> list[str]:
    return file.read_text("utf-8").split("\n")[:-1]


def of_kind(text: str, kind: str, seed: int = 0) -> str | None:
    return next((one.text for one in lies(text, Random(seed)) if one.kind == kind), None)


def reworded(text: str, kind: str) -> str | None:
    return next((one.text for one in paraphrases(text) if one.kind == kind), None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_generator_reads_nothing_that_the_judge_reads_with(file: Path) -> None:
    own = {name for name in imported(file) if name.startswith("harness.")}
    assert all(name.startswith("harness.fidelity.perturb_") for name in own), own
    assert not re.search(r"\b(?:open|read_text|read_bytes)\(", file.read_text("utf-8"))  # nor its word lists


@pytest.mark.parametrize(
    ("kind", "text", "lie"),
    [
        ("number", "Allow four weeks.", "Allow nine weeks."),
        ("number", "请等待三天。", "请等待七天。"),
        ("identifier", "运单SF-83026已到达。", "运单SF-83023已到达。"),
        ("unit", "It lasts 24 months.", "It lasts 24 years."),
        ("unit", "两小时内不要进食。", "两分钟内不要进食。"),
        ("negation", "You can't bring dogs.", "You can bring dogs."),
        ("negation", "随身行李不得超过7公斤。", "随身行李可以超过7公斤。"),
        ("negation", "订单还没有发货。", "订单已经发货。"),
        ("antonym", "The northern gate is shut.", "The southern gate is shut."),
        ("antonym", "房东负责维修。", "租客负责维修。"),
        ("exception", "Everyone except trainees.", "Everyone including trainees."),
        ("modal", "Prams must stand outside.", "Prams may stand outside."),
        ("roles", "Adults pay 9 EUR, children 4 EUR.", "Adults pay 4 EUR, children 9 EUR."),
        ("entity", "We meet on Tuesday.", "We meet on Friday."),
        ("clause", "The pool opens at nine, but the sauna stays closed.", "The pool opens at nine."),
    ],
)
def test_a_lie_of_each_kind(kind: str, text: str, lie: str) -> None:
    assert of_kind(text, kind) == lie


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("modal", "Nothing must stand here."),  # "nothing may" says the same
        ("modal", "You must not smoke."),  # as does "may not"
        ("number", "我十分满意。"),  # no number
        ("number", "所有的一切都好。"),
        ("unit", "会议在2026年举行。"),  # a date
        ("negation", "所有会员有效。"),  # 会 and 有 are parts of words
        ("exception", "除了早餐，还包括午餐。"),  # "besides" is no exception
        ("roles", "Anna met Bertha at the station where Bertha met Anna."),  # the same either way round
        ("clause", "The pool is closed, because the water is being changed."),  # a reason may be left out
    ],
)
def test_what_would_be_no_lie_is_not_made(kind: str, text: str) -> None:
    assert not any(of_kind(text, kind, seed) for seed in range(20))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("synonym", "Nothing stands within 50 cm."),
        ("synonym", "Ask us about it."),
        ("synonym", "You must not smoke here."),
        ("synonym", "商品所有权归买方。"),
        ("clauses", "If it rains, we meet inside, and the tour starts later."),
        ("clauses", "该商品支持退货，需在7天内申请。"),
        ("time", "The shop closes at 1:30 pm."),
    ],
)
def test_what_would_change_the_meaning_is_not_reworded(kind: str, text: str) -> None:
    assert reworded(text, kind) is None


def test_a_number_never_stays_and_a_clock_stays_one() -> None:
    for seed in range(200):
        (lie,) = [one.text for one in lies("at 17:55", Random(seed)) if one.kind == "number"]
        hour, minute = map(int, lie.removeprefix("at ").split(":"))
        assert hour < 24
        assert minute < 60
        assert (hour, minute) != (17, 55)


def test_the_fresh_set_has_references_that_no_other_set_has() -> None:
    rows = [json.loads(line) for line in (DATA / "generated_fresh.jsonl").read_text("utf-8").splitlines()]
    fresh = [row["reference"] for row in rows]
    sets = [*DATA.glob("*.jsonl"), *Path(evalsets.__file__).parent.glob("*/*.jsonl")]
    others = [json.loads(line) for file in sets if "fresh" not in file.name for line in texts(file)]
    assert len(set(fresh)) == 60
    assert [row["lang"] for row in rows].count("zh") == 25
    assert not set(fresh) & {one.get("reference") for one in others}


def test_the_fresh_set_is_made_the_same_each_time_and_holds_every_kind() -> None:
    rows = load_generated("fresh")
    assert rows == load_labelled("generated_fresh")
    assert {row.mode for row in rows} >= set(LIES)
    assert len({row.case.id for row in rows}) == len(rows)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_each_lie_of_the_rewordings_is_one_change_of_an_honest_one(split: str) -> None:
    rows = load_rewordings(split)
    assert rows == load_rewordings(split)
    honest = {row.case.reference: set[str]() for row in rows}
    for row in rows:
        if row.label is Label.FAITHFUL:
            honest[row.case.reference].add(row.case.candidate)
    told = [row for row in rows if row.label is Label.MISLEADING]
    assert {row.mode for row in told} <= set(LIES) - {"truncation", "clause"}
    assert {row.case.lang for row in told} == {"en", "zh"}
    for row in told:
        assert honest[row.case.reference]
        assert row.case.candidate not in {row.case.reference, *honest[row.case.reference]}


def test_no_honest_rewording_is_in_both_halves() -> None:
    dev, test = ({(row.case.reference, row.case.candidate) for row in load_rewordings(one)} for one in ("dev", "test"))
    assert not dev & test
