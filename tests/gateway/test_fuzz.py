"""Whatever a client sends: an answer or a 4xx that says what is wrong, never a 5xx, and the next request works.

The examples are the same each time; TRUEFALL_FUZZ_EXAMPLES makes more of them for each test, TRUEFALL_FUZZ_SEED others.
"""

import http.client
import json
import os
from itertools import cycle
from typing import NamedTuple

import pytest
from background import in_background
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st
from measured import BYTE_PER_TOKEN
from misbehaviour import BAD
from misbehaviour import GOOD as WELL
from published import has_published_shape
from served import TOKEN, Answer, policy_of
from templated import templated_model
from test_storm import PATIENT
from upstream_stub import says

from gateway.config import Memory

GOOD = "Paris is the capital of France."
PATHS = (
    "/v1/chat/completions",
    "/v1/models",
    "/healthz",
    "/readyz",
    "/metrics",
    "/admin/state",
    "/v1/async/x",
    "/",
    "/%ff",
)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
EXAMPLES = int(os.environ.get("TRUEFALL_FUZZ_EXAMPLES", "80"))
SEED = os.environ.get("TRUEFALL_FUZZ_SEED")
HURRIED = {"default": {"connect_s": 5.0, "first_token_s": 0.1, "idle_s": 0.1, "total_s": 0.2}}  # kinds that never end

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TEXT = st.text(max_size=30)
ODD = st.sampled_from([None, True, 5, -1.5, "x", "", [], [5], [None], {}, {"a": 1}, [[]], "[" * 3000, 10**19])


def malformed(**fields):
    """An object as it should be, but that each field may be missing or hold anything."""
    return st.fixed_dictionaries({}, optional={key: value | ODD | ANY for key, value in fields.items()})


