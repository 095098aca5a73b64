import pytest

from gateway.config import UNAIDED
from harness.criteria import GATES, load_criteria, shipped
from harness.errors import ConfigError

GOOD = """
[run]
confidence = 0.95
max_crashes = 0
max_unmarked = 0
min_coverage = 1.0

[paths.any]
match = ["*"]
pool = "path"
min_n = 10
misleading = 0.1
"""


def load(tmp_path, text):
    (tmp_path / "c.toml").write_text(text)
    return load_criteria(tmp_path / "c.toml")


@pytest.mark.parametrize("name", sorted(file.stem for file in GATES.glob("*.toml")))
def test_the_criteria_that_come_along_are_sound(name):
    criteria = load_criteria(shipped(name))
    assert criteria.class_of("a path nobody thought of").name == "model"
    assert criteria.class_of("extract").name == "without-a-model"


def test_a_path_belongs_to_the_class_that_names_it(tmp_path):
    named = '[paths.named]\nmatch = ["extract"]\npool = "class"\nmin_n = 1\nmisleading = 0.2\n'
    criteria = load(tmp_path, GOOD + named)
    assert (criteria.class_of("extract").name, criteria.class_of("template").name) == ("named", "any")


def test_a_path_of_a_gateway_of_ones_own_is_named_in_the_run_table(tmp_path):
    own = GOOD.replace("min_coverage = 1.0", 'min_coverage = 1.0\nown_paths = ["canned", "replica"]')
    named = (
        '[paths.named]\nmatch = ["canned", "replica"]\npool = "class"\nmin_n = 1\nmisleading = 0.2\noptional = true\n'
    )
    criteria = load(tmp_path, own + named)
    assert criteria.class_of("canned").name == "named"
    assert criteria.class_of("canned").optional


@pytest.mark.parametrize("path", [*UNAIDED, "refused", "async"])
def test_the_criteria_that_come_along_know_every_path_of_the_gateway(path):
    for name in ("cpu", "gpu"):
        modelless = load_criteria(shipped(name)).class_of(path).name != "model"
        assert modelless or path == "async"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("misleading = 0.1", "misleading = nan", "misleading is nan"),
        ("misleading = 0.1", "misleading = inf", "misleading is inf"),
        ("misleading = 0.1", "misleading = 10", "a share, not a percent"),
        ("misleading = 0.1", "misleading = -0.1", r"in \[0, 1\]"),
        ("misleading = 0.1", 'misleading = "0.1"', "has to be a number"),
        ("misleading = 0.1", "misleading = true", "has to be a number"),
        ("misleading = 0.1", "", "could never fail"),
        ("misleading = 0.1", "misleeding = 0.1", "unknown key 'misleeding'; known are"),
        ("confidence = 0.95", "", "confidence is missing"),
        ("confidence = 0.95", "confidence = 0.5", r"in \(0.5, 1\)"),
        ("min_coverage = 1.0", "min_coverage = nan", "min_coverage is nan"),
        ("max_crashes = 0", "max_crashes = 0.5", "whole number"),
        ("min_n = 10", "min_n = 0", "at least 1"),
        ("min_n = 10", "", "min_n is missing"),
        ('pool = "path"', 'pool = "paths"', "one of class, path, path-fault, path-fault-language"),
        ('match = ["*"]', 'match = "*"', "has to be a list"),
        ('match = ["*"]', "match = []", "at least one path"),
        ('match = ["*"]', 'match = ["extract"]', 'no class matches "\\*"'),
        ('match = ["*"]', 'match = ["*", "*"]', "matched twice"),
        ('match = ["*"]', 'match = ["*", "tempalte"]', "names 'tempalte', which is no known path; is it 'template'"),
        ('match = ["*"]', 'match = ["*", "canned"]', "known: rules, .*own_paths, too"),
        ('match = ["*"]', 'match = ["*"]\noptional = 1', "optional is 1; it has to be true or false"),
        ("min_coverage = 1.0", 'min_coverage = 1.0\nown_paths = "canned"', "has to be a list"),
        ("min_coverage = 1.0", 'min_coverage = 1.0\nown_paths = ["canned"]', "'canned', which no class matches"),
        ("[run]", "[rum]", "unknown key 'rum'"),
        ("[paths.any]", "paths = 3\n[other]", "unknown key|not TOML|table"),
        ("[run]", "[run", "not TOML"),
        ("min_n = 10", f"min_n = {'1' * 5000}", "not TOML: .*digits"),
        ("min_n = 10", f"min_n = 0x{'f' * 5000}", "paths.any.min_n holds a whole number of over 64 bits"),
        ("misleading = 0.1", f"misleading = 1{'0' * 400}", "paths.any.misleading holds a whole number of over 64 bits"),
    ],
)
def test_a_threshold_that_is_missing_or_impossible_is_refused_with_file_and_key(tmp_path, old, new, says):  # S9
    with pytest.raises(ConfigError, match=says) as raised:
        load(tmp_path, GOOD.replace(old, new))
    assert "c.toml" in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("min_coverage = 1.0", "", 2),  # the table that lacks it
        ("min_coverage = 1.0", "min_coverage = 2", 6),
        ("misleading = 0.1", "misleading = nan", 12),
        ("misleading = 0.1", "mislead = 0.1", 12),
        ('pool = "path"', 'pool = "paths"', 10),
        ('match = ["*"]', 'match = ["*", "extrakt"]', 9),
    ],
)
def test_a_refusal_names_the_line(tmp_path, old, new, line):
    with pytest.raises(ConfigError, match=rf"c\.toml:{line}: \["):
        load(tmp_path, GOOD.replace(old, new))


def test_a_file_that_is_not_there_is_named_with_what_comes_along(tmp_path):
    with pytest.raises(ConfigError, match="shipped are cpu, gpu"):
        load_criteria(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("pool", "says"),
    [
        ("", "pool is missing"),
        ('pool = "fault"', "pool is 'fault'; it has to be one of class"),
        ("pool = 3", "pool is 3"),
    ],
)
def test_a_baseline_table_says_what_is_shown_no_worse_together(tmp_path, pool, says):
    table = f"\n[baseline]\n{pool}\nmin_n = 10\nmisleading_margin = 0.1\nf1_margin = 0.1\n"
    with pytest.raises(ConfigError, match=says):
        load(tmp_path, GOOD + table)
