"""Rules, classifier, kept answers, semantic gate and review queue, over real sockets."""

import json
import re

import msgspec
import pytest
from aiohttp import web
from served import Gateway, backend, gateway, policy_of
from upstream_stub import answers, completion, dies, running, says, streams, text_events

from gateway.answers.embedding import HASHED, embed
from gateway.answers.gatekeepers import Model, checksum_path
from gateway.answers.intents import Intent, IntentFile, Response
from gateway.clock import SystemClock
from gateway.config import Answers, Embeddings
from gateway.health import HealthState
from gateway.record import Level
from gateway.review import ReviewQueue
from harness.cli import main

CONTEXT = "Orders over 50 USD ship free. Opened software cannot be refunded.\n\n"
GOOD = "No, opened software cannot be refunded."
QUESTION = CONTEXT + "Can I get a refund for opened software?"
CACHE_FIRST = {"order": ["primary", "cache", "template", "structured"]}


def keeping(**tables):
    return policy_of(paths=CACHE_FIRST, breaker={"consecutive_failures": 99}, **tables)


def kept(served: Gateway):
    return served.runtime.pipeline.unaided.kept.cache


async def test_an_earlier_answer_serves_when_the_model_fails_and_tells_its_age_and_similarity():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=keeping()) as served:
        assert (await served.chat(QUESTION)).record == {"level": "healthy"}
        up.script = answers({}, 500)
        answer = await served.chat(CONTEXT + "Can I get my money back for opened software, please")
        assert answer.text == GOOD
        assert answer.json["model"] == "primary-model"
        record = answer.record
        assert (record["path"], record["level"], record["reasons"]) == ("cache", "critical", ["backend_error"])
        assert record["cache"]["age_s"] >= 0
        assert 0.3 <= record["cache"]["similarity"] < 1
        assert "similar" in record["notice"]
        streamed = await served.chat(QUESTION, stream=True)
        assert streamed.streamed_text == GOOD
        assert streamed.streamed_record["cache"]["similarity"] == 1.0


@pytest.mark.parametrize(
    "other",
    [
        CONTEXT + "Can I get a refund for unopened software?",
        CONTEXT + "Did I get a refund for opened software?",
        CONTEXT + "Can you get a refund for opened software?",
        CONTEXT + "Can I not get a refund for opened software?",
        CONTEXT.replace("50", "60") + "Can I get a refund for opened software?",
    ],
)
async def test_another_slot_negation_or_context_never_gets_the_answer(other):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=keeping()) as served:
        await served.chat(QUESTION)
        up.script = answers({}, 500)
        assert (await served.chat(other)).record["path"] == "template"


async def test_another_tenant_system_prompt_or_region_never_gets_the_answer():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=keeping()) as served:
        body = {"messages": [{"role": "system", "content": "Shop A."}, {"role": "user", "content": QUESTION}]}
        raw, chat = json.dumps(body).encode(), "/v1/chat/completions"
        await served.post(chat, raw, Authorization="Bearer anna")
        up.script = answers({}, 500)
        assert (await served.post(chat, raw, Authorization="Bearer anna")).record["path"] == "cache"
        assert (await served.post(chat, raw, Authorization="Bearer bert")).record["path"] == "template"
        other = json.dumps(body).replace("Shop A", "Shop B").encode()
        assert (await served.post(chat, other, Authorization="Bearer anna")).record["path"] == "template"
        region = json.dumps({**body, "metadata": {"region": "EU"}}).encode()
        assert (await served.post(chat, region, Authorization="Bearer anna")).record["path"] == "template"


CUT = completion(GOOD)
CUT["choices"][0]["finish_reason"] = "length"


@pytest.mark.parametrize(
    "script",
    [
        answers(CUT),
        answers(completion(None, refusal="I will not.")),
        answers(completion("Yes, within 77 days.")),  # a number that nobody gave it
        streams(*text_events(GOOD)[:-3]),
        dies(),
    ],
)
async def test_what_is_cut_refused_ungrounded_or_broken_is_not_kept(script):
    async with running(script) as up, gateway(backend(up, "primary"), policy=keeping()) as served:
        await served.chat(QUESTION)
        await served.chat(QUESTION, stream=True)
        assert len(kept(served)) == 0


