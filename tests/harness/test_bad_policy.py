"""The policy that lies differs from the shipped one by its templates alone, so that only they can turn the gate red."""

from pathlib import Path

import msgspec

from gateway.config import Backend, Config
from gateway.policy import load_policy
from harness.models import load_profile

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIG = Config(
    backends=tuple(Backend(name=name, url="http://127.0.0.1", model=name) for name in ("primary", "secondary"))
)


def test_the_bad_policy_differs_from_the_shipped_one_in_its_templates_only():
    bad = load_policy(EXAMPLES / "bad-policy.toml", CONFIG)
    shipped = load_policy(load_profile("cpu").policy, CONFIG)
    assert msgspec.structs.replace(bad, name=shipped.name, templates=shipped.templates) == shipped
    assert "template" in shipped.paths.order


def test_its_templates_claim_to_be_answers_and_the_shipped_ones_do_not():
    bad = load_policy(EXAMPLES / "bad-policy.toml", CONFIG)
    shipped = load_policy(load_profile("cpu").policy, CONFIG)
    assert {template.lang for template in bad.templates} == {"en", "zh"}
    assert not any(template.abstains for template in bad.templates)
    assert all(template.abstains for template in shipped.templates)
