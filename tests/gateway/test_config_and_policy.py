"""Config and policy files: strict, with the line, the key and what would be right."""

from pathlib import Path

import pytest

from gateway import toml
from gateway.backends.backend import key_of
from gateway.config import Backend, Config, load_config
from gateway.errors import ConfigError
from gateway.policy import Policy, load_policy

EXAMPLES = Path(__file__).parents[2] / "examples"
BACKEND = '[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\n'

SHAPE = "[backends.memory]\nkv_capacity_bytes = 9\n[backends.memory.shape]\nlayers = 2\n"
HEADS = "kv_heads = 2\nhead_dim = 8\n"


def refusal(text: str, kind: type = Config) -> str:
    with pytest.raises(ConfigError) as refused:
        toml.parse(text, kind, source="f.toml")
    return str(refused.value)


def test_the_examples_are_read_and_the_example_policy_spells_out_the_defaults():
    config = load_config(EXAMPLES / "gateway.toml")
    policy = load_policy(EXAMPLES / "policy.toml", config)
    default = load_policy(None, config)
    for table in ("paths", "deadline", "breaker", "health", "overload", "truncation", "ledger", "validation"):
        assert getattr(policy, table) == getattr(default, table), table
    for table in ("accounting", "grounding", "extract", "structured", "notices", "cache", "semantic_gate"):
        assert getattr(policy, table) == getattr(default, table), table


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BACKEND + "modell = 1\n", "f.toml:5: unknown key 'backends.0.modell'; known here are api_key_env"),
        (BACKEND + '[backends.memory]\nprobee = "x"\n', "f.toml:6: unknown key 'backends.0.memory.probee'"),
        (BACKEND + "max_queue = -3\n", "f.toml:5: Expected `int` >= 0"),
        (BACKEND + '[server]\nport = "x"\n', "f.toml:6: Expected `int`, got `str`"),
        ("backends = []\n", "f.toml:1: Expected `array` of length >= 1"),
        ("x =\n", "not valid TOML"),
        (BACKEND + BACKEND, "f.toml:1: backends: name 'primary' is used 2 times, at most once"),
        (BACKEND.replace("primary", "extract"), "f.toml:2: name 'extract' is taken"),
        (BACKEND + '[backends.memory]\nprobe = "process"\n', "f.toml:6: probe 'process' needs kv_capacity_bytes"),
        (BACKEND + "[backends.memory]\nkv_capacity_bytes = 9\n", "needs to know what a token takes: set [backends.mem"),
        (BACKEND + SHAPE + "kv_heads = 2\n", "shape needs kv_heads and head_dim, or in their place kv_lora_rank and"),
        (BACKEND + SHAPE + "kv_heads = 2\nhead_dim = 8\nkv_lora_rank = 9\n", "shape needs kv_heads and head_dim, or"),
        (BACKEND + SHAPE + "kv_heads = 0\nhead_dim = 8\n", "f.toml:9: Expected `int` >= 1"),
        (BACKEND + SHAPE + HEADS + 'dtype = "float7"\n', "dtype is 'float7', must be one of float32, float16"),
        (BACKEND + SHAPE + HEADS + "sliding_layers = 1\n", "sliding_layers is 1, which needs window_tokens"),
        (BACKEND + SHAPE + HEADS + "window_tokens = 9\nsliding_layers = 3\n", "is 3, at most layers, 2"),
        (BACKEND + '[backends.memory]\nkv_dtype = "f"\n', "f.toml:6: kv_dtype is 'f', must be one of float32"),
        (BACKEND + "[backends.speculative_off]\nstream = false\n", "'stream' is what the gateway itself sets"),
        (BACKEND.replace('"m"', '""'), "f.toml:4: Expected `str` matching"),
        (
            BACKEND.replace(":1/", ":99999/"),
            "f.toml:3: url 'http://127.0.0.1:99999/v1' is no address: Port out of range",
        ),
        (BACKEND.replace("127.0.0.1:1", "[::1"), "is no address: Invalid IPv6 URL"),
        (BACKEND.replace("127.0.0.1:1", "127.0.0.1:abc"), "is no address: Port could not be cast"),
        (BACKEND.replace("127.0.0.1:1", ""), "names no host, must be like http://"),
        (BACKEND.replace("127.0.0.1:1", ":8"), "names no host, must be like http://"),
        (
            BACKEND.replace("127.0.0.1:1", "user:pw@127.0.0.1:1"),
            "the key belongs in the variable that api_key_env names",
        ),
        (BACKEND.replace("/v1", "/v1?x=1"), "must end with it"),
        (
            BACKEND + '[backends.memory]\nmetrics_url = "http://[::1/metrics"\n',
            "metrics_url 'http://[::1/metrics' is no",
        ),
        (BACKEND + '[answers.embeddings]\nurl = "http://:8/v1"\nmodel = "m"\n', "names no host"),
        (BACKEND + '[telemetry]\notlp_endpoint = "http://127.0.0.1:99999"\n', "Port out of range"),
        (
            BACKEND + '[server]\nforward_headers = ["Content-Length"]\n',
            "'Content-Length' is no header that can be passed",
        ),
        (BACKEND + '[server]\nforward_headers = ["a b"]\n', "'a b' is no header that can be passed"),
        (BACKEND + "[connections]\nmax_header_bytes = 10\n", "f.toml:6: Expected `int` >= 1024"),
    ],
)
def test_a_wrong_config_is_refused_with_line_and_key(text, told):
    assert told in refusal(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[health]\np99 = 1\n", "f.toml:2: unknown key 'health.p99'; known here are breaker_"[:38]),
        ("[breaker]\ntimeout_share = 1.5\n", "f.toml:2: Expected `float` <= 1.0"),
        ("[health]\n\nledger_high = 0.99\n", "f.toml:3: ledger_high is 0.99 and ledger_critical 0.95, must be"),
        ("[health]\n\np99_ms = 0\n", "f.toml:3: Expected `float` > 0.0 - at health.p99_ms = 0"),
        ("[health]\nescalate_s = 0\ndwell_s = -1\n", "f.toml:3: Expected `float` >= 0.0 - at health.dwell_s = -1"),
        ("[health]\np99_ms = 1\nrecover_share = 0\n", "f.toml:3: Expected `float` > 0.0 - at health.recover_share"),
        ("[health]\nprobe_s = nan\n", "f.toml:2: Expected `float` >= 0.0"),
        ('[[templates]]\nlang = "fr"\ntext = "x"\n', "f.toml:2: Invalid enum value 'fr'"),
        ("[limits.primary]\ntotal_s = 0\n", "f.toml:2: Expected `float` > 0"),
        ("[limits.primary]\ntotal_s = inf\n", "f.toml:2: Expected `float` <= 1000000000.0"),
        ("[deadline]\n\nrequest_s = 0.2\n", "f.toml:3: reserve_s is 0.2 and request_s 0.2: no time is left"),
        ("[ledger]\n\nhigh = 0.99\n", "f.toml:3: unknown key 'ledger.high'; known here are long_tokens, wait_s, water"),
        ("[structured]\nstatus = 204\n", "f.toml:2: status is 204, which has no body"),
        ('[[templates]]\nlang = "en"\ntext = "  "\n', "f.toml:3: Expected `str` matching"),
    ],
)
def test_a_wrong_policy_is_refused_with_line_and_key(text, told):
    assert told in refusal(text, Policy)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[paths]\norder = ["primary", "cloud"]\n', ":2: paths.order: 'cloud' is not a path; known are primary, rules"),
        ('[paths]\norder = [\n  "primary",\n  "cloud",\n]\n', ":4: paths.order: 'cloud' is not a path"),
        ('[paths]\norder = ["primary", "primary"]\n', ":2: paths.order: 'primary' is there 2 times, at most once"),
        ('[paths]\n\nsmall_first = ["cloud"]\n', ":3: paths.small_first: 'cloud' is not a path"),
        ('[paths]\norder = ["rules"]\n', ":2: paths.order: 'rules' needs answers.rules"),
        ("\n[limits.cloud]\ntotal_s = 1\n", ":2: limits: 'cloud' is not a path"),
    ],
)
def test_a_policy_must_fit_the_config(tmp_path, text, told):
    config = toml.parse(BACKEND, Config, source="c.toml")
    path = tmp_path / "f.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_policy(path, config)
    assert str(refused.value).startswith(f"{path}{told}")


