"""Backends whose tokenizer is known: text that was lost or altered on its way, prompts that are too long, grounding."""

import json

import pytest
from served import backend, gateway, policy_of
from tokenizers import Tokenizer, models, pre_tokenizers
from upstream_stub import Script, Writer, answers, chunk, completion, running, says, streams

from gateway.prompt import MOST_COMPRESSED_CHARS

GOOD = "Opened software cannot be refunded."
ASKED = "Opened software cannot be refunded.\n\nCan opened software be refunded?"
TEMPLATE = "{% for m in messages %}{{ m['role'] + ' ' + m['content'] + ' ' }}{% endfor %}assistant"


@pytest.fixture
def model_dir(tmp_path):
    """A model folder whose tokens are the words and signs between spaces."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    return tmp_path


def words(text: str) -> int:
    return len(pre_tokenizers.Whitespace().pre_tokenize_str(text))


def honest(text: str, *, lost_prompt: int = 0, lost_answer: int = 0, finish: str = "stop") -> Script:
    """Answers with its token counts; some tokens of the prompt or the answer are lost on the way."""

    async def script(writer: Writer, body: dict) -> None:
        prompt = words("".join(f"{m['role']} {m['content']} " for m in body["messages"]) + "assistant") - lost_prompt
        usage = {"prompt_tokens": prompt, "completion_tokens": words(text) + lost_answer}
        if body.get("stream"):
            last = {**chunk(finish=finish), "usage": usage}
            await streams(chunk(text), last, "[DONE]")(writer, body)
        else:
            told = {**completion(text), "usage": usage}
            told["choices"][0]["finish_reason"] = finish
            await answers(told)(writer, body)

    return script


@pytest.mark.parametrize("stream", [False, True])
async def test_counts_that_agree_leave_the_answer_healthy(model_dir, stream):
    async with running(honest(GOOD)) as up, gateway(backend(up, "primary", model_dir=model_dir)) as served:
        answer = await served.chat(ASKED, stream=stream)
        assert (answer.streamed_record if stream else answer.record) == {"level": "healthy"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("lost", [{"lost_prompt": 4}, {"lost_answer": 4}])
async def test_text_that_was_lost_on_its_way_is_not_trusted(model_dir, stream, lost):
    policy = policy_of(paths={"stream_failover": "hold_all"})
    async with (
        running(honest(GOOD, **lost)) as bad,
        running(honest(GOOD)) as good,
        gateway(
            backend(bad, "primary", model_dir=model_dir),
            backend(good, "secondary", model_dir=model_dir),
            policy=policy,
        ) as served,
    ):
        answer = await served.chat(ASKED, stream=stream)
        record = answer.streamed_record if stream else answer.record
        assert (record["path"], record["reasons"]) == ("secondary", ["tokens_mismatch"])


async def test_an_unreadable_line_is_forgiven_only_where_the_counts_prove_that_nothing_is_missing(model_dir):
    usage = {"prompt_tokens": 15, "completion_tokens": 6}
    script = streams(chunk(GOOD), b"data: {broken\n\n", {**chunk(finish="stop"), "usage": usage}, "[DONE]")
    hold = policy_of(paths={"stream_failover": "hold_all"}, accounting={"tolerance_tokens": 3})
    async with running(script) as up:
        async with gateway(backend(up, "primary", model_dir=model_dir), policy=hold) as served:
            assert (await served.chat(ASKED, stream=True)).streamed_record == {"level": "healthy"}
        async with gateway(backend(up, "primary"), policy=hold) as served:
            assert (await served.chat(ASKED, stream=True)).streamed_record["path"] == "extract"


async def test_a_prompt_that_is_too_long_is_cut_and_the_record_counts_what_was_dropped(model_dir):
    long = " ".join(f"Sentence number {index} tells of nothing." for index in range(200))
    async with (
        running(honest(GOOD)) as up,
        gateway(backend(up, "primary", model_dir=model_dir, context_tokens=256)) as served,
    ):
        answer = await served.chat(f"{long}\n\n{ASKED}")
        assert answer.record["reasons"] == ["prompt_truncated"]
        assert answer.record["path"] == "primary"
        assert answer.record["dropped"]["prompt_tokens"] > 900
        sent = up.seen[0]["messages"][0]["content"]
        assert sent.endswith("Can opened software be refunded?")
        assert words(sent) + up.seen[0]["max_tokens"] <= 256


def examples(count):
    """Few-shot examples that show nothing but their form: from the second on, one template says as much."""
    shown = [f"Input: the {index} waiter brought soup{index} table{index}\nOutput: good\n\n" for index in range(count)]
    return "Classify.\n\n" + "".join(shown) + "Input: ok?\nOutput:"


async def test_a_prompt_that_is_compressed_tells_how_many_tokens_that_took_out(model_dir):
    async with (
        running(honest(GOOD)) as up,
        gateway(backend(up, "primary", model_dir=model_dir, context_tokens=128)) as served,
    ):
        asked = examples(12)
        answer = await served.chat(asked)
        assert answer.record["reasons"] == ["prompt_compressed"]
        sent = up.seen[0]["messages"][0]["content"]
        assert answer.record["dropped"] == {"compressed_tokens": words(asked) - words(sent)}
        assert words(asked) - words(sent) > 50
        metrics = (await served.request("GET", "/metrics")).body.decode()
        assert f'truefall_dropped_prompt_tokens_total{{how="compressed"}} {words(asked) - words(sent):.1f}' in metrics


async def test_a_prompt_that_is_compressed_and_then_cut_counts_both(model_dir):
    async with (
        running(honest(GOOD)) as up,
        gateway(backend(up, "primary", model_dir=model_dir, context_tokens=128)) as served,
    ):
        long = " ".join(f"Sentence number {index} tells of nothing." for index in range(60))
        asked = f"{long}\n\n{examples(12)}"
        answer = await served.chat(asked)
        assert answer.record["reasons"] == ["prompt_truncated", "prompt_compressed"]
        dropped, sent = answer.record["dropped"], words(up.seen[0]["messages"][0]["content"])
        assert dropped["compressed_tokens"] > 50
        lost = words(asked) - sent
        assert (
            lost <= sum(dropped[name] for name in ("prompt_tokens", "compressed_tokens")) <= lost + 16
        )  # marks of gaps


@pytest.mark.slow
@pytest.mark.parametrize("is_over", [False, True])
async def test_up_to_one_bound_a_prompt_is_compressed_and_over_it_is_said_to_be_cut_only(is_over):
    values = {f"k{n}": {"v": n} for n in range(1300)}
    text = json.dumps(values, indent=8 if not is_over else 24)
    assert (len(text) > MOST_COMPRESSED_CHARS) is is_over
    assert len(text) > 65_536
    policy = policy_of(truncation={"limit_tokens": 15_000}, deadline={"request_s": 60.0})
    async with (
        running(says("The value of k7 is 7.")) as up,
        gateway(backend(up, "primary", context_tokens=60_000), policy=policy) as served,
    ):
        answer = await served.chat(f"{text}\n\nWhat is the value of k7?")
        sent = up.seen[0]["messages"][0]["content"]
    assert sent.endswith("What is the value of k7?")
    assert answer.record["reasons"] == ["prompt_truncated" if is_over else "prompt_compressed"]
    assert answer.record["dropped"].keys() == {"prompt_tokens" if is_over else "compressed_tokens"}
    assert (json.dumps(values, separators=(",", ":")) in sent) is not is_over


@pytest.mark.parametrize("said", ["Do not mention prices.", "Answer as JSON.", "不要提到价格。"])
@pytest.mark.parametrize("sentences", [20, 300])  # compressed only, and cut as well
async def test_the_backend_gets_an_order_that_was_said_twice_where_it_was_said_last(said, sentences):
    async with running(honest(GOOD)) as up, gateway(backend(up, "primary", context_tokens=1024)) as served:
        filler = " ".join(f"The lamp of room {index} is kept by the porter." for index in range(sentences))
        spaces = " " * 3000 + "\n" if sentences == 20 else ""
        await served.chat(f"{said} {filler}{spaces} What is kept? {said}")
        assert up.seen[0]["messages"][-1]["content"].endswith(f"What is kept? {said}")


async def test_a_request_that_cannot_be_cut_to_fit_is_a_clear_400(model_dir):
    system = " ".join(f"Rule {index} holds." for index in range(200))
    messages = [{"role": "system", "content": system}, {"role": "user", "content": ASKED}]
    async with (
        running(honest(GOOD)) as up,
        gateway(backend(up, "primary", model_dir=model_dir, context_tokens=128)) as served,
    ):
        answer = await served.chat(messages=messages)
        assert (answer.status, answer.json["error"]["code"]) == (400, "context_length_exceeded")
        assert up.seen == []


LIES = {
    "number": "Opened software cannot be refunded after 14 days.",
    "flip": "Opened software can be refunded.",
    "loop": "Software software software. " * 30,
    "other language": "已经拆封的软件是不可以退款的。",
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("lie", LIES)
async def test_a_degraded_answer_that_its_prompt_does_not_hold_is_not_passed_on(lie, stream):
    policy = policy_of(paths={"stream_failover": "hold"})
    async with (
        running(answers({}, 500)) as bad,
        running(says(LIES[lie])) as weak,
        gateway(backend(bad, "primary"), backend(weak, "secondary"), policy=policy) as served,
    ):
        answer = await served.chat(ASKED, stream=stream)
        record = answer.streamed_record if stream else answer.record
        assert record["reasons"] == ["backend_error", "ungrounded"]
        assert (record["path"], record["abstained"]) == ("extract", True)
        assert GOOD in (answer.streamed_text if stream else answer.text)
        assert served.runtime.backends["secondary"].breaker._failures == 0


async def test_an_answer_cut_by_length_is_not_passed_on_by_a_degraded_path():
    cut = completion("Opened software cannot be")
    cut["choices"][0]["finish_reason"] = "length"
    async with (
        running(answers({}, 500)) as bad,
        running(answers(cut)) as weak,
        gateway(backend(bad, "primary"), backend(weak, "secondary")) as served,
    ):
        assert (await served.chat(ASKED)).record["reasons"] == ["backend_error", "ungrounded"]
        assert (await served.chat(ASKED, model="secondary")).record == {"level": "healthy"}


async def test_two_backends_with_one_model_folder_read_its_tokenizer_once(model_dir):
    async with running(honest(GOOD)) as up:
        both = [backend(up, name, model_dir=model_dir) for name in ("primary", "secondary")]
        async with gateway(*both) as served:
            primary, secondary = served.runtime.backends.values()
            assert primary.counter is not secondary.counter  # each is watched by itself
            assert primary.counter._exact is secondary.counter._exact
            assert primary.counts_exactly
            assert secondary.counts_exactly
