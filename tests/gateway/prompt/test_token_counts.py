"""Counts equal what the model's own library counts, and bounds hold."""

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gateway.errors import BadRequest, ConfigError
from gateway.prompt import CharCounter, TokenCounter
from gateway.prompt.chat_template import plain as shown

MODELS = Path(os.environ.get("TRUEFALL_CACHE") or Path.home() / ".cache" / "truefall") / "models"
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}\n  {% if m['role'] not in ['system', 'user', 'assistant'] %}\n"
    "    {{ raise_exception('role ' + m['role'] + ' is unknown') }}\n  {% endif %}\n"
    "<{{ m['role'] }}>{{ m['content'] | trim }}</{{ m['role'] }}>\n{% endfor %}"
    "{% if add_generation_prompt %}{% generation %}<assistant>{% endgeneration %}{% endif %}"
)
CHATS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "Hello — 你好 🎉  what\n\n is   this? "}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "<|im_end|> 12345 <|im_start|>system"}],
    [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": "北京今天没有下雨。"},
        {"role": "user", "content": "def f(x):\n    return x"},
    ],
]


@pytest.fixture
def model_dir(tmp_path: Path) -> Path:
    """A byte-level BPE tokenizer without merges: one token for each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "<user>", "</user>"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": {"content": "<s>"}}), encoding="utf-8")
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return tmp_path


def test_the_template_is_rendered_with_its_special_tokens_and_generation_prompt(model_dir: Path) -> None:
    counter = TokenCounter.load(model_dir)
    text = counter.render([{"role": "user", "content": " hi "}])
    assert text == "<s><user>hi</user>\n<assistant>"
    assert counter.count_messages([{"role": "user", "content": " hi "}]) == 3 + len("hi\n<assistant>")
    assert counter.has_template


def test_a_message_the_template_refuses_is_the_clients_error(model_dir: Path) -> None:
    with pytest.raises(BadRequest, match="role wizard is unknown"):
        TokenCounter.load(model_dir).count_messages([{"role": "wizard", "content": "x"}])


def test_a_template_cannot_reach_out_of_its_sandbox(model_dir: Path) -> None:
    (model_dir / "chat_template.jinja").write_text("{{ messages.__class__.__mro__[1].__subclasses__() }}")
    with pytest.raises(BadRequest, match="template refuses"):
        TokenCounter.load(model_dir).count_messages([{"role": "user", "content": "x"}])


def test_a_template_sees_messages_as_the_plain_sandbox_shows_them_each_time(model_dir: Path) -> None:
    """What the sandbox said of an attribute is remembered: what was refused once is refused again."""
    probes = (
        *("messages[0].role", "messages[0].none", "messages[0].get('role')", "messages[0].update", "messages.append"),
        *("messages[0].tool_calls[0].items", "messages[0].tool_calls[0].function.keys", "messages[0].__class__"),
        *("messages[0].tool_calls[0].__class__", "messages|attr('__class__')", "messages[0].tool_calls[0].mine"),
        *("messages[0].role.upper()", "nothing.at", "'{0.__class__}'.format(messages)", "namespace(a=1).a", "tools.b"),
        *("messages.count(1) ~ messages.append", "messages.index ~ messages.pop", "loop.first ~ loop.__class__"),
    )
    plain = ImmutableSandboxedEnvironment()
    call = {"items": "mine", "mine": 1, "__class__": "me", "function": {"name": "f", "keys": "too"}}
    messages = [{"role": "user", "content": "x", "tool_calls": [call]}]
    for probe in probes * 2:
        source = f"{{{{ {probe} }}}}"
        (model_dir / "chat_template.jinja").write_text(source)
        ours = partial(TokenCounter.load(model_dir).render, messages)
        theirs = partial(plain.from_string(source).render, messages=[shown(messages[0])], tools=None)
        assert [said(ours), said(ours)] == [said(theirs)] * 2, probe


def said(render: Callable[[], str]) -> str | None:
    """None where it was refused."""
    try:
        return re.sub(r"0x[0-9a-f]+", "", render())
    except (BadRequest, TemplateError):
        return None


def test_the_template_of_the_tokenizer_config_is_found_too(model_dir: Path) -> None:
    (model_dir / "chat_template.jinja").unlink()
    assert not TokenCounter.load(model_dir).has_template
    named = [{"name": "default", "template": "{{ messages[0].content }}"}, {"name": "rag", "template": "x"}]
    (model_dir / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}), encoding="utf-8")
    assert TokenCounter.load(model_dir).count_messages([{"role": "user", "content": "four"}]) == 4


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [("tokenizer.json", "{}", "not a tokenizer"), ("chat_template.jinja", "{% if %}", "line 1")],
)
def test_a_damaged_model_folder_is_named(model_dir: Path, file: str, text: str, words: str) -> None:
    (model_dir / file).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        TokenCounter.load(model_dir)


def test_a_folder_without_a_tokenizer_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.json"):
        TokenCounter.load(tmp_path)


@settings(deadline=None, derandomize=True)
@given(text=st.text(max_size=200))
def test_the_estimate_without_a_tokenizer_is_never_under_the_bytes_over_three(text: str) -> None:
    counter = CharCounter()
    assert counter.count_text(text) * 3 >= len(text.encode("utf-8", "surrogatepass"))
    assert counter.count_texts([text]) == [counter.count_text(text)]
    assert counter.count_messages([{"role": "user", "content": text}]) > counter.count_text(text)


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize("file", sorted(MODELS.glob("*/tokenizer.json")), ids=lambda file: file.parent.name)
def test_counts_of_the_packaged_models_equal_those_of_transformers(file: Path) -> None:
    transformers = pytest.importorskip("transformers")
    counter, theirs = TokenCounter.load(file.parent), transformers.AutoTokenizer.from_pretrained(file.parent)
    if not counter.has_template:
        pytest.skip("a model without a chat template")
    for chat in CHATS:
        joined = [{**m, "content": m["content"] if isinstance(m["content"], str) else "one two"} for m in chat]
        expected = len(theirs.apply_chat_template(joined, add_generation_prompt=True)["input_ids"])
        assert counter.count_messages(chat) == expected <= counter.upper_bound(chat)
