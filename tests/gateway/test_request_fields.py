"""Every field that the gateway reads is of its type, nested ones too, or the client is told which is not and why."""

import json

import pytest
from served import backend, gateway, policy_of
from templated import templated_model
from upstream_stub import running, says

from gateway.errors import BadRequest
from gateway.request import parse

USER = {"role": "user", "content": "What is the capital?"}


def calling(calls, **fields):
    """A conversation in which the assistant called tools."""
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": calls, **fields}, USER]}


def saying(content, **fields):
    return {"messages": [{"role": "user", "content": content, **fields}]}


def offering(function):
    return {"tools": [{"type": "function", "function": function}]}


def in_form(**fields):
    schema = {"name": "a", "schema": {"type": "object"}}
    return {"response_format": {"type": "json_schema", "json_schema": {**schema, **fields}}}


AT = "messages[0]"
WRONG = {
    "calls, a text": (calling("x"), f"{AT}.tool_calls", '"x"', "a list"),
    "calls, an object": (calling({"a": 1}), f"{AT}.tool_calls", '{"a":1}', "a list"),
    "calls beside a text": (calling({"a": 1}, content="x"), f"{AT}.tool_calls", '{"a":1}', "a list"),
    "a call, a number": (calling([5]), f"{AT}.tool_calls[0]", "5", "an object"),
    "a call, null": (calling([None]), f"{AT}.tool_calls[0]", "missing", "an object"),
    "a called function": (calling([{"function": "f"}]), f"{AT}.tool_calls[0].function", '"f"', "an object"),
    "a call's name": (calling([{"function": {"name": 5}}]), f"{AT}.tool_calls[0].function.name", "5", "a string"),
    "arguments": (
        *(calling([{"function": {"name": "f", "arguments": [1]}}]), f"{AT}.tool_calls[0].function.arguments"),
        *("[1]", "a string that holds JSON"),
    ),
    "a call's id": (calling([{"id": 5, "function": {"name": "f"}}]), f"{AT}.tool_calls[0].id", "5", "a string"),
    "an old call": (calling(None, function_call=[1]), f"{AT}.function_call", "[1]", "an object"),
    "name": (saying("x", name=5), f"{AT}.name", "5", "a string"),
    "refusal": (calling(None, refusal={}), f"{AT}.refusal", "{}", "a string"),
    "whose result": (saying("x", tool_call_id=[]), f"{AT}.tool_call_id", "[]", "a string"),
    "content": (saying(5), f"{AT}.content", "5", "a string or a list of parts"),
    "a part": (saying(["x"]), f"{AT}.content[0]", '"x"', "an object with a type"),
    "a part's type": (saying([{"type": 5}]), f"{AT}.content[0]", '{"type":5}', "an object with a type"),
    "a part's text": (saying([{"type": "text", "text": 5}]), f"{AT}.content[0].text", "5", "a string"),
    "no text in it": (saying([{"type": "text"}]), f"{AT}.content[0].text", "missing", "a string"),
    "tools": ({"tools": "x"}, "tools", '"x"', "a list"),
    "a tool": ({"tools": [5]}, "tools[0]", "5", "an object"),
    "a tool's type": ({"tools": [{"type": {}}]}, "tools[0].type", "{}", "a string"),
    "a function": (offering("f"), "tools[0].function", '"f"', "an object"),
    "a function's name": (offering({"name": ["f"]}), "tools[0].function.name", '["f"]', "a string"),
    "parameters": (offering({"name": "f", "parameters": []}), "tools[0].function.parameters", "[]", "an object"),
    "description": (offering({"name": "f", "description": 5}), "tools[0].function.description", "5", "a string"),
    "a custom tool": ({"tools": [{"type": "custom", "custom": [1]}]}, "tools[0].custom", "[1]", "an object"),
    "functions": ({"functions": {"a": 1}}, "functions", '{"a":1}', "a list"),
    "an old function": ({"functions": ["f"]}, "functions[0]", '"f"', "an object"),
    "choice": ({"tool_choice": 5}, "tool_choice", "5", "a string or an object"),
    "a choice's function": ({"tool_choice": {"function": "f"}}, "tool_choice.function", '"f"', "an object"),
    "no choice": ({"tool_choice": "sometimes"}, "tool_choice", '"sometimes"', 'must be "none"'),
    "an old choice": ({"function_call": [1]}, "function_call", "[1]", "a string or an object"),
    "parallel": ({"parallel_tool_calls": "no"}, "parallel_tool_calls", '"no"', "true or false"),
    "format": ({"response_format": "json"}, "response_format", '"json"', "an object"),
    "format's type": ({"response_format": {"type": []}}, "response_format.type", "[]", "one of text"),
    "json_schema": (
        *({"response_format": {"type": "json_schema", "json_schema": "x"}}, "response_format.json_schema"),
        *('"x"', "an object"),
    ),
    "a schema's name": (in_form(name=5), "response_format.json_schema.name", "5", "a string"),
    "a schema": (in_form(schema=[1]), "response_format.json_schema.schema", "[1]", "an object"),
    "strict": (in_form(strict="yes"), "response_format.json_schema.strict", '"yes"', "true or false"),
    "stop": ({"stop": [1]}, "stop", "[1]", "a string or a list of strings"),
    "bias": ({"logit_bias": [1]}, "logit_bias", "[1]", "an object"),
    "a bias": ({"logit_bias": {"50256": "much"}}, 'logit_bias["50256"]', '"much"', "from -100 to 100"),
    "too much of it": ({"logit_bias": {"50256": 101}}, 'logit_bias["50256"]', "101", "from -100 to 100"),
    "stream": ({"stream": "yes"}, "stream", '"yes"', "true or false"),
    "options": ({"stream_options": 5}, "stream_options", "5", "an object"),
    "usage": ({"stream_options": {"include_usage": "x"}}, "stream_options.include_usage", '"x"', "true or false"),
    "metadata": ({"metadata": 5}, "metadata", "5", "an object"),
    "user": ({"user": 5}, "user", "5", "a string"),
    "async": ({"async": 5}, "async", "5", "true or false"),
    "a long value": ({"user": ["x" * 1000]}, "user", '["xxx', "a string"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_field_of_another_type_is_named_with_its_value_and_what_it_may_be(name):
    fields, field, value, bound = WRONG[name]
    with pytest.raises(BadRequest) as refused:
        parse(json.dumps({"messages": [USER], **fields}).encode(), max_tokens_bound=1000)
    assert refused.value.field == field
    told = str(refused.value)
    assert told.startswith(f"{field} is ")
    assert value in told
    assert bound in told
    assert len(told) < 200


OPTIONAL = (
    *("tools", "functions", "tool_choice", "function_call", "parallel_tool_calls", "response_format", "stop"),
    *("logit_bias", "stream", "stream_options", "metadata", "user", "async"),
)
TAKEN = {
    "null is absent": dict.fromkeys(OPTIONAL),
    "null in a message": {"messages": [{**USER, "name": None, "tool_calls": None, "refusal": None}]},
    "null in a call": calling([{"id": None, "function": {"name": "f", "arguments": None}}]),
    "null in a tool": offering({"name": "f", "parameters": None, "description": None, "strict": None}),
    "null in options": {"stream": True, "stream_options": {"include_usage": None}},
    "arguments as an object": calling([{"function": {"name": "f", "arguments": {"a": 1}}}]),
    "unknown ones": {"zzz": {"a": [1, None]}, "top_k": "many", **saying([{"type": "video", "video": 5}], zzz=5)},
    "a tool of another kind": {"tools": [{"type": "web_search", "zzz": 5}]},
    "a biased token": {"logit_bias": {"50256": -100, "7": 0.5}},
}


@pytest.mark.parametrize("name", TAKEN)
def test_null_means_absent_and_what_is_not_known_passes(name):
    body = {"messages": [USER], **TAKEN[name]}
    parsed = parse(json.dumps(body).encode(), max_tokens_bound=1000)
    assert parsed.body == {key: value for key, value in body.items() if key != "async"}


ODD_FOR_A_TEMPLATE = {
    "arguments, a list": calling([{"function": {"name": "f", "arguments": "[1]"}}]),
    "arguments, nested": calling([{"function": {"name": "f", "arguments": "[" * 100_000}}]),
    "arguments, a long number": calling([{"function": {"name": "f", "arguments": "9" * 5000}}]),
    "arguments, no JSON": calling([{"function": {"name": "f", "arguments": "{"}}]),
    "no function": calling([{}]),
    "properties": offering({"name": "f", "parameters": {"properties": 5}}),
}


@pytest.mark.parametrize("name", ODD_FOR_A_TEMPLATE)
async def test_what_a_chat_template_cannot_take_is_no_mistake_of_ours(name, tmp_path):
    model, policy = templated_model(tmp_path), policy_of(accounting={"enabled": False})
    async with (
        running(says("Paris.")) as up,
        gateway(backend(up, "primary", model_dir=model, context_tokens=4096), policy=policy) as served,
    ):
        answer = await served.chat(**{"messages": [USER], **ODD_FOR_A_TEMPLATE[name]})
        assert answer.status in (200, 400)
        if answer.status == 400:
            assert "chat template refuses" in answer.json["error"]["message"]
        assert (await served.chat()).record == {"level": "healthy"}