async def test_an_answer_given_while_degraded_or_by_another_backend_is_not_kept():
    policy = policy_of(paths={"order": ["primary", "secondary", "cache", "structured"]})
    async with (
        running(answers({}, 500)) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy) as served,
    ):
        assert (await served.chat(QUESTION)).record["path"] == "secondary"
        bad.script = says(GOOD)
        served.runtime.health = HealthState(level=Level.DEGRADED)
        await served.chat(QUESTION)
        assert len(kept(served)) == 0


async def test_nothing_is_kept_unless_the_order_names_the_cache():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        await served.chat(QUESTION)
        assert len(kept(served)) == 0


async def test_a_gateway_with_no_time_left_for_keeping_passes_answers_over_and_counts_them():
    policy = keeping(cache={"keep_share": 0.0})
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        await served.chat(QUESTION)
        assert len(kept(served)) == 1  # what was saved up at the start is there all the same
        served.runtime.pipeline.unaided.kept._budget._left_s = 0.0
        assert (await served.chat(QUESTION.replace("software", "goods"))).record == {"level": "healthy"}
        assert len(kept(served)) == 1
        page = (await served.request("GET", "/metrics")).body.decode()
        assert "truefall_cache_passed_over_total 1.0" in page


async def looked_up(served: Gateway) -> dict[str, float]:
    """Look-ups for the path "cache" so far, by what came of them."""
    page = (await served.request("GET", "/metrics")).body.decode()
    return {
        outcome: float(count)
        for outcome, count in re.findall(r'truefall_cache_lookups_total\{outcome="(\w+)"\} (\S+)', page)
    }


async def test_every_look_up_in_the_cache_is_counted_by_what_came_of_it():
    policy = keeping(cache={"max_age_s": 1.0}, semantic_gate={"apply": "degraded"})
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        await served.chat(QUESTION)
        assert await looked_up(served) == {"hit": 0.0, "miss": 0.0, "expired": 0.0, "bypass": 0.0}
        up.script = answers({}, 500)
        await served.chat(QUESTION)
        await served.chat(QUESTION.replace("software", "goods"))
        await served.chat(QUESTION + " I ask now.")  # what time changes is never kept
        await served.chat(QUESTION, tools=[{"type": "function", "function": {"name": "f"}}])
        (entry,) = kept(served)
        old = msgspec.structs.replace(entry, stored_unix_s=entry.stored_unix_s - 2)
        kept(served).put(old, max_entries=9, max_bytes=99_999)
        await served.chat(QUESTION)
        assert await looked_up(served) == {"hit": 1.0, "miss": 1.0, "expired": 1.0, "bypass": 2.0}


async def test_kept_answers_survive_a_restart_and_another_version_starts_empty(tmp_path):
    file = tmp_path / "answers.jsonl"
    files = Answers(cache_file=file)
    async with running(says(GOOD)) as up:
        async with gateway(backend(up, "primary"), policy=keeping(), answers=files) as served:
            await served.chat(QUESTION)
        up.script = answers({}, 500)
        async with gateway(backend(up, "primary"), policy=keeping(), answers=files) as served:
            assert (await served.chat(QUESTION)).record["path"] == "cache"
        file.write_bytes(file.read_bytes().replace(b'"truefall_cache":1', b'"truefall_cache":2'))
        async with gateway(backend(up, "primary"), policy=keeping(), answers=files) as served:
            assert (await served.chat(QUESTION)).record["path"] == "template"


RULES = """
[[rules]]
name = "hours"
any_of = ["opening hours"]
answer_en = "Nine to five."
"""


def with_rules(tmp_path) -> Answers:
    (tmp_path / "rules.toml").write_text(RULES)
    return Answers(rules=tmp_path / "rules.toml")


