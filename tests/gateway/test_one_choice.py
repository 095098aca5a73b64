"""One answer is asked for: what a backend's stream says of another is neither shown nor taken for this one's."""

import pytest
from served import backend, gateway, policy_of
from upstream_stub import chunk, running, streams, text_events

USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def other(text=None, *, finish=None, index=1):
    """A chunk of another answer alone."""
    one = chunk(text, finish=finish)
    one["choices"][0]["index"] = index
    return one


def both(text, second, *, finish=None, swapped=False):
    """A chunk of two answers."""
    choices = [*chunk(text)["choices"], *other(second, finish=finish)["choices"]]
    return {**chunk(), "choices": choices[::-1] if swapped else choices}


def without_shape(event):
    """The same as engines of another shape say it, so that it has to be mended."""
    return {key: value for key, value in event.items() if key not in ("id", "object")}


STREAMS = {
    "two in one chunk": [chunk("Hello "), both("world.", "SECOND"), chunk(finish="stop")],
    "the other first": [chunk("Hello "), both("world.", "SECOND", swapped=True), chunk(finish="stop")],
    "the other alone": [chunk("Hello "), other("SECOND"), chunk("world."), chunk(finish="stop")],
    "the other ends": [chunk("Hello "), other(finish="length"), chunk("world."), chunk(finish="stop")],
    "the other fails": [chunk("Hello "), other(finish="abort"), chunk("world."), chunk(finish="stop")],
    "the other begins": [other("SECOND"), chunk("Hello "), chunk("world."), chunk(finish="stop")],
    "usage with the other": [
        *[chunk("Hello "), chunk("world."), chunk(finish="stop")],
        {**other("SECOND"), "usage": USAGE},
    ],
}


@pytest.mark.parametrize("upstream", ["auto", "always"])
@pytest.mark.parametrize("mended", [False, True])
@pytest.mark.parametrize("case", STREAMS)
async def test_nothing_of_another_answer_is_shown(case, mended, upstream):
    events = [without_shape(event) if mended else event for event in STREAMS[case]]
    stream = upstream == "auto"
    async with (
        running(streams(*events, "[DONE]")) as up,
        gateway(backend(up, "primary", upstream_stream=upstream)) as served,
    ):
        answer = await served.chat(stream=stream)
    assert (answer.streamed_text if stream else answer.text) == "Hello world."
    assert (answer.streamed_record if stream else answer.record) == {"level": "healthy"}
    assert b"SECOND" not in answer.body
    shown = [event for event in answer.events if event != "[DONE]"] if stream else [answer.json]
    assert {choice["index"] for event in shown for choice in event["choices"]} == {0}


@pytest.mark.parametrize(
    "events",
    [
        [other("SECOND"), other(finish="stop")],
        [
            chunk("Hello "),
            {**chunk(), "choices": chunk("one ")["choices"] + chunk("two")["choices"]},
            chunk(finish="stop"),
        ],
    ],
    ids=["only of another", "twice the same"],
)
async def test_a_stream_without_one_answer_is_none(events):
    policy = policy_of(paths={"stream_failover": "hold_all"})
    async with (
        running(streams(*events, "[DONE]")) as bad,
        running(streams(*text_events("Paris."))) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy) as served,
    ):
        answer = await served.chat(stream=True)
    assert answer.streamed_text == "Paris."
    assert answer.streamed_record["path"] == "secondary"


@pytest.mark.parametrize("index", ["0", -1, 0.5, True])
@pytest.mark.parametrize("finish", ["error", "abort"])
async def test_an_answer_whose_index_is_none_is_the_one_asked_for_and_fails_as_it_says(index, finish):
    policy = policy_of(paths={"stream_failover": "hold_all"})
    events = [other("Half of ", index=index), other(finish=finish, index=index)]
    async with (
        running(streams(*events, "[DONE]")) as bad,
        running(streams(*text_events("Paris."))) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy) as served,
    ):
        answer = await served.chat(stream=True)
    assert answer.streamed_text == "Paris."
    assert answer.streamed_record["path"] == "secondary"