PART = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url"]), "text": TEXT}) | ANY
ARGUMENTS = st.sampled_from(["{}", '{"a": 1}', "[1]", "{", "null", "9" * 5000, "[" * 3000])
CALLED = malformed(name=TEXT, arguments=ARGUMENTS)
CALLS = st.lists(malformed(id=TEXT, type=st.just("function"), function=CALLED) | ODD, max_size=2) | ODD
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool", "developer"]) | ANY,
        "content": TEXT | st.lists(PART, max_size=2) | ANY,
    },
    optional={
        "tool_calls": CALLS | ANY,
        "function_call": CALLED | ODD,
        "tool_call_id": ODD,
        "name": ODD | ANY,
        "refusal": ODD | ANY,
    },
)
NOT = '{"not":'
SCHEMA = st.one_of(
    malformed(**{"$schema": TEXT, "$id": st.sampled_from(["http://[a", "#", ""]), "required": st.lists(TEXT)}),
    st.integers(1, 190).map(lambda levels: json.loads(NOT * levels + "{}" + "}" * levels)),
    ANY,
)
FUNCTION = malformed(name=TEXT, description=TEXT, parameters=SCHEMA, strict=st.booleans())
TOOL = (
    st.fixed_dictionaries({"type": st.just("function"), "function": st.fixed_dictionaries({"name": TEXT})})
    | malformed(type=st.just("function"), function=FUNCTION, custom=FUNCTION)
    | ODD
)
FORMAT = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "json_object", "json_schema"]) | ANY},
    optional={"json_schema": malformed(name=TEXT, schema=SCHEMA, strict=st.booleans()) | ODD | ANY},
)
CHOICE = st.sampled_from(
    [
        "auto",
        "none",
        "required",
        {"type": "function", "function": {"name": "f"}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"function": {"name": "f"}}]}},
        {"type": "allowed_tools", "allowed_tools": []},
    ]
)
REQUEST = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGE, min_size=1, max_size=3) | ANY},
    optional={
        "model": st.sampled_from(["truefall", "primary", "primary-model"]) | ANY,
        "stream": st.booleans() | ANY,
        "stream_options": malformed(include_usage=st.booleans()) | ODD,
        "max_tokens": st.integers(-3, 300) | ANY,
        "max_completion_tokens": ANY,
        "temperature": st.floats(-1, 3) | ANY,
        "n": ANY,
        "stop": st.lists(TEXT | ODD, max_size=3) | ODD | ANY,
        "logit_bias": st.dictionaries(TEXT, st.integers(-200, 200) | ODD, max_size=3) | ODD,
        "seed": ANY,
        "tools": st.lists(TOOL, max_size=2) | ANY,
        "tool_choice": CHOICE | malformed(type=TEXT, function=FUNCTION, allowed_tools=ANY) | ODD,
        "functions": st.lists(FUNCTION | ODD, max_size=2) | ODD,
        "function_call": FUNCTION | ODD | ANY,
        "parallel_tool_calls": ANY,
        "response_format": FORMAT | ANY,
        "metadata": st.dictionaries(TEXT, ODD | ANY, max_size=2) | ODD,
        "user": ODD | ANY,
        "async": ANY,
    },
)
LEGAL = st.characters(codec="latin-1", exclude_categories=["Cc"])
HEADERS = st.dictionaries(
    st.sampled_from(["Authorization", "Prefer", "X-Truefall-Trial", "X-Truefall-Service", "Accept", "traceparent"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40),
    max_size=3,
) | st.dictionaries(
    st.text("!#$%&'*+-.^_`|~0123456789abcXYZ", min_size=1, max_size=20).filter(
        lambda name: name.lower() not in ("host", "content-length", "transfer-encoding")
    )
    | st.sampled_from(
        [
            *("Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Cookie", "Forwarded", "Origin"),
            *("Prefer", "traceparent", "tracestate", "User-Agent", "X-Forwarded-For", "X-Request-Id"),
        ]
    ),
    st.text(LEGAL, max_size=40).map(str.strip) | st.integers().map(str),
    max_size=4,
)  # any that HTTP allows


PLAIN = {"messages": [{"role": "user", "content": "x"}]}
FOR_JSON = {**PLAIN, "response_format": {"type": "json_object"}}  # to which words are no answer
STATE = st.sampled_from(["open", "closed", "half_open"]) | ANY
NAME = st.sampled_from(["primary", "secondary"]) | ANY
ADMIN_BODY = st.one_of(
    st.fixed_dictionaries({"backend": NAME, "state": STATE}),
    st.fixed_dictionaries(
        {"backend": NAME, "ttl_s": st.floats(-1, 5000) | ANY},
        optional={"bytes": st.integers(-5, 5000) | ANY, "share": st.floats(-1, 2) | ANY},
    ),
    st.fixed_dictionaries({"draining": st.booleans() | ANY}),
    ANY,
)


class Long(NamedTuple):
    """A text over and over, in few words where hypothesis shows it."""

    unit: str
    chars: int


class Lines(NamedTuple):
    """So many short messages."""

    count: int


LONG_TEXT = st.builds(Long, TEXT.filter(bool), st.integers(4_000, 80_000))
LONG = st.fixed_dictionaries(
    {
        "messages": st.lists(
            st.fixed_dictionaries(
                {
                    "role": st.sampled_from(["system", "user", "assistant"]),
                    "content": LONG_TEXT | LONG_TEXT.map(lambda text: [{"type": "text", "text": text}]),
                }
            ),
            min_size=1,
            max_size=3,
        )
        | st.builds(Lines, st.integers(200, 2_000))
    },
    optional={
        "stream": st.booleans(),
        "max_tokens": st.integers(1, 300),
        "response_format": FORMAT,
        "stop": LONG_TEXT,
        "user": LONG_TEXT,
        "model": LONG_TEXT,
        "metadata": st.fixed_dictionaries({"note": LONG_TEXT}),
    },
)
ASKED = st.tuples(REQUEST, HEADERS) | st.tuples(
    LONG, st.just({})
)  # a bad header is refused, and the connection closed, while a long body still comes
ADMIN_PATHS = ("state", "ledger", "ledger/x", "breaker", "drain", "drift/rebase", "policy/reload", "", "%ff", "state/x")


def written(value):
    """The body as it is sent."""
    return json.dumps(_whole(value)).encode()


def _whole(value):
    if isinstance(value, Long):
        return value.unit * (value.chars // len(value.unit))
    if isinstance(value, Lines):
        return [{"role": "user", "content": f"line {number}."} for number in range(value.count)]
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


def many(test, *, share=1.0):
    """So many examples, always the same unless a seed asks for others."""
    usual = settings(
        max_examples=max(1, int(EXAMPLES * share)),
        deadline=None,
        derandomize=SEED is None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(test)
    return usual if SEED is None else seed(SEED)(usual)


def some(test):
    """Fewer, for what takes longer or was seen before."""
    return many(test, share=0.25)


class OneAfterTheOther:
    """A backend that plays every kind of fault and of good answer in turn."""

    def __init__(self):
        kinds = {**BAD, **WELL}
        self._kinds = cycle([kinds[name] for name in sorted(kinds)])

    async def __call__(self, writer, body):
        await next(self._kinds)(body)(writer, body)


@pytest.fixture(scope="module")
def served():
    memory = Memory(kv_capacity_bytes=100_000, shape=BYTE_PER_TOKEN)
    with in_background(says(GOOD), fields={"memory": memory}) as (gateway, _):
        yield gateway


@pytest.fixture(scope="module")
def templated(tmp_path_factory):
    """With a tokenizer and a chat template, which look into messages, calls and tools."""
    model = {"model_dir": templated_model(tmp_path_factory.mktemp("model")), "context_tokens": 400}
    policy = policy_of(accounting={"enabled": False}, breaker=PATIENT)
    with in_background(says(GOOD), fields=model, policy=policy) as (gateway, _):
        yield gateway


@pytest.fixture(scope="module")
def failing():
    policy = policy_of(
        limits=HURRIED, breaker=PATIENT, health={"oom_per_min": 9999.0}, overload={"max_retry_after_s": 0.001}
    )
    with in_background(OneAfterTheOther(), policy=policy) as (gateway, _):
        yield gateway


@pytest.fixture(scope="module")
def draining():
    with in_background(says(GOOD)) as (gateway, _):
        gateway.runtime.draining = True
        yield gateway


@pytest.fixture(scope="module")
def closed():
    """The time for what it had accepted is over."""
    with in_background(says(GOOD)) as (gateway, up):
        gateway.runtime.closing.over = True
        yield gateway
        assert not up.seen


def ask(served, method, path, body=b"", headers=None):
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        answer = Answer(response.status, {"Content-Type": response.getheader("Content-Type", "")}, response.read())
    finally:
        connection.close()
    if path == PATHS[0] and answer.status in (200, 206):
        has_published_shape(answer)
    return answer.status, answer.body


def check(status, said, *, head=False):
    assert status < 500
    assert b'"internal_error"' not in said
    if status >= 400 and not head:
        error = json.loads(said)["error"]
        assert error["message"]
        assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.slow
@many
@given(body=REQUEST, headers=HEADERS)
@example(body=PLAIN, headers={})
@example(body={**PLAIN, "stream": True, "stream_options": {"include_usage": True}}, headers={})
def test_a_strange_request_is_answered_or_told_what_is_wrong(served, body, headers):
    status, said = ask(served, "POST", PATHS[0], json.dumps(body).encode(), headers)
    check(status, said)
    assert status in (200, 206, 400, 404, 429)


@pytest.mark.slow
@many
@given(body=REQUEST)
@example(body=PLAIN)
@example(body={"messages": [{"role": "assistant", "content": "x", "tool_calls": {"a": 1}}, *PLAIN["messages"]]})
@example(body={**PLAIN, "tools": [5]})
def test_so_it_is_where_a_chat_template_looks_into_it(templated, body):
    status, said = ask(templated, "POST", PATHS[0], json.dumps(body).encode())
    check(status, said)
    assert status in (200, 206, 400, 404, 429)


@pytest.mark.slow
@many
@given(body=REQUEST, headers=HEADERS)
@example(body=FOR_JSON, headers={})
@example(body={**FOR_JSON, "stream": True}, headers={})
@example(body=FOR_JSON, headers={})  # one of them meets a 429, which is refused
@example(body={**FOR_JSON, "stream": True}, headers={})
def test_so_it_is_while_the_backend_fails_in_every_way(failing, body, headers):
    status, said = ask(failing, "POST", PATHS[0], json.dumps(body).encode(), headers)
    check(status, said)
    assert status in (200, 206, 400, 404, 429)
    assert status >= 400 or b'"degradation"' in said


@pytest.mark.slow
@some
@given(body=LONG)
@example(body={"messages": [{"role": "user", "content": Long("x", 4_200_000)}]})  # longer than a body may be
@example(body={"messages": [{"role": "user", "content": Long("\N{GRINNING FACE}", 70_000)}]})
def test_a_long_request_is_answered_or_told_what_is_wrong(served, body):
    status, said = ask(served, "POST", PATHS[0], written(body))
    check(status, said)
    assert status in (200, 206, 400, 404, 413, 429)


@pytest.mark.slow
@some
@given(asked=ASKED)
@example(asked=(PLAIN, {}))
@example(asked=({**FOR_JSON, "stream": True}, {}))
def test_a_gateway_that_drains_tells_everybody_to_come_again_and_why(draining, asked):
    status, said = ask(draining, "POST", PATHS[0], written(asked[0]), asked[1])
    if status == 429:
        assert json.loads(said)["degradation"]["reasons"] == ["draining"]
    else:
        check(status, said)
        assert status in (400, 404)


@pytest.mark.slow
@some
@given(asked=ASKED)
@example(asked=(PLAIN, {}))
@example(asked=({**PLAIN, "stream": True}, {}))
@example(asked=({**FOR_JSON, "stream": True}, {}))
def test_whom_a_drain_that_is_over_finds_waiting_gets_an_answer_without_a_model(closed, asked):
    status, said = ask(closed, "POST", PATHS[0], written(asked[0]), asked[1])
    check(status, said)
    assert status in (200, 206, 400, 404)
    assert status >= 400 or b'"draining"' in said


@pytest.mark.slow
@many
@given(method=st.sampled_from(METHODS), path=st.sampled_from(ADMIN_PATHS), body=ADMIN_BODY | st.binary(max_size=30))
def test_whatever_the_administrator_sends_it_is_done_or_told_what_is_wrong(served, method, path, body):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    admin = {"Authorization": f"Bearer {TOKEN}"}
    status, said = ask(served, method, f"/admin/{path}", raw, admin)
    check(status, said, head=method == "HEAD")
    for way, undo in (("POST", ("drain", {"draining": False})), ("DELETE", ("ledger", None))):
        assert ask(served, way, f"/admin/{undo[0]}", json.dumps(undo[1]).encode(), admin)[0] == 200
    closed = json.dumps({"backend": "primary", "state": "closed"}).encode()
    assert ask(served, "POST", "/admin/breaker", closed, admin)[0] == 200
    good = {"messages": [{"role": "user", "content": "hello"}]}
    assert ask(served, "POST", PATHS[0], json.dumps(good).encode())[0] == 200


@pytest.mark.slow
@many
@given(body=st.binary(max_size=200) | REQUEST.map(lambda value: json.dumps(value).encode()[:-1]))
def test_a_body_that_is_no_json_is_a_400(served, body):
    status, said = ask(served, "POST", PATHS[0], body)
    check(status, said)


@pytest.mark.slow
@many
@given(method=st.sampled_from(METHODS), path=st.sampled_from(PATHS), headers=HEADERS, body=st.binary(max_size=30))
def test_any_method_on_any_path_gets_an_answer(served, method, path, headers, body):
    status, said = ask(served, method, path, body, headers)
    check(status, said, head=method == "HEAD")


@pytest.mark.slow
@many
@given(st.binary(max_size=300))
def test_what_is_not_even_http_breaks_nothing(served, garbage):
    import socket

    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(garbage)
        client.shutdown(socket.SHUT_WR)
        said = client.recv(65536)
    assert not said.startswith(b"HTTP/1.1 5")
    good = {"messages": [{"role": "user", "content": "hello"}]}
    assert ask(served, "POST", PATHS[0], json.dumps(good).encode())[0] == 200