async def test_rules_before_the_backends_are_the_normal_path_and_are_told(tmp_path):
    policy = policy_of(paths={"order": ["rules", "primary", "structured"]})
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=policy, answers=with_rules(tmp_path)) as served,
    ):
        answer = await served.chat("What are your opening hours?")
        assert answer.text == "Nine to five."
        assert answer.record["path"] == "rules"
        assert (answer.record["level"], answer.record["reasons"]) == ("degraded", ["policy"])
        assert answer.record["notice"] == "Answered by a fixed rule, without a model."
        assert up.seen == []
        assert (await served.chat("Who are you?")).record == {"level": "healthy"}
        as_json = await served.chat("What are your opening hours?", response_format={"type": "json_object"})
        assert as_json.record["path"] == "structured"
        assert len(up.seen) == 2


async def test_rules_after_the_backends_are_a_degraded_path(tmp_path):
    policy = policy_of(paths={"order": ["primary", "rules", "template", "structured"]})
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary"), policy=policy, answers=with_rules(tmp_path)) as served,
    ):
        record = (await served.chat("What are your opening hours?")).record
        assert (record["path"], record["level"], record["reasons"]) == ("rules", "critical", ["backend_error"])
        assert (await served.chat("Who are you?")).record["path"] == "template"


async def test_the_classifier_passes_on_what_it_is_not_sure_of(tmp_path):
    import hashlib

    hours = embed("opening hours")
    model = Model(
        truefall_gatekeeper=1,
        space=HASHED,
        classes=("hours", "other"),
        bias=(0.0, 1.0),
        weights={place: (9 * weight, 0.0) for place, weight in hours.items()},
        responses={"hours": (Response(lang="en", text="Nine to five."),)},
    )
    path = tmp_path / "gk.json"
    path.write_bytes(msgspec.json.encode(model))
    checksum_path(path).write_text(hashlib.sha256(path.read_bytes()).hexdigest())
    policy = policy_of(paths={"order": ["classifier", "primary", "structured"]})
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=policy, answers=Answers(classifier=path)) as served,
    ):
        answer = await served.chat("What are your opening hours?")
        assert (answer.text, answer.record["path"]) == ("Nine to five.", "classifier")
        assert (await served.chat("Who founded the company?")).record == {"level": "healthy"}


async def test_an_intents_response_is_filled_from_the_requests_metadata(tmp_path):
    centre = embed("opening hours")
    intent = Intent(
        id="INT-07", centre=centre, radius=0.5, responses=(Response(lang="en", text="At {user.location.lat}: nine."),)
    )
    path = tmp_path / "intents.json"
    path.write_bytes(msgspec.json.encode(IntentFile(truefall_intents=1, space=HASHED, intents=(intent,))))
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary"), answers=Answers(intents=path)) as served,
    ):
        place = {"user": {"location": {"lat": 46.9}}}
        answer = await served.chat("What are the opening hours?", metadata=place)
        assert (answer.text, answer.record["path"]) == ("At 46.9: nine.", "template")
        without = await served.chat("What are the opening hours?")
        assert without.record["abstained"] is True


GATED = {"semantic_gate": {"apply": "degraded"}, "paths": {"order": ["primary", "secondary", "template", "structured"]}}


async def test_a_degraded_answer_far_from_its_passage_gives_way_to_the_next_path():
    async with (
        running(answers({}, 500)) as bad,
        running(says("Opened software cannot be refunded.")) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy_of(**GATED)) as served,
    ):
        assert (await served.chat(QUESTION)).record["path"] == "secondary"
        good.script = says("The moon is far from the village tonight.")
        record = (await served.chat(QUESTION)).record
        assert (record["path"], record["reasons"][-1]) == ("template", "semantic_gate")
        assert served.runtime.backends["secondary"].breaker.state == "closed"


EXTRACT = CONTEXT + "Extract the names of the free orders over 50 USD"


async def test_an_extraction_that_is_poor_and_far_off_waits_for_a_person(tmp_path):
    db = tmp_path / "review.db"
    async with (
        running(answers({}, 500)) as bad,
        running(says("Moon.")) as good,
        gateway(
            backend(bad, "primary"),
            backend(good, "secondary"),
            policy=policy_of(**GATED),
            answers=Answers(review_db=db),
        ) as served,
    ):
        record = (await served.chat(EXTRACT)).record
        assert record["path"] == "template"
        (entry,) = ReviewQueue(db, max_bytes=999_999, now_unix_s=lambda: 0.0).entries()
        assert record["review"] == entry.id
        assert (entry.answer, entry.task, entry.path) == ("Moon.", "entity_extraction", "secondary")


