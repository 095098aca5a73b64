"""Chaos Toolkit: what meets comes over both ways, what does not is said."""

from pathlib import Path

import pytest

from faults.chaostoolkit import PAIRS, export_experiment, import_experiment
from faults.errors import BadExperiment
from faults.experiment import Action, ChaosExperiment, Phases, Probe, Probing, grow
from faults.experiment_file import load_experiment, parse_experiment
from faults.experiment_text import as_yaml, explained

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "experiments").glob("*.yaml"))
THEIRS = {
    "version": "1.0.0",
    "title": "Simulate latency",
    "configuration": {"toxiproxy_host": "localhost"},
    "steady-state-hypothesis": {
        "title": "responds",
        "probes": [
            {"type": "probe", "name": "home", "tolerance": 200,
             "provider": {"type": "http", "timeout": 1, "url": "http://localhost:6666/"}},
            {"type": "probe", "name": "text", "tolerance": {"type": "regex", "pattern": "ok"},
             "provider": {"type": "http", "url": "http://localhost:6666/"}},
        ],
    },
    "method": [
        {"type": "action", "name": "slow", "background": True, "pauses": {"after": 3},
         "provider": {"type": "python", "module": "chaostoxi.toxic.actions", "func": "create_latency_toxic",
                      "arguments": {"for_proxy": "primary", "toxic_name": "l", "latency": 300, "jitter": 20}}},
        {"type": "action", "name": "kill a pod",
         "provider": {"type": "python", "module": "chaosk8s.pod.actions", "func": "terminate_pods"}},
        {"type": "action", "name": "off", "provider": {
            "type": "python", "module": "chaostoxi.proxy.actions", "func": "disable_proxy",
            "arguments": {"proxy_name": "primary"}}},
        {"type": "action", "name": "undo", "provider": {
            "type": "python", "module": "chaostoxi.toxic.actions", "func": "delete_toxic",
            "arguments": {"for_proxy": "primary", "toxic_name": "l"}}},
    ],
    "rollbacks": [],
}  # fmt: skip


def test_what_meets_comes_over_and_the_rest_is_named() -> None:
    found, left = import_experiment(THEIRS)
    slow, off = found.method
    assert (slow.fault, slow.target, slow.arguments) == ("latency", "primary", {"mean_ms": 300, "jitter_ms": 20})
    assert (slow.background, slow.pause_after_s, off.fault) == (True, 3.0, "proxy_down")
    assert [(probe.name, probe.tolerance, probe.within_s) for probe in found.probes] == [("home", ("200",), 1.0)]
    text = "\n".join(left)
    assert all(word in text for word in ("configuration", "text: only an HTTP status", "terminate_pods", "undo"))
    assert len(left) == 4


def test_the_last_undoing_of_a_document_is_not_needed_either() -> None:
    _, left = import_experiment({**THEIRS, "rollbacks": [{"type": "action", "name": "reset"}]})
    assert left[-1] == "rollbacks: reset: not needed, every fault is undone"


@pytest.mark.parametrize(
    "wrong", [[], {"title": "x"}, {"title": "x", "method": [{"type": "probe", "provider": {"type": "process"}}]}]
)
def test_a_document_of_which_nothing_meets_is_refused(wrong: object) -> None:
    with pytest.raises(BadExperiment):
        import_experiment(wrong)


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.func for pair in PAIRS])
def test_each_fault_that_meets_goes_out_and_comes_back(pair) -> None:
    arguments = {ours: 70 if ours != "size_variation_bytes" else 5 for ours in pair.names.values()}
    action = Action(name="a", fault=pair.fault, arguments=arguments, phases=Phases(hold=6))
    probe = Probe(name="p", by=Probing.HTTP, tolerance=("200",), url="http://x/", within_s=5)
    ours = ChaosExperiment(title="t", description="d", method=(action,), probes=(probe,))
    document, _ = export_experiment(ours)
    assert [entry["provider"]["func"] for entry in document["method"]] == [pair.func]
    assert len(document["rollbacks"]) == 1
    back, _ = import_experiment(document)
    assert back == ours


def test_an_export_says_what_it_leaves_out_and_one_without_anything_is_refused() -> None:
    grows = Action(name="g", fault="latency", arguments={"mean_ms": grow(1, 9, 3)}, phases=Phases(ramp=3))
    document, left = export_experiment(ChaosExperiment(title="t", method=(grows, Action(name="b", fault="blur"))))
    assert document["method"][0]["provider"]["arguments"]["latency"] == 9
    text = "\n".join(left)
    assert all(word in text for word in ("only the last of its 3 sizes", "fault blur", "counted in requests", "level"))
    with pytest.raises(BadExperiment, match="blur"):
        export_experiment(ChaosExperiment(title="t", method=(Action(name="b", fault="blur"),)))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_experiment_that_is_written_again_says_the_same(path: Path) -> None:
    experiment = load_experiment(path)
    assert parse_experiment(as_yaml(experiment)) == experiment


def test_an_explanation_names_every_event_and_the_request_before_which_it_happens() -> None:
    text = explained(load_experiment(next(path for path in EXAMPLES if path.stem == "growing-latency")), 7)
    for words in ("before request   1: latency", "resize", "token_drop_answer off", "pause of 1 s", "share 0.8"):
        assert words in text
