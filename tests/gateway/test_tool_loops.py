"""In a tool loop only a model goes on: nothing prepared stands before it, and in its place that it is not there."""

import json

import msgspec
import pytest
from served import backend, gateway, policy_of
from test_tool_calls import LOOKS, NAMED, TOOLS, backend_saying
from upstream_stub import dies, running, says

from gateway.answers.embedding import HASHED, embed
from gateway.answers.gatekeepers import Model, checksum_path
from gateway.answers.intents import Intent, IntentFile, Response
from gateway.answers.lexis import split
from gateway.config import Answers

GOOD = "It was shipped on Tuesday."
HOURS = {"en": "What are the opening hours?", "zh": "你们的营业时间是几点？"}
RULES = """
[[rules]]
name = "hours"
any_of = ["opening hours", "营业时间"]
answer_en = "From nine to five."
answer_zh = "九点到五点。"
"""
FRONT = ["rules", "classifier", "template", "primary"]
BEHIND = ["primary", "rules", "classifier", "extract", "template", "structured"]
PREPARED = [
    {"lang": "en", "text": "From nine to five.", "examples": [HOURS["en"]], "abstains": False},
    {"lang": "zh", "text": "九点到五点。", "examples": [HOURS["zh"]], "abstains": False},
    {"lang": "en", "text": "No answer now."},
    {"lang": "zh", "text": "暂时无法回答。"},
]
SILENT = {"en": "No answer now.", "zh": "暂时无法回答。"}


@pytest.fixture
def prepared(tmp_path):
    """Rules, a classifier and intents that all know the opening hours."""
    import hashlib

    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    said = {"en": "From nine to five.", "zh": "九点到五点。"}
    responses = tuple(Response(lang=lang, text=text) for lang, text in said.items())
    vectors = [embed(text) for text in HOURS.values()]
    places = {place for vector in vectors for place in vector}
    weights = {place: (max(20.0 * vector.get(place, 0) for vector in vectors), 0.0) for place in places}
    model = Model(
        truefall_gatekeeper=1,
        space=HASHED,
        classes=("hours", "other"),
        bias=(0.0, 0.0),
        weights=weights,
        responses={"hours": responses},
    )
    raw = msgspec.json.encode(model)
    (tmp_path / "gk.json").write_bytes(raw)
    checksum_path(tmp_path / "gk.json").write_text(hashlib.sha256(raw).hexdigest())
    intents = tuple(
        Intent(id=f"INT-{at:02}", centre=vector, radius=0.6, responses=responses) for at, vector in enumerate(vectors)
    )
    file = IntentFile(truefall_intents=1, space=HASHED, intents=intents)
    (tmp_path / "intents.json").write_bytes(msgspec.json.encode(file))
    return Answers(rules=tmp_path / "rules.toml", classifier=tmp_path / "gk.json", intents=tmp_path / "intents.json")


def loop(asked, found, role="tool"):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    result = {"role": role, "content": found, **({"tool_call_id": "c1"} if role == "tool" else {"name": "look"})}
    return [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        result,
    ]


async def asked(served, messages, **fields):
    return await served.post("/v1/chat/completions", json.dumps({"messages": messages, **fields}).encode())


ASKED = {"en": "Where is order A-1?", "zh": "订单 A-1 在哪里？"}


@pytest.mark.parametrize("lang", HOURS)
@pytest.mark.parametrize("order", [["rules", "primary"], ["classifier", "primary"], ["template", "primary"], FRONT])
async def test_a_new_question_is_answered_before_the_model_and_a_tools_result_never_is(prepared, lang, order):
    policy = policy_of(paths={"order": order}, templates=PREPARED)
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy, answers=prepared) as served:
        new = await asked(served, [{"role": "user", "content": HOURS[lang]}])
        assert new.record["path"] == order[0]
        for messages in (
            loop(ASKED[lang], HOURS[lang]),
            loop(HOURS[lang], "9-17"),
            loop(HOURS[lang], "9-17", "function"),
        ):
            answer = await asked(served, messages, tools=TOOLS)
            assert (answer.record, answer.text) == ({"level": "healthy"}, GOOD)
        turned = [
            *loop(ASKED[lang], "…"),
            {"role": "assistant", "content": GOOD},
            {"role": "user", "content": HOURS[lang]},
        ]
        assert (await asked(served, turned)).record["path"] == order[0]


@pytest.mark.parametrize("lang", HOURS)
@pytest.mark.parametrize("choice", ["required", NAMED])
async def test_where_a_call_is_owed_the_model_is_asked(prepared, lang, choice):
    policy = policy_of(paths={"order": FRONT}, templates=PREPARED)
    script = LOOKS if choice == "required" else backend_saying("listen")
    async with running(script) as up, gateway(backend(up, "primary"), policy=policy, answers=prepared) as served:
        answer = await served.chat(HOURS[lang], tools=TOOLS, tool_choice=choice)
    assert answer.record == {"level": "healthy"}


@pytest.mark.parametrize("lang", HOURS)
@pytest.mark.parametrize("stream", [False, True])
async def test_without_a_model_a_tool_loop_ends_with_the_words_that_there_is_no_answer(prepared, lang, stream):
    policy = policy_of(paths={"order": BEHIND}, templates=PREPARED, breaker={"consecutive_failures": 99})
    async with running(dies()) as up, gateway(backend(up, "primary"), policy=policy, answers=prepared) as served:
        owed = await served.chat(HOURS[lang], tools=TOOLS, tool_choice="required", stream=stream)
        found = [
            await asked(served, loop(*pair), stream=stream)
            for pair in ((ASKED[lang], HOURS[lang]), (HOURS[lang], "A-1: 9-17"), (HOURS[lang], HOURS[lang]))
        ]
    for answer in (owed, *found):
        record = answer.streamed_record if stream else answer.record
        text = answer.streamed_text if stream else answer.text
        assert (record["path"], record["abstained"], text) == ("template", True, SILENT[lang])


async def test_where_no_template_abstains_a_tool_loop_ends_with_the_structured_body(prepared):
    policy = policy_of(paths={"order": BEHIND}, templates=PREPARED[:2])
    async with running(dies()) as up, gateway(backend(up, "primary"), policy=policy, answers=prepared) as served:
        answer = await asked(served, loop(HOURS["en"], HOURS["en"]))
    assert (answer.status, answer.record["path"]) == (206, "structured")


@pytest.mark.parametrize("lang", HOURS)
async def test_an_earlier_answer_is_given_again_only_where_the_tool_said_the_same(lang):
    policy = policy_of(paths={"order": ["primary", "cache", "template"]}, breaker={"consecutive_failures": 99})
    found = {"role": "tool", "tool_call_id": "c1", "content": "Order A-1: Tuesday."}
    one = [{"role": "user", "content": ASKED[lang]}, found]
    other = [one[0], {**found, "content": "Order A-1: Friday."}]
    said = {"en": GOOD, "zh": "星期二已发货。"}[lang]
    async with running(says(said)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        assert (await asked(served, one)).record == {"level": "healthy"}
        up.script = dies()
        assert (await asked(served, one)).record["path"] == "cache"
        assert (await asked(served, other)).record["path"] == "template"


def test_what_a_tool_found_is_no_question_but_may_hold_the_answer():
    found = split(loop(f"I wait. {ASKED['en']}", "It is in Bern. Where do you want it?"))
    assert found.asked == ASKED["en"]
    assert found.context == ("I wait.", "It is in Bern.", "Where do you want it?")
    assert split(loop("", "Bern")[2:]) == ("", ("Bern",))
