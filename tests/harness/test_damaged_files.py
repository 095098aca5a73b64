"""Every file that a user hands to a command may be damaged in any way: exit code 2, one line, and no traceback."""

import contextlib
import hashlib
import json
from pathlib import Path

import pytest
from templated import templated_model

from gateway.answers.rules import load_rules
from gateway.config import load_config
from gateway.errors import ConfigError
from gateway.memory.estimate import KvShape
from gateway.policy import load_policy
from harness.ab.events import COLUMNS, read_events
from harness.cli import main
from harness.criteria import load_criteria
from harness.errors import user_errors
from harness.gatekeepers.responses import load_responses
from harness.models import load_profile

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
LONG = "9" * 5000
NESTED = 5000
SHAPE = {"num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 64}
MODEL_CONFIG = {
    **SHAPE,
    **{"model_type": "gemma2", "num_key_value_heads": 4, "head_dim": 8, "dtype": "float16"},
    **{"sliding_window": 16, "sliding_window_pattern": 2, "num_kv_shared_layers": 1},
}
CONFIG = '[[backends]]\nname = "a"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
ODD: tuple[object, ...] = (
    None,
    True,
    5,
    -1,
    2.5,
    "x",
    "",
    [5],
    [[]],
    {"a": 1},
    10**4000,
    10**12,
    float("nan"),
    float("inf"),
)


def gateway_with(folder, more):
    (folder / "gateway.toml").write_text(CONFIG + more)
    return ["gateway", "--config", str(folder / "gateway.toml"), "--check"]


def of_config(folder, file):
    return ["gateway", "--config", str(file), "--check"]


def of_policy(folder, file):
    return [*gateway_with(folder, ""), "--policy", str(file)]


def in_answers(key):
    return lambda folder, file: gateway_with(folder, f'[answers]\n{key} = "{file}"\n')


def of_classifier(folder, file):
    if file.is_file():
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        file.with_name(f"{file.name}.sha256").write_text(f"{digest}  {file.name}\n")
    return in_answers("classifier")(folder, file)


def of_checksum(folder, file):
    file.with_suffix("").write_text("{}")
    return in_answers("classifier")(folder, file.with_suffix(""))


def of_model(folder, file):
    """The backend's model folder; its KV cache is reckoned from the config in it."""
    whole = templated_model(folder)
    (whole / "damaged").mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        target = whole / "damaged" / name
        if name == file.name:
            file.rename(target)
        elif name == "config.json":
            target.write_text(json.dumps(MODEL_CONFIG))
        else:
            (whole / name).rename(target)
    more = f'model_dir = "{whole / "damaged"}"\nmemory = {{ kv_capacity_bytes = 1000000 }}\n'
    return gateway_with(folder, more)


def of_template(folder, file):
    target = templated_model(folder)
    (target / "damaged").mkdir()
    (target / "tokenizer.json").rename(target / "damaged" / "tokenizer.json")
    file.rename(target / "damaged" / file.name)
    return gateway_with(folder, f'model_dir = "{target / "damaged"}"\n')


def command(*words):
    return lambda folder, file: [*words[:-1], f"{words[-1]}{file}"] if words[-1] else [*words[:-1], str(file)]


def with_output(*words):
    return lambda folder, file: [*words, str(file), "--output", str(folder / "out")]


def of_run(folder, file):
    run = folder / "run"
    run.mkdir()
    file.rename(run / "run.json")
    return ["gate", str(run)]


FILES = {
    "config": ("gateway.toml", of_config),
    "policy": ("policy.toml", of_policy),
    "rules": ("rules.toml", in_answers("rules")),
    "intents": ("intents.json", in_answers("intents")),
    "classifier": ("model.json", of_classifier),
    "its checksum": ("model.json.sha256", of_checksum),
    "manifests": ("manifest.yaml", command("manifests", "")),
    "manifests of a gateway": (
        *("manifest.yaml", lambda folder, file: gateway_with(folder, f'[manifests]\npath = "{file}"\n')),
    ),
    "drift baseline": (
        *("drift.json", lambda folder, file: gateway_with(folder, f'[telemetry]\ndrift_baseline = "{file}"\n')),
    ),
    "asynchronous answers": (
        *("async.db", lambda folder, file: gateway_with(folder, f'[deferred]\npath = "{file}"\n')),
    ),
    "model config of a gateway": ("config.json", of_model),
    "tokenizer": ("tokenizer.json", of_model),
    "tokenizer config": ("tokenizer_config.json", of_model),
    "template": ("chat_template.jinja", of_template),
    "model config": ("config.json", command("kv-plan", "")),
    "questions": ("q.jsonl", with_output("intents", "build", "--evalset")),
    "responses": ("r.toml", with_output("intents", "build", "--responses")),
    "classifier to measure": ("m.json", command("gatekeeper", "eval", "--model", "")),
    "questions to learn": ("q.jsonl", with_output("gatekeeper", "train", "--evalset")),
    "evaluation set": ("items.jsonl", command("evalset", "lint", "")),
    "criteria": ("criteria.toml", lambda folder, file: ["gate", str(folder), "--criteria", str(file)]),
    "run": ("run.json", of_run),
    "profile": ("profile.toml", command("chaos", "--profile", "")),
    "texts": ("texts.jsonl", with_output("baseline", "--texts")),
    "reviews": ("review.db", lambda folder, file: ["review", "--db", str(file), "list"]),
    "labelled answers": ("rows.jsonl", command("judge-the-judge", "")),
}
TAKEN = {  # no damage to these
    *(("template", damage) for damage in ("empty", "a long number", "no numbers", "a list", "a word", "NUL")),
    *(("manifests of a gateway", "empty"), ("manifests of a gateway", "a folder")),
    ("tokenizer config", "no numbers"),
}
NOT_UTF8 = b'{"a": "\xff\xfe", \x00}'
MAY_BE_EMPTY = {"policy", "rules", "template", "asynchronous answers", "responses", "criteria", "reviews"}


def nested(name):
    if name.endswith(".toml"):
        return "x = " + "[" * NESTED
    if name.endswith(".yaml"):
        return "x: " + "[" * NESTED
    return ("{% if a %}" if name.endswith(".jinja") else '{"a":') * NESTED


def endless(name):
    written = {".toml": f"x = {LONG}\n", ".yaml": f"x: {LONG}\n", ".jinja": "{{ " + LONG + " }}"}
    return written.get(Path(name).suffix, f'{{"a": {LONG}}}')


def unheard_of(name):
    written = {".toml": "x = nan\ny = inf\n", ".yaml": "x: .nan\n", ".jinja": "{{ nan( }}"}
    return written.get(Path(name).suffix, '{"a": NaN, "b": Infinity}')


DAMAGES = {
    "not UTF-8": lambda file: file.write_bytes(NOT_UTF8),
    "empty": lambda file: file.write_bytes(b""),
    "a folder": lambda file: file.mkdir(),
    "nested": lambda file: file.write_text(nested(file.name)),
    "a long number": lambda file: file.write_text(endless(file.name)),
    "no numbers": lambda file: file.write_text(unheard_of(file.name)),
    "a list": lambda file: file.write_text("[1, 2]\n"),
    "a word": lambda file: file.write_text('"word"\n'),
    "NUL": lambda file: file.write_bytes(b"\0" * 100),
}


def told(capsys, words):
    """The exit code and what was said on stderr; an exception is the traceback that nobody may see."""
    try:
        code = main(words)
    except SystemExit as ended:
        code = ended.code
    return code, capsys.readouterr().err


def in_one_line(said):
    assert len(said.strip().splitlines()) == 1, said[:1000]
    assert "Traceback" not in said
    assert len(said) < 1000


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_file_is_refused_in_one_line(kind, damage, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    name, words_of = FILES[kind]
    folder = tmp_path / "more"
    folder.mkdir()
    file = tmp_path / name
    DAMAGES[damage](file)
    code, said = told(capsys, words_of(folder, file))
    if code == 0:
        assert (kind, damage) in TAKEN or (kind in MAY_BE_EMPTY and damage == "empty"), said
        return
    assert code in (1, 2) if kind == "evaluation set" else code == 2
    if kind != "evaluation set":
        in_one_line(said)


MORE_OF_A_MODEL = (
    *("layer_types", "no_rope_layers", "no_rope_layer_interval", "max_window_layers", "attention_chunk_size"),
    *("_sliding_window_pattern", "kv_lora_rank", "qk_rope_head_dim", "text_config", "torch_dtype", "multi_query"),
    *("use_sliding_window", "new_decoder_architecture", "use_bidirectional_attention"),
)


@pytest.mark.parametrize("family", ["gemma2", "qwen2", "qwen2_moe", "llama4_text", "deepseek_v3", "no_such", None])
def test_a_field_of_a_models_config_may_hold_anything(family):
    for field in (*MODEL_CONFIG, *MORE_OF_A_MODEL):
        for value in ODD:
            try:
                KvShape.from_config({**MODEL_CONFIG, "model_type": family, field: value})
            except ConfigError as error:
                in_one_line(str(error))


BAD_MODELS = {
    "layer_types is 5, must be a list": {"layer_types": 5},
    "num_kv_shared_layers is 'two', must be a whole number from 0 to 3": {"num_kv_shared_layers": "two"},
    "text_config is 'abc', must be an object": {"text_config": "abc"},
    "sliding_window_pattern is 'x', must be a whole number": {"sliding_window_pattern": "x"},
    "hidden_size is 4, must be num_attention_heads (8) or more": {"hidden_size": 4, "head_dim": None},
    "num_hidden_layers is a number of very many digits": {"num_hidden_layers": 10**4000},
}


@pytest.mark.parametrize("words", BAD_MODELS)
@pytest.mark.parametrize("by", ["kv-plan", "gateway --check"])
def test_what_is_wrong_in_a_models_config_is_told_alike_by_plan_and_check(words, by, tmp_path, capsys):
    folder = tmp_path / "more"
    folder.mkdir()
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**MODEL_CONFIG, **BAD_MODELS[words]}))
    code, said = told(capsys, of_model(folder, file) if by == "gateway --check" else ["kv-plan", str(file)])
    assert code == 2
    in_one_line(said)
    assert words in said or "digits" in words  # JSON of so many digits is refused as it is read


