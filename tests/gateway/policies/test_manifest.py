"""Manifests are read strictly: what is wrong is named with its line, its value and what would be right."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import TEXT

from gateway.errors import ConfigError
from gateway.policies.manifest import Scope
from gateway.policies.yaml_file import parse


def test_the_sources_example_is_read():
    (one,) = parse(TEXT, source="f.yaml")
    assert (one.name, one.spec.target_service, one.spec.traffic_percentage) == ("slow-shop", "shop", 15)
    assert one.spec.scope is Scope.SERVICE
    assert [(cond.metric, cond.threshold, cond.window_s) for cond in one.spec.conditions] == [
        ("p99_latency_ms", 1200, 60.0)
    ]


def test_one_file_may_hold_several_documents_and_empty_ones():
    assert len(parse(f"---\n{TEXT}---\n---\n{TEXT.replace('slow-shop', 'two')}", source="f")) == 2
    assert parse("", source="f") == ()


WRONG = {
    "a misspelt key": (
        "trafficPercentage",
        "trafficPercent",
        r"f\.yaml:8: unknown key 'spec\.trafficPercent'; known here are .*trafficPercentage",
    ),
    "a share over 100": ("15", "150", r"f\.yaml:8: .*<= 100.* - at spec\.trafficPercentage = 150"),
    "text for a number": (
        "1200",
        "fast",
        r"f\.yaml:12: Expected `float`.* - at spec\.conditions\.0\.threshold = 'fast'",
    ),
    "not a number": ("1200", ".nan", r"f\.yaml:1[0-2]: .*threshold"),
    "infinity": ("1200", ".inf", r"f\.yaml:1[0-2]: .*threshold"),
    "a window without unit": ("60s", "60", r"f\.yaml:13: Expected `str`.* - at spec\.conditions\.0\.window = 60"),
    "a window of nothing": ("60s", "0s", r"f\.yaml:13: .*matching regex.*spec\.conditions\.0\.window = '0s'"),
    "a window over an hour": ("60s", "2h", r"f\.yaml:1[0-3]: window '2h' is longer than 1h"),
    "a metric nobody measures": (
        "p99_latency_ms",
        "p98",
        r"f\.yaml:1[0-3]: metric 'p98' is not measured; measured",
    ),
    "a share above 1": ("p99_latency_ms", "error_rate", r"f\.yaml:1[0-3]: threshold 1200 of 'error_rate' is a share"),
    "another kind": ("kind: DegradationPolicy", "kind: Pod", r"f\.yaml:2: kind = 'Pod', must be 'DegradationPolicy'"),
    "another version": ("v1alpha1", "v9", r"f\.yaml:1: .* - at apiVersion = 'truefall\.dev/v9'"),
    "a key twice": (
        "  fallback: template",
        "  fallback: a\n  fallback: b",
        r"f\.yaml:10: key 'spec\.fallback' is there twice",
    ),
    "a name that is none": ("name: slow-shop", "name: Slow Shop", r"f\.yaml:4: .* - at metadata\.name = 'Slow Shop'"),
    "no fallback": ("  fallback: template\n", "", r"f\.yaml:6: Object missing required field `fallback`"),
    "an endpoint of every service": (
        "targetService: shop",
        "targetService: '*'\n  endpoint: /x",
        r"endpoint needs a",
    ),
    "an alias": ("{team: shop}", "{a: &x {b: c}, d: *x}", r"f\.yaml:5: an alias"),
    "no YAML": ("conditions:", "conditions: [", r"f\.yaml:\d+: not valid YAML"),
    "a tag that would run code": ("template", "!!python/object/apply:os.system [ls]", r"f\.yaml:9: not valid YAML"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_line(case):
    old, new, message = WRONG[case]
    assert old in TEXT
    with pytest.raises(ConfigError, match=message) as caught:
        parse(TEXT.replace(old, new, 1), source="f.yaml")
    assert "\n" not in str(caught.value)


def refusal_of(text):
    """Why the text is refused; None where it is not."""
    try:
        parse(text, source="f")
    except ConfigError as error:
        return str(error)
    return None


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_line(text):
    refusal = refusal_of(text)
    assert refusal is None or len(refusal.splitlines()) == 1


@settings(max_examples=50, deadline=None, derandomize=True)
@given(at=st.integers(0, len(TEXT) - 1), new=st.characters())
def test_any_one_changed_character_is_read_or_refused(at, new):
    refusal = refusal_of(TEXT[:at] + new + TEXT[at + 1 :])
    assert refusal is None or refusal.startswith("f")


def test_nesting_without_end_is_refused():
    assert "nested" in refusal_of("a: " + "[" * 40 + "]" * 40)
    assert refusal_of("[" * 5000) is not None
