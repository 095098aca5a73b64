"""The files under deploy/ and examples/manifests fit the code: generated ones are up to date, named metrics exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from gateway.answers.unaided import build_unaided
from gateway.config import Answers, Embeddings, load_config
from gateway.policies.conflicts import require_consistent
from gateway.policies.crd import crd
from gateway.policies.folder import load
from gateway.policies.metrics import METRICS
from gateway.policy import Policy, load_policy
from gateway.telemetry import Metrics
from harness.commands.manifests import crd_text

ROOT = Path(__file__).parent.parent
KUBERNETES = ROOT / "deploy/kubernetes"
STRUCTURAL = {"type", "description", "default", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength"} | {
    "minItems",
    "maxItems",
    "items",
    "properties",
    "required",
}


def documents(name):
    return [one for one in yaml.safe_load_all((KUBERNETES / name).read_text("utf-8")) if one]


def of_kind(kind):
    names = ("crd.yaml", "rbac.yaml", "configmap.yaml", "gateway.yaml")
    (found,) = [one for name in names for one in documents(name) if one["kind"] == kind]
    return found


def test_the_crd_is_up_to_date():
    hint = "run: truefall manifests --crd > deploy/kubernetes/crd.yaml"
    assert (KUBERNETES / "crd.yaml").read_text("utf-8") == crd_text(), hint


def nodes(schema):
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])


def test_the_crds_schema_is_structural_and_agrees_with_the_loader():
    schema = crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for node in nodes(schema):
        assert "type" in node
        assert set(node) <= STRUCTURAL
    for file in sorted((ROOT / "examples/manifests").iterdir()):
        for one in yaml.safe_load_all(file.read_text("utf-8")):
            jsonschema.validate(one, schema)
    good = {"targetService": "shop", "fallback": "template"}
    condition = {"metric": "error_rate", "threshold": 0.1}
    bad = [
        {**good, "trafficPercentage": 101},
        {"fallback": "template"},
        {**good, "conditions": [{**condition, "metric": "p98"}]},
        {**good, "conditions": [{**condition, "window": "60"}]},
        {**good, "conditions": [{**condition, "threshold": -1}]},
    ]
    jsonschema.validate({"spec": {**good, "conditions": [condition]}}, schema)
    for spec in bad:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"spec": spec}, schema)


def test_the_example_manifests_stand_together_under_the_example_policy():
    policy = load_policy(ROOT / "examples/policy.toml", load_config(ROOT / "examples/gateway.toml"))
    manifests = load(ROOT / "examples/manifests").manifests
    assert len(manifests) >= 4
    require_consistent(manifests, order=policy.paths.order, source="examples")


def test_the_configmap_holds_files_that_the_gateway_takes(tmp_path):
    for name, text in of_kind("ConfigMap")["data"].items():
        (tmp_path / name).write_text(text, "utf-8")
    config = load_config(tmp_path / "gateway.toml")
    policy = load_policy(tmp_path / "policy.toml", config)
    assert policy.paths.order[0] == "primary"
    assert config.manifests.namespace == yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["namespace"]
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["ports"][0]["containerPort"] == config.server.port
    assert pod["terminationGracePeriodSeconds"] > config.server.drain_s
    mounted = container["volumeMounts"][0]["mountPath"]
    assert container["args"] == ["gateway", "--config", f"{mounted}/gateway.toml", "--policy", f"{mounted}/policy.toml"]


def test_the_service_account_may_do_what_the_watch_does_and_the_labels_agree():
    rule = of_kind("Role")["rules"][0]
    assert (rule["apiGroups"], rule["resources"]) == (["truefall.dev"], ["degradationpolicies"])
    assert set(rule["verbs"]) == {"get", "list", "watch"}
    account = of_kind("ServiceAccount")["metadata"]["name"]
    deployment = of_kind("Deployment")["spec"]
    assert deployment["template"]["spec"]["serviceAccountName"] == account
    assert of_kind("RoleBinding")["subjects"][0]["name"] == account
    labels = deployment["template"]["metadata"]["labels"]
    for selector in (
        deployment["selector"]["matchLabels"],
        of_kind("Service")["spec"]["selector"],
        of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels.items()
    assert of_kind("PodDisruptionBudget")["spec"]["minAvailable"] < deployment["replicas"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_builds_the_folder():
    built = subprocess.run(["kubectl", "kustomize", str(KUBERNETES)], capture_output=True, text=True, check=True)
    assert len(list(yaml.safe_load_all(built.stdout))) == 9


def known_series():
    found, registry = set(), Metrics().registry
    policy = Policy()
    answers = Answers(embeddings=Embeddings(url="http://127.0.0.1:9/v1", model="m"))
    build_unaided(answers, policy=policy, session=None, environ={}, registry=registry, log=print, now_s=lambda: 0.0)
    for family in registry.collect():
        ends = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        found |= {family.name + end for end in ends}
    return found


def series_in(expression):
    """Metric names in PromQL: what is left when strings, label lists and functions are taken out."""
    plain = re.sub(r'"[^"]*"', "", expression)
    plain = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|without)\s*\([^)]*\)", "", plain)
    return set(re.findall(r"\b[a-z][a-z0-9]*_[a-z0-9_]+\b(?!\s*\()", plain))


def expressions():
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text("utf-8"))
    yield from (rule["expr"] for group in rules["groups"] for rule in group["rules"])
    board = json.loads((ROOT / "deploy/grafana/truefall.json").read_text("utf-8"))
    yield from (target["expr"] for panel in board["panels"] for target in panel["targets"])


def test_every_metric_that_an_alert_or_a_panel_names_exists():
    named = [(one, series_in(one)) for one in expressions()]
    assert all(series for _, series in named)
    unknown = [(one, series - known_series()) for one, series in named if series - known_series()]
    assert unknown == []


def test_the_specifications_metrics_are_there_by_name_and_can_be_asked_for():
    ours = {"degraded_request_ratio", "fallback_template_hit_rate", "kv_cache_allocation_failure_rate"}
    assert ours <= known_series()
    assert ours <= set(METRICS)
    assert ours <= set().union(*(series_in(one) for one in expressions()))


def test_whatever_is_lost_or_refused_for_good_has_an_alert():
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text("utf-8"))
    asked = set().union(*(series_in(rule["expr"]) for group in rules["groups"] for rule in group["rules"]))
    assert {
        "truefall_review_lost_total",
        "truefall_async_total",
        "truefall_manifests_refused",
        "truefall_policy_refused",
    } <= asked


def test_the_dashboards_panels_do_not_overlap():
    board = json.loads((ROOT / "deploy/grafana/truefall.json").read_text("utf-8"))
    taken = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + dx, at["y"] + dy) for dx in range(at["w"]) for dy in range(at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken
        taken |= cells
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