def test_a_file_that_is_not_utf8_is_refused_with_the_byte(tmp_path):
    path = tmp_path / "c.toml"
    path.write_bytes(b'x = "\xff"')
    with pytest.raises(ConfigError, match="not UTF-8 at byte 5"):
        load_config(path)


def test_paths_in_a_config_are_from_its_own_folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "c.toml").write_text(BACKEND + 'model_dir = "model"\n')
    assert load_config(tmp_path / "c.toml").backends[0].model_dir == tmp_path / "model"
    (tmp_path / "c.toml").write_text(BACKEND + 'model_dir = "none"\n')
    with pytest.raises(ConfigError, match="is not a folder"):
        load_config(tmp_path / "c.toml")


@pytest.mark.parametrize(
    ("key", "told"), [("", "is empty"), ("abc\n", "holds a line break"), ("schlüssel", "no header may hold")]
)
def test_a_key_that_no_header_can_hold_is_refused_at_the_start(key, told):
    one = Config(backends=(Backend(name="primary", url="http://127.0.0.1:1/v1", model="m", api_key_env="KEY"),))
    with pytest.raises(ConfigError, match=told) as refused:
        key_of(one.backends[0], {"KEY": key})
    assert "api_key_env" in str(refused.value)
    assert "abc" not in str(refused.value)
