"""What a check of an answer may cost: a schema leads nowhere else, and nothing that takes long stops the gateway."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from functools import partial

import pytest
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway.answers.schema import SchemaChecks, is_risky
from gateway.answers.schema_process import Job, SchemaProcess, Unjudged, Verdict, judged
from gateway.answers.schema_processes import SchemaProcesses
from gateway.errors import BadRequest, UpstreamError

ENDLESS = {"properties": {"a": {"pattern": "^(a+)+$"}}, "required": ["a"]}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}, "type": "object"}}}


def form(schema):
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


WRONG = {
    "outside by http": ({"$ref": "http://127.0.0.1:9/x"}, "outside the schema"),
    "outside by file": ({"properties": {"a": {"$ref": "file:///etc/hostname"}}}, "outside the schema"),
    "outside, dynamic": ({"items": {"$dynamicRef": "http://127.0.0.1:9/x#y"}}, "outside the schema"),
    "to nothing": ({"$ref": "#/nope"}, "nope"),
    "without end": ({"$ref": "#"}, "without end"),
    "no type": ({"type": "banana", "$ref": "#/$defs/x", "$defs": {"x": {}}}, "banana"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_schema_that_leads_nowhere_is_told_apart(name):
    schema, told = WRONG[name]
    assert told in (judged(Job(schema=schema)).wrong or "")


def test_a_schema_within_itself_is_one():
    assert judged(Job(schema=TREE)).wrong is None
    assert judged(Job(schema=TREE, value={"next": {"next": {}}}, check_value=True)).wrong is None
    assert judged(Job(schema=TREE, value={"next": {"next": 3}}, check_value=True)).wrong is not None


def test_what_may_take_long_is_known_beforehand():
    assert not is_risky(b'{"$schema":"x","$defs":{},"type":"object"}', 1000)
    for risky in (ENDLESS, TREE, {"uniqueItems": True}, {"unevaluatedItems": False}):
        assert is_risky(json.dumps(risky).encode(), 10)
    assert is_risky(b"x" * 2001, 1000)


@contextlib.contextmanager
def listener():
    """A server of which nobody may want anything: the list is what came."""
    import socket

    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    came.append(server.accept()[0].close())

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], came


@pytest.mark.slow
async def test_a_schema_with_a_url_fetches_nothing_and_is_a_400():
    with listener() as (port, came):
        async with running(says("{}")) as up, gateway(backend(up, "primary")) as served:
            answer = await served.chat(response_format=form({"$ref": f"http://127.0.0.1:{port}/x"}))
            assert answer.status == 400
            assert "outside the schema" in answer.json["error"]["message"]
            assert up.seen == []
    assert came == []


def watched_asks(monkeypatch):
    """The threads that wait, from now on, while an answer is held against a risky schema."""
    threads, ask = [], SchemaProcess.ask

    def watch(process, job, **named):
        if job.check_value:
            threads.append(threading.get_ident())
        return ask(process, job, **named)

    monkeypatch.setattr(SchemaProcess, "ask", watch)
    return threads


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
async def test_a_pattern_without_end_stops_nobody_and_is_told(stream, monkeypatch):
    text = json.dumps({"a": "a" * 40 + "!"})
    async with running(says(text)) as up, gateway(backend(up, "primary")) as served:
        asked_in = watched_asks(monkeypatch)
        answer = await served.chat(response_format=form(ENDLESS), stream=stream)
        assert asked_in
        assert threading.get_ident() not in asked_in  # the event loop goes on
        asked_in.clear()
        record = answer.streamed_record if stream else answer.record
        assert record["reasons"] == ["validation_slow"]
        assert record["dropped"] == {"validation": True}
        assert (record["path"], record["level"]) == ("primary", "degraded")
        assert "only in part" in record["notice"]
        again = await served.chat(response_format=form(ENDLESS))
        assert not asked_in  # the schema is known to be slow
        assert again.record["reasons"] == ["validation_slow"]


@pytest.mark.slow
async def test_checks_tell_valid_from_invalid_and_slow():
    checks = SchemaChecks(budget_s=5.0)
    try:
        await checks.require(TREE)
        with pytest.raises(BadRequest, match="outside the schema"):
            await checks.require({"$ref": "file:///etc/hostname"})
        valid = json.dumps({"next": {}})
        assert await checks.check(valid, response_format="json_schema", schema=TREE)
        with pytest.raises(UpstreamError, match="violates"):
            await checks.check('{"next": 1}', response_format="json_schema", schema=TREE)
        checks.budget_s = 0.3
        assert not await checks.check(json.dumps({"a": "a" * 40 + "!"}), response_format="json_schema", schema=ENDLESS)
        with pytest.raises(UpstreamError, match="violates"):
            await checks.check("{}", response_format="json_schema", schema=ENDLESS)
        checks.budget_s = 5.0
        assert await checks.check(valid, response_format="json_schema", schema=TREE)  # the process is a new one
    finally:
        checks.processes.close()


def nested_not(levels):
    return json.loads('{"not":' * levels + "{}" + "}" * levels)


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [{"id": "http://[x"}]},
        {"properties": {"a": {"const": {"$id": "http://[x"}, "default": {"id": 5}}}},
        {"properties": {"id": {"type": "string"}}, "id": "http://[x"},
    ],
)
async def test_data_in_a_schema_are_no_addresses(schema):
    checks = SchemaChecks(budget_s=30.0)
    try:
        await checks.require(schema)
    finally:
        checks.processes.close()


NOT_A_SCHEMA = {
    "$schema, a number": ({"$schema": 5}, r"\$schema is 5, must be a URL"),
    "$schema, a list": ({"$schema": ["a"]}, r'\$schema is \["a"\], must be a URL'),
    "$id, no address": ({"properties": {"a": {"$id": "http://[a"}}}, r'\$id is "http://\[a", must be a URL'),
    "nested": (nested_not(150), "nested too deeply"),
    "patterns, too": ({"$schema": 5, "pattern": "a"}, "is not a JSON Schema"),
}


@pytest.mark.parametrize("name", NOT_A_SCHEMA)
async def test_what_is_no_schema_is_the_clients_own_fault(name):
    schema, told = NOT_A_SCHEMA[name]
    checks = SchemaChecks(budget_s=10.0)
    try:
        with pytest.raises(BadRequest, match=told) as refused:
            await checks.require(schema)
        assert refused.value.field == "response_format.json_schema.schema"
    finally:
        await asyncio.to_thread(checks.processes.close)


class InTurn:
    """Processes that say one thing after the other."""

    def __init__(self, *says):
        self._says = list(says)

    async def ask(self, job, *, within_s):
        return self._says.pop(0)


async def test_having_to_wait_for_others_says_nothing_about_a_schema():
    checks = SchemaChecks(processes=InTurn(Unjudged.BUSY, Unjudged.BUSY, Verdict(), Unjudged.SLOW))
    ask = partial(checks.check, '{"a": "b"}', response_format="json_schema", schema=ENDLESS)
    await checks.require(ENDLESS)
    assert not await ask()  # only the required fields were looked at
    assert await ask()  # and now the whole
    assert not await ask()
    assert not await ask()  # what was itself slow is remembered: nobody is asked
    with pytest.raises(BadRequest, match="takes longer than"):
        await SchemaChecks(processes=InTurn(Unjudged.SLOW)).require(ENDLESS)


@pytest.mark.slow
async def test_the_slow_schemas_of_others_do_not_take_the_turn_of_one():
    checks = SchemaChecks(budget_s=5.0)
    hostile = [{**ENDLESS, "title": str(number)} for number in range(3)]
    endless = json.dumps({"a": "a" * 40 + "!"})
    asked = [*((endless, schema) for schema in hostile), ('{"next": {}}', TREE)]
    try:
        wholes = await asyncio.gather(
            *(checks.check(text, response_format="json_schema", schema=schema) for text, schema in asked)
        )
        assert wholes == [False, False, False, True]
    finally:
        await asyncio.to_thread(checks.processes.close)


@pytest.mark.slow
async def test_who_waits_for_a_turn_in_vain_is_told_that_and_a_turn_comes_back_when_its_request_ends():
    processes = SchemaProcesses(count=1)
    endless = Job(schema=ENDLESS, value={"a": "a" * 40 + "!"}, check_value=True)
    first = asyncio.create_task(processes.ask(endless, within_s=60.0))
    second = asyncio.create_task(processes.ask(Job(schema=TREE), within_s=0.05))
    try:
        assert await second is Unjudged.BUSY
        first.cancel()
        async with asyncio.timeout(20):
            assert await processes.ask(Job(schema=TREE), within_s=15.0) == Verdict()
    finally:
        await asyncio.to_thread(processes.close)


async def test_a_plain_schema_is_not_checked_on_the_event_loop(monkeypatch):
    threads = []
    monkeypatch.setattr("gateway.answers.schema.require_schema", lambda _: threads.append(threading.get_ident()))
    await SchemaChecks().require({"type": "object"})
    assert threads
    assert threading.get_ident() not in threads


async def test_a_check_that_is_slow_for_any_reason_falls_back_to_the_required_fields(monkeypatch):
    released = threading.Event()

    def slow(text, *, response_format, schema):
        released.wait(5.0)

    monkeypatch.setattr("gateway.answers.schema.check_schema", slow)
    checks, plain = SchemaChecks(budget_s=0.05), {"required": ["a"]}
    try:
        assert not await checks.check('{"a": 1}', response_format="json_schema", schema=plain)
        assert not await checks.check("{}", response_format="json_object", schema=None)
        with pytest.raises(UpstreamError, match="violates"):
            await checks.check("{}", response_format="json_schema", schema=plain)
    finally:
        released.set()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_comparison_of_a_long_answer_with_its_prompt_that_is_slow_is_left_out_and_told(stream, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr("gateway.attempt.distrust", lambda *_, **__: released.wait(5.0) and "numbers")
    policy = policy_of(grounding={"apply": "always"})
    said = "It does. " * 600  # the prompt is short, so that nothing else is lost
    async with running(says(said)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        served.runtime.pipeline.schemas.budget_s = 0.05
        try:
            answer = await served.chat("Does it?", stream=stream)
        finally:
            released.set()
        record = answer.streamed_record if stream else answer.record
        assert (record["path"], record["level"], record["reasons"]) == ("primary", "degraded", ["validation_slow"])
        assert record["dropped"] == {"validation": True}
        assert "only in part" in record["notice"]
        served.runtime.pipeline.schemas.budget_s = 60.0
        in_time = await served.chat("Does it?")
        assert "ungrounded" in in_time.record["reasons"]


SMALL_STACK = """
import asyncio, json, threading
from gateway.answers.schema import SchemaChecks
from gateway.errors import BadRequest

async def main():
    checks = SchemaChecks(budget_s=30.0)
    for levels in (10, 15, 16, 40, 150, 190):
        try:
            await checks.require(json.loads('{"not":' * levels + "{}" + "}" * levels))
        except BadRequest as error:
            print(levels, error)
    checks.processes.close()

threading.stack_size(128 * 1024)
asyncio.run(main())
"""


@pytest.mark.slow
def test_no_depth_of_a_schema_ends_a_gateway_whose_threads_have_small_stacks():
    script = [sys.executable, "-c", SMALL_STACK]
    ended = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    refused = [line.split()[0] for line in ended.stdout.splitlines()]
    assert refused[-2:] == ["150", "190"]
