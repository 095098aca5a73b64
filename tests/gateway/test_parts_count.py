"""Pictures, sound and files in a message count for the limit, the memory and what is left for the answer."""

import pytest
from served import backend, gateway
from upstream_stub import running, says

from gateway.memory.config import CacheShape, Memory
from gateway.prompt import CharCounter
from gateway.prompt.parts import PartTokens, WithParts

GOOD = "Paris is the capital of France."
TEXT = {"type": "text", "text": "What is this?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
FILE = {"type": "file", "file": {"file_id": "f1"}}
SIZES = PartTokens(picture=1000, sound=100, file=10)


def of(*parts):
    return [{"role": "user", "content": [TEXT, *parts]}]


def bare_tokens():
    return CharCounter().count_messages(of())


@pytest.mark.parametrize(
    ("parts", "more"),
    [
        ((), 0),
        ((PICTURE,), 1000),
        (({"type": "input_image"}, SOUND, FILE), 1110),
        (({"type": "something_new"},), 10),
        ((TEXT, {"type": "refusal", "refusal": "No."}), 0),
    ],
)
def test_each_part_that_is_no_text_takes_what_its_kind_does(parts, more):
    assert SIZES.of(of(*parts)) == more
    counter = WithParts(CharCounter(), SIZES)
    assert counter.count_messages(of(*parts)) == CharCounter().count_messages(of(*parts)) + more
    assert counter.upper_bound(of(*parts)) >= counter.count_messages(of(*parts))
    assert SIZES.of([{"role": "user", "content": "text"}, {"role": "assistant", "content": None}]) == 0


@pytest.mark.parametrize("stream", [False, True])
async def test_what_pictures_leave_of_the_context_is_the_answers(stream):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", context_tokens=4096, tokens_per_picture=1000)) as served,
    ):
        await served.chat(messages=of(PICTURE, PICTURE), max_tokens=4000, stream=stream)
    assert up.seen[0]["max_tokens"] == 4096 - bare_tokens() - 2000
    assert up.seen[0]["messages"] == of(PICTURE, PICTURE)


async def test_text_is_cut_to_what_pictures_leave_and_more_pictures_than_fit_are_a_400():
    long = " ".join(f"Sentence number {index} tells of nothing." for index in range(400))
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", context_tokens=4096, tokens_per_picture=1000)) as served,
    ):
        cut = await served.chat(messages=[{"role": "user", "content": long}, *of(PICTURE)])
        refused = await served.chat(messages=of(*[PICTURE] * 5))
    assert cut.record["level"] == "degraded"
    assert set(cut.record["reasons"]) <= {"prompt_truncated", "prompt_compressed"}
    assert (refused.status, refused.json["error"]["code"]) == (400, "context_length_exceeded")
    (sent,) = up.seen
    assert WithParts(CharCounter(), SIZES).count_messages(sent["messages"]) + sent["max_tokens"] <= 4096


async def test_memory_is_promised_for_pictures_too():
    shape = CacheShape(layers=1, kv_heads=1, head_dim=1)  # 4 bytes per token
    memory = Memory(kv_capacity_bytes=4 * 1500, shape=shape)
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", tokens_per_picture=1000, memory=memory)) as served,
    ):
        assert (await served.chat(messages=of(PICTURE), max_tokens=100)).record == {"level": "healthy"}
        refused = await served.chat(messages=of(PICTURE, PICTURE), max_tokens=100)
        assert "memory_full" in refused.record["reasons"]
    assert len(up.seen) == 1


async def test_where_a_picture_is_said_to_take_nothing_it_takes_nothing():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary", tokens_per_picture=0)) as served:
        assert (await served.chat(messages=of(*[PICTURE] * 30))).record == {"level": "healthy"}