async def test_a_queue_that_cannot_be_written_loses_the_entry_and_not_the_request(tmp_path):
    (tmp_path / "review.db").write_bytes(b"no database" * 999)
    async with (
        running(answers({}, 500)) as bad,
        running(says("Moon.")) as good,
        gateway(
            backend(bad, "primary"),
            backend(good, "secondary"),
            policy=policy_of(**GATED),
            answers=Answers(review_db=tmp_path / "review.db"),
        ) as served,
    ):
        answer = await served.chat(EXTRACT)
        assert (answer.status, answer.record["path"]) == (200, "template")
        assert "review" not in answer.record
        metrics = await served.request("GET", "/metrics")
        assert b"truefall_review_lost_total 1.0" in metrics.body


async def test_a_summary_close_enough_gives_way_to_the_earlier_answer():
    policy = policy_of(
        semantic_gate={"apply": "degraded"},
        paths={"order": ["primary", "secondary", "cache", "template"]},
        breaker={"consecutive_failures": 99},
    )
    ask = CONTEXT + "Summarise the refund rule for opened software"
    async with (
        running(says("Opened software cannot be refunded.")) as first,
        running(says("Opened software cannot be refunded")) as second,
        gateway(backend(first, "primary"), backend(second, "secondary"), policy=policy) as served,
    ):
        await served.chat(ask)
        first.script = answers({}, 500)
        answer = await served.chat(ask)
        assert answer.record["path"] == "cache"
        assert answer.record["reasons"] == ["backend_error", "semantic_gate"]
        assert answer.text == "Opened software cannot be refunded."


async def test_an_embedding_endpoint_measures_similarity_and_its_silence_does_no_harm():
    seen: list[str] = []

    async def embeddings(request: web.Request) -> web.Response:
        body = await request.json()
        seen.append(body["input"])
        return web.json_response({"data": [{"embedding": [0.6, 0.8]}]})

    app = web.Application()
    app.router.add_post("/v1/embeddings", embeddings)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    files = Answers(embeddings=Embeddings(url=f"http://127.0.0.1:{port}/v1", model="e", timeout_s=0.2))
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=keeping(), answers=files) as served:
        await served.chat(QUESTION)
        while len(kept(served)) == 0:
            await SystemClock().sleep(0)  # kept in the background, so that no answer waits for the endpoint
        up.script = answers({}, 500)
        other = CONTEXT + "Can I get my money back for opened software, please"
        assert (await served.chat(other)).record["cache"]["similarity"] == pytest.approx(1.0)
        await runner.cleanup()
        assert (await served.chat(other)).record["cache"]["similarity"] < 1
        assert "Can I get a refund for opened software?" in seen


def test_a_check_reads_the_answers_files_too(tmp_path, capsys):
    config = tmp_path / "gateway.toml"
    config.write_text(
        '[answers]\nrules = "rules.toml"\n[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    )
    (tmp_path / "rules.toml").write_text(RULES)
    assert main(["gateway", "--config", str(config), "--check"]) == 0
    (tmp_path / "rules.toml").write_text(RULES + 'when = ["hours"]\n')
    assert main(["gateway", "--config", str(config), "--check"]) == 2
    assert "rules.toml:6: rules refer to each other in a loop: hours -> hours" in capsys.readouterr().err


def test_a_path_without_its_file_is_refused(tmp_path, capsys):
    config, policy = tmp_path / "gateway.toml", tmp_path / "policy.toml"
    config.write_text('[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n')
    policy.write_text('[paths]\norder = ["rules", "primary"]\n')
    assert main(["gateway", "--config", str(config), "--policy", str(policy), "--check"]) == 2
    assert "'rules' needs answers.rules in the config" in capsys.readouterr().err
