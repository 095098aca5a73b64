"""Requests while a backend's tokenizer loses text: counted by estimate, sent in ASCII, and the record says so."""

from broken_tokenizer import DecodeErrors, byte_level
from served import backend, gateway, policy_of
from test_read_back import CHINESE, CURLY
from upstream_stub import answers, completion, running

GOOD = "Opened software cannot be refunded."
TEMPLATE = "{% for m in messages %}{{ m['role'] + ' ' + m['content'] + ' ' }}{% endfor %}assistant"


def folder(tmp_path, **fields):
    return byte_level(tmp_path / "model", template=TEMPLATE, **fields)


def uncounted(text):
    return {name: value for name, value in completion(text).items() if name != "usage"}


def says(text):
    """With counts that no estimate agrees with: they must not be held against the backend."""
    return answers({**completion(text), "usage": {"prompt_tokens": 7, "completion_tokens": 7}})


async def distrusted(served, text):
    for _ in range(60):
        await served.chat(text)
        if served.runtime.backends["primary"].tokenizer is not None:
            return
    raise AssertionError("the tokenizer is still believed")


async def test_prompts_are_counted_by_estimate_sent_in_ascii_and_cut_by_pieces_of_words(tmp_path, monkeypatch):
    fault = DecodeErrors(tmp_path / "control", monkeypatch)
    fault.strike(1.0)
    policy = policy_of(accounting={"enabled": True}, grounding={"apply": "never"})
    async with running(answers(uncounted(GOOD))) as up:
        primary = backend(up, "primary", model_dir=folder(tmp_path), context_tokens=512)
        async with gateway(primary, policy=policy) as served:
            await distrusted(served, "Is it raining?")
            up.script = says(GOOD)
            answer = await served.chat(CURLY)
            assert answer.text == GOOD
            assert (answer.record["level"], answer.record["reasons"]) == ("degraded", ["tokenizer_degraded"])
            sent = up.seen[-1]["messages"][0]["content"]
            assert sent == '"Opened software can\'t be refunded" - naive Zoe, 5 days...'
            assert answer.record["dropped"] == {"characters": sum(not one.isascii() for one in CURLY)}
            assert "estimated" in answer.record["notice"]
            asked = " ".join(f"Sentence number {index} tells of nothing." for index in range(100))
            cut = await served.chat(f"{asked}\n\n{CHINESE} Can it be refunded?")
            assert cut.record["reasons"] == ["prompt_truncated", "tokenizer_degraded"]
            sent = up.seen[-1]["messages"][0]["content"]
            assert len(sent) / 3 < 512 - 16
            assert sent.endswith("Can it be refunded?")
            metrics = (await served.request("GET", "/metrics")).body.decode()
            assert 'truefall_tokenizer_degraded{backend="primary"} 1.0' in metrics
            fault.strike(0.0)
            for _ in range(120):
                await served.chat("Is it raining?")
            assert served.runtime.backends["primary"].tokenizer is None
            served.runtime.log.flush()
            assert "counted exactly again" in served.runtime.log._out.getvalue()


async def test_text_that_the_models_own_file_has_no_tokens_for_is_not_sent_to_it(tmp_path):
    policy = policy_of(
        accounting={"enabled": False}, grounding={"apply": "never"}, paths={"order": ["primary", "template"]}
    )
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", model_dir=folder(tmp_path, without="北今没")), policy=policy) as served,
    ):
        await distrusted(served, CHINESE)
        asked = len(up.seen)
        answer = await served.chat(CHINESE)
        assert (answer.status, answer.record["path"], answer.record["abstained"]) == (200, "template", True)
        assert answer.record["attempts"][0]["outcome"] == "refused"
        assert answer.record["attempts"][0]["reason"] == "tokenizer_degraded"
        assert len(up.seen) == asked
        english = await served.chat("Is it raining?")  # comes through whole
        assert (english.text, english.record["reasons"]) == (GOOD, ["tokenizer_degraded"])
        assert served.runtime.backends["primary"].breaker.state.name == "CLOSED"
