"""G7 to G16: what the fallback is given, whose fault a failure is, overload, and how often a target is tried."""

import asyncio
import json

import pytest
from served import backend, gateway, policy_of
from upstream_stub import Script, answers, completion, dies, hangs, raw, running, says

from gateway.clock import SystemClock

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}}

CONTEXT_WORDINGS = {
    "openai": {
        "error": {
            "message": "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 "
            "tokens. Please reduce the length of the messages.",
            "code": "context_length_exceeded",
        }
    },
    "vllm": {
        "object": "error",
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in "
        "the messages, 500 in the completion).",
        "code": 400,
    },
    "vllm prompt": {
        "error": {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."}
    },
    "sglang": {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."},
    "sglang total": {"message": "Requested token count exceeds the model's maximum context length of 4096 tokens."},
    "tgi": {
        "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
        "error_type": "validation",
    },
    "tgi inputs": {"error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000"},
    "llama.cpp": {
        "error": {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
        }
    },
}
OTHER_400S = (
    "max_tokens must be at least 1",
    "Invalid value for 'temperature': must be at most 2",
    "The context variable 'user' is not a string",
    "model 'x' does not exist",
    "Conversation roles must alternate user/assistant",
)


async def test_the_fallback_receives_schema_tools_stop_and_seed():
    fields = {
        "response_format": FORMAT,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "stop": ["\n"],
        "seed": 7,
        "temperature": 0.5,
    }
    async with (
        running(answers({}, 503)) as bad,
        running(says('{"city": "Paris"}')) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat(**fields)
    assert answer.record["path"] == "secondary"
    assert "dropped" not in answer.record
    assert {key: good.seen[0][key] for key in fields} == fields


@pytest.mark.parametrize("text", ["not json", '{"town": "Paris"}', '["Paris"]'])
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_that_violates_the_schema_is_not_passed_on(text, stream):
    policy = policy_of(paths={"stream_failover": "hold_all"})
    async with (
        running(says(text)) as bad,
        running(says('{"city": "Paris"}')) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy) as served,
    ):
        answer = await served.chat(response_format=FORMAT, stream=stream)
        record = answer.streamed_record if stream else answer.record
        assert (record["path"], record["reasons"]) == ("secondary", ["schema_violated"])


async def test_a_request_for_json_gets_no_prose_but_a_structured_body():
    async with running(answers({}, 500)) as bad, gateway(backend(bad, "primary")) as served:
        answer = await served.chat(response_format=FORMAT)
        streamed = await served.chat(response_format=FORMAT, stream=True)
    assert answer.status == streamed.status == 206
    assert {key: answer.json[key] for key in ("status_code", "reason", "suggestion")} == {
        "status_code": 206,
        "reason": "degraded",
        "suggestion": "try shorter input",
    }
    assert answer.record["path"] == "structured"
    assert answer.record["dropped"] == {"schema": True}
    assert streamed.events[0]["error"]["type"] == "degraded"
    assert streamed.events[0]["degradation"]["path"] == "structured"


async def test_a_schema_that_is_none_is_the_clients_fault():
    async with running(says("{}")) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(response_format={"type": "json_schema", "json_schema": {"schema": {"type": 7}}})
        assert answer.status == 400
        assert "response_format.json_schema.schema" in answer.json["error"]["message"]


@pytest.mark.parametrize("wording", CONTEXT_WORDINGS)
async def test_a_context_overflow_moves_on_to_a_larger_target_and_is_nobodys_fault(wording):
    status = 422 if wording.startswith("tgi") else 400
    async with (
        running(answers(CONTEXT_WORDINGS[wording], status)) as small,
        running(says(GOOD)) as large,
        gateway(backend(small, "primary"), backend(large, "secondary")) as served,
    ):
        answer = await served.chat()
        assert (answer.text, answer.record["reasons"]) == (GOOD, ["context_too_long"])
        assert len(small.seen) == 1
        assert served.runtime.backends["primary"].breaker._failures == 0


@pytest.mark.parametrize("message", OTHER_400S)
async def test_another_400_is_the_clients_and_is_told_to_it(message):
    async with (
        running(answers({"error": {"message": message}}, 400)) as up,
        running(says(GOOD)) as other,
        gateway(backend(up, "primary"), backend(other, "secondary")) as served,
    ):
        answer = await served.chat()
        assert answer.status == 400
        assert message in answer.json["error"]["message"]
        assert other.seen == []


@pytest.mark.parametrize("stream", [False, True])
async def test_when_every_target_says_not_now_the_soonest_retry_is_passed_on(stream):
    first, second = answers({}, 429, "Retry-After: 7"), answers({}, 503, "Retry-After: 2.4")
    async with (
        running(first) as one,
        running(second) as two,
        gateway(backend(one, "primary"), backend(two, "secondary")) as served,
    ):
        answer = await served.chat(stream=stream)
        assert (answer.status, answer.headers["Retry-After"]) == (429, "3")
        assert answer.record["reasons"] == ["backpressure"]
        again = await served.chat(stream=stream)
        assert again.status == 429
        assert (len(one.seen), len(two.seen)) == (1, 1)  # asked for less: left alone until then


async def test_ten_bad_requests_leave_the_breaker_closed():
    async with (
        running(answers({"error": {"message": "bad stop"}}, 400)) as up,
        gateway(backend(up, "primary")) as served,
    ):
        for _ in range(10):
            assert (await served.chat()).status == 400
        up.script = says(GOOD)
        assert (await served.chat()).record == {"level": "healthy"}


PATIENT = policy_of(
    limits={"default": {"total_s": 60.0}}, deadline={"request_s": 60.0}, overload={"queue_wait_s": 60.0}
)


@pytest.mark.slow
async def test_a_hanging_backend_does_not_slow_the_other_one_down():
    async with (
        running(hangs(60.0)) as a,
        running(says(GOOD)) as b,
        gateway(backend(a, "a"), backend(b, "b"), policy=PATIENT) as served,
    ):
        hanging = [asyncio.create_task(served.chat(model="a")) for _ in range(30)]
        while len(a.seen) < 16:
            await CLOCK.sleep(0.005)
        answered = await asyncio.gather(*[served.chat(model="b") for _ in range(60)])
        assert all(answer.record == {"level": "healthy"} for answer in answered)
        assert not any(task.done() for task in hanging)  # so B's answers did not wait for A's limits
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)


@pytest.mark.slow
async def test_ten_times_the_capacity_is_refused_early_and_bounded():
    async def slow(writer, body):
        await CLOCK.sleep(0.05)
        await answers(completion(GOOD))(writer, body)

    async with running(slow) as up:
        one = backend(up, "primary", max_concurrent=2, max_queue=4)
        async with gateway(one, policy=policy_of(overload={"queue_wait_s": 2.0})) as served:
            results = await asyncio.gather(*[served.chat() for _ in range(60)])
            statuses = [answer.status for answer in results]
            refused = [answer for answer in results if answer.status == 429]
            assert statuses.count(200) == 6
            assert len(refused) == 54
            assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
            assert refused[0].record["reasons"] == ["queue_full"]
            assert len(up.seen) == 6
            assert (await served.chat()).record == {"level": "healthy"}


@pytest.mark.slow
async def test_a_request_that_waited_too_long_is_never_sent():
    async with running(hangs(0.6)) as up:
        policy = policy_of(overload={"queue_wait_s": 0.1}, limits={"default": {"total_s": 0.5}})
        async with gateway(backend(up, "primary", max_concurrent=1), policy=policy) as served:
            results = await asyncio.gather(served.chat(), served.chat())
            assert [answer.status for answer in results] == [200, 429]
            assert len(up.seen) == 1


CLIENT_FAULTS = {
    "max_tokens 0": ({"max_tokens": 0}, "max_tokens", "0", "from 1 to"),
    "max_tokens -1": ({"max_tokens": -1}, "max_tokens", "-1", "from 1 to"),
    "max_tokens 1e9": ({"max_tokens": 10**9}, "max_tokens", "1000000000", "from 1 to"),
    "max_tokens text": ({"max_tokens": "ten"}, "max_tokens", '"ten"', "from 1 to"),
    "role": ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role", '"robot"', "one of system"),
    "no messages": ({"messages": None}, "messages", "missing", "at least 1"),
    "empty messages": ({"messages": []}, "messages", "[]", "at least 1"),
    "no content": ({"messages": [{"role": "user"}]}, "messages[0].content", "missing", "a string"),
    "temperature": ({"temperature": 3}, "temperature", "3", "from 0 to 2"),
    "n": ({"n": 2}, "n", "2", "one answer"),
    "model": ({"model": "gpt-0"}, "model", "gpt-0", "one of truefall"),
}


@pytest.mark.parametrize("name", CLIENT_FAULTS)
async def test_a_clients_fault_is_told_with_field_value_and_bound(name):
    fields, field, value, bound = CLIENT_FAULTS[name]
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(**fields)
        assert 400 <= answer.status < 500
        error = answer.json["error"]
        assert error["param"] == field
        assert all(part in error["message"] for part in (field, value, bound)), error["message"]
        assert up.seen == []
        assert (await served.chat()).status == 200


@pytest.mark.parametrize(
    ("raw_body", "told"),
    [
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', "not UTF-8 at byte 43"),
        (b"{", "not JSON"),
        (b"[]", "must be an object"),
        (b"[" * 100_000, "not JSON"),
        (b"", "not JSON"),
    ],
)
async def test_a_body_that_cannot_be_read_is_told_why(raw_body, told):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.post("/v1/chat/completions", raw_body)
        assert answer.status == 400
        assert told in answer.json["error"]["message"]


async def test_a_body_over_the_limit_is_a_413_and_the_next_request_works():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat("x" * 5_000_000)
        assert answer.status == 413
        assert "4194304 bytes" in answer.json["error"]["message"]
        assert (await served.chat()).status == 200


@pytest.mark.parametrize("killer", [dies(), raw(200, b'{"cho', "X: y", close=True)])
async def test_a_request_that_kills_backends_meets_two_of_them_at_most(killer):
    async with (
        running(dies()) as one,
        running(killer) as two,
        running(says(GOOD)) as three,
        gateway(backend(one, "one"), backend(two, "two"), backend(three, "three")) as served,
    ):
        answer = await served.chat()
        assert answer.record["path"] == "template"
        assert [len(up.seen) for up in (one, two, three)] == [1, 1, 0]


async def test_each_target_is_tried_once_and_the_deadline_covers_them_all():
    broken: Script = answers({}, 500)
    async with running(broken) as a, running(broken) as b, gateway(backend(a, "a"), backend(b, "b")) as served:
        answer = await served.chat(model="b")
        assert [attempt["path"] for attempt in answer.record["attempts"]] == ["b", "a"]
        assert (len(a.seen), len(b.seen)) == (1, 1)


@pytest.mark.slow
async def test_one_deadline_covers_every_attempt():
    policy = policy_of(deadline={"request_s": 0.9, "reserve_s": 0.1}, limits={"default": {"total_s": 0.6}})
    async with (
        running(hangs()) as a,
        running(hangs()) as b,
        running(hangs()) as c,
        gateway(backend(a, "a"), backend(b, "b"), backend(c, "c"), policy=policy) as served,
    ):
        answer = await served.chat()
        assert answer.record["path"] == "template"
        assert answer.record["reasons"] == ["timeout", "deadline_exceeded"]
        assert len(c.seen) == 0


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_frees_the_backend_at_once(stream):
    async with running(hangs()) as up, gateway(backend(up, "primary")) as served:
        body = json.dumps({"messages": [{"role": "user", "content": "x"}], "stream": stream}).encode()
        task = asyncio.create_task(served.post("/v1/chat/completions", body))
        lane = served.runtime.backends["primary"].lane
        while lane.view().running == 0:
            await CLOCK.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(20):
            while lane.view().running or served.runtime.in_flight:
                await CLOCK.sleep(0.005)
        assert served.runtime.backends["primary"].breaker._failures == 0