LITERALS = ("5", "-1", "2.5", '"x"', '""', "[5]", "[[]]", "{a = 1}", "true", "nan", "inf", "9" * 400, LONG, "[" * 500)
READERS = {
    "gateway.toml": (ROOT / "examples" / "gateway.toml", load_config),
    "policy.toml": (
        *(
            ROOT / "examples" / "policy.toml",
            lambda file: load_policy(file, load_config(file.with_name("config.toml"))),
        ),
    ),
    "rules.toml": (ROOT / "examples" / "rules.toml", load_rules),
    "responses.toml": (ROOT / "examples" / "responses.toml", load_responses),
    "criteria.toml": (ROOT / "harness" / "gates" / "cpu.toml", load_criteria),
    "profile.toml": (ROOT / "harness" / "profiles" / "cpu.toml", lambda file: load_profile(str(file))),
}


@pytest.mark.parametrize("name", READERS)
def test_a_key_of_a_toml_file_may_hold_anything(name, tmp_path):
    """Two things for each key, others for the next: all of them for all keys take minutes."""
    whole, read = READERS[name]
    lines = whole.read_text().splitlines()
    (tmp_path / "config.toml").write_text(CONFIG)
    file = tmp_path / name
    for index, line in enumerate(lines):
        key, equals, _ = line.removeprefix("# ").partition(" = ")
        if not equals or " " in key.strip():
            continue
        for literal in (LITERALS[index % len(LITERALS)], LITERALS[(index * 5 + 3) % len(LITERALS)]):
            file.write_text("\n".join([*lines[:index], f"{key} = {literal}", *lines[index + 1 :]]))
            with contextlib.suppress(*user_errors(), OSError):
                read(file)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_cell_of_the_events_may_hold_anything(column, tmp_path):
    row = dict(zip(COLUMNS, ("2026-01-01T10:00:00Z", "A", "i", "10", "5", "0.5"), strict=True))
    for cell in (
        "",
        "x",
        "-1",
        "nan",
        "inf",
        LONG,
        "1e999",
        "9999-99-99",
        "\0",
        '"a',
        "٣",
        "0001-01-01T00:00:00+23:59",
    ):
        file = tmp_path / "events.csv"
        file.write_text(f"{','.join(COLUMNS)}\n{','.join({**row, column: cell}.values())}\n")
        with contextlib.suppress(*user_errors()):
            read_events(file, {"i"})


@pytest.mark.parametrize("damage", ["not UTF-8", "empty", "nested", "no numbers", "a list", "a word", "NUL"])
def test_damaged_events_are_refused(damage, tmp_path):
    file = tmp_path / "events.csv"
    DAMAGES[damage](file)
    with pytest.raises(user_errors()):
        read_events(file, {"i"})
