"""The plan of a run comes from its seed alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsets.item import Item
from harness.schedule import Dose, Experiment, Scope, Sizes, plan, sample


def an_item(number: int, lang: str) -> Item:
    return Item(
        id=f"set-{lang}-{number:03d}", lang=lang, system="", context="", prompt=f"question {number}", reference="yes",
        must_keep=(), must_not=(), contract=None, tags=(), source="test", licence="Apache-2.0",
    )  # fmt: skip


ITEMS = [an_item(n, "en") for n in range(12)] + [an_item(n, "zh") for n in range(6)]
LATENCY = Experiment(name="latency-primary", doses=(Dose(fault="latency"),))


@given(seed=st.integers(0, 2**32))
def test_the_same_seed_plans_the_same_trials(seed):
    assert plan(seed, LATENCY, ITEMS, Sizes(fault=5)) == plan(seed, LATENCY, ITEMS, Sizes(fault=5))


def test_another_seed_plans_another_order():
    assert plan(1, LATENCY, ITEMS, Sizes()) != plan(2, LATENCY, ITEMS, Sizes())


@given(seed=st.integers(0, 1000), baseline=st.integers(1, 18), fault=st.integers(1, 18))
def test_every_item_under_a_fault_is_in_the_baseline_too(seed, baseline, fault):
    sizes = Sizes(baseline=baseline, fault=fault)
    steady = plan(seed, Experiment(name="steady", scope=Scope.BASELINE), ITEMS, sizes)
    faulty = plan(seed, LATENCY, ITEMS, sizes)
    assert {trial.item_id for trial in faulty} <= {trial.item_id for trial in steady}
    assert len(faulty) == min(baseline, fault)


def test_items_that_are_always_cut_are_sent_to_whoever_asks_for_them_and_to_nobody_else():
    long = [replace(item, tags=("long-context",)) for item in ITEMS[::3]]
    items = [item for i, item in enumerate(ITEMS) if i % 3] + long
    asking = Experiment(name="memory", doses=(Dose(fault="memory_spike"),), tag="long-context")
    everything = Experiment(name="steady", scope=Scope.BASELINE)
    cut = {item.id for item in long}
    assert not cut & {trial.item_id for trial in plan(0, LATENCY, items, Sizes(fault=18))}
    assert {trial.item_id for trial in plan(0, asking, items, Sizes())} == cut
    assert cut < {trial.item_id for trial in plan(0, everything, items, Sizes())}
    assert plan(0, LATENCY, long, Sizes()), "with nothing else there, they are sent"


def test_experiments_of_one_seed_see_different_items():
    other = Experiment(name="kill-primary", doses=(Dose(fault="kill"),))
    sizes = Sizes(baseline=18, fault=6)
    assert {t.item_id for t in plan(0, LATENCY, ITEMS, sizes)} != {t.item_id for t in plan(0, other, ITEMS, sizes)}


@given(seed=st.integers(0, 1000), most=st.integers(3, 18))
def test_a_sample_keeps_the_share_of_each_language(seed, most):
    chosen = sample(str(seed), ITEMS, most)
    share_zh = sum(item.lang == "zh" for item in chosen) / most
    assert share_zh == pytest.approx(1 / 3, abs=1 / most)


@given(seed=st.integers(0, 1000), few=st.integers(1, 17))
def test_a_larger_sample_holds_the_smaller_one(seed, few):
    assert set(map(id, sample(str(seed), ITEMS, few))) <= set(map(id, sample(str(seed), ITEMS, few + 1)))


def test_an_experiment_names_its_faults_and_targets():
    both = Experiment(name="all-down", doses=(Dose(fault="proxy_down"), Dose(fault="proxy_down", target="secondary")))
    assert both.fault == "proxy_down+proxy_down"
    assert both.target == "primary+secondary"
