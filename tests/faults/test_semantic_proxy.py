"""The semantic proxy over real sockets: transparent without faults, harmful with them, and it says what it did."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest
from chat_stub import ANSWER, USAGE, Backend, running

from faults.semantic.relay import CallerGone, heard
from faults.semantic.server import serve
from faults.semantic.units import Splitter

CHAT = "/v1/chat/completions"


class Line:
    """One client, the proxy, and the backend behind it."""

    def __init__(self, session: aiohttp.ClientSession, proxy: str, backend_url: str, backend: Backend) -> None:
        self.session, self.proxy, self.backend_url, self.backend = session, proxy, backend_url, backend

    async def fault(self, fault_id: str = "f", /, **fields: Any) -> int:
        async with self.session.put(f"{self.proxy}/__fault__/{fault_id}", json=fields) as reply:
            self.error = (await reply.json()).get("error")
            return reply.status

    async def undo(self, fault_id: str = "f") -> dict[str, Any]:
        async with self.session.delete(f"{self.proxy}/__fault__/{fault_id}") as reply:
            return dict(await reply.json(), status=reply.status)

    async def ask(
        self, content: Any = "Please list exactly three rules.", trial: str | None = None, base: str = "", **fields: Any
    ) -> tuple[int, dict[str, str], bytes]:
        body = {"model": "m", "messages": [{"role": "user", "content": content}], **fields}
        headers = {"x-truefall-trial": trial} if trial else {}
        async with self.session.post((base or self.proxy) + CHAT, json=body, headers=headers) as reply:
            return reply.status, dict(reply.headers), await reply.read()

    async def say(self, **fields: Any) -> str:
        _, _, body = await self.ask(**fields)
        return text_of(body)


def objects_of(body: bytes) -> list[dict[str, Any]]:
    if not body.startswith((b"data:", b":")):
        return [json.loads(body)]
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: {")]


def text_of(body: bytes) -> str:
    deltas = [choice.get("delta", choice.get("message")) for value in objects_of(body) for choice in value["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


@asynccontextmanager
async def a_line(backend: Backend | None = None) -> AsyncIterator[Line]:
    backend = backend or Backend()
    async with AsyncExitStack() as stack:
        backend_url = await stack.enter_async_context(running(backend))
        proxy = await stack.enter_async_context(serve(backend_url))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        yield Line(session, proxy, backend_url, backend)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("idle_fault", [False, True])
async def test_without_a_fault_that_hits_the_reply_is_the_backends_bytes(streaming: bool, idle_fault: bool) -> None:
    async with a_line() as line:
        if idle_fault:
            await line.fault(kind="answer_drop", rate=0)
            await line.fault("g", kind="status", rate=0)
        direct = await line.ask(stream=streaming, base=line.backend_url)
        through = await line.ask(stream=streaming)
        dates = [through[1].pop("Date"), direct[1].pop("Date")]
        assert all(dates)
        assert through == direct
        assert line.backend.received[0] == line.backend.received[1]
        assert (await line.undo())["status"] == (200 if idle_fault else 404)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "HEAD", "OPTIONS"])
async def test_other_paths_pass_untouched(method: str) -> None:
    async with a_line() as line:
        await line.fault(kind="status", status=503)
        replies = []
        for base in (line.backend_url, line.proxy):
            data = b"\xff\x00body" if method == "POST" else None
            async with line.session.request(method, f"{base}/v1/mod%65ls?a=%20b&c", data=data) as reply:
                headers = {name: value for name, value in reply.headers.items() if name != "Date"}
                replies.append((reply.status, reply.reason, headers, await reply.read()))
        assert replies[0] == replies[1]


async def test_request_headers_reach_the_backend_as_they_were() -> None:
    async with a_line() as line:
        await line.ask(trial="t1")
        await line.ask(trial="t1", base=line.backend_url)
        through, direct = (
            {(name, value) for name, value in headers if name not in ("Host", "Connection")}
            for headers in line.backend.headers
        )
        assert through == direct


@pytest.mark.parametrize("streaming", [False, True])
async def test_dropped_answer_tokens_are_recorded_and_usage_is_the_backends(streaming: bool) -> None:
    async with a_line() as line:
        assert await line.fault(kind="answer_drop", rate=0.3, seed=7) == 200
        _, _, body = await line.ask(stream=streaming, trial="t1")
        state = await line.undo()
        assert state["touched"] == 1
        (row,) = state["evidence"]
        assert row["key"] == "t1"
        assert 0 < len(row["edits"]) == row["count"]
        units = Splitter([]).split(ANSWER)
        gone = {edit["at"] for edit in row["edits"]}
        assert [units[edit["at"]] for edit in row["edits"]] == [edit["was"] for edit in row["edits"]]
        assert text_of(body) == "".join(unit for at, unit in enumerate(units) if at not in gone)
        assert USAGE in [event.get("usage") for event in objects_of(body)]


async def test_stream_and_json_of_one_trial_lose_the_same_tokens_in_any_order() -> None:
    async with a_line() as line:
        await line.fault(kind="answer_drop", rate=0.3, seed=7)
        first = [await line.say(trial=trial, stream=False) for trial in ("a", "b", "c")]
        again = [await line.say(trial=trial, stream=True) for trial in ("c", "b", "a")]
        assert first == again[::-1]
        assert len(set(first)) == 3
        await line.fault(kind="answer_drop", rate=0.3, seed=8)
        assert await line.say(trial="a") != first[0]


async def test_requests_without_a_trial_are_keyed_by_their_number_since_the_fault_was_set() -> None:
    async with a_line() as line:
        runs = []
        for _ in range(2):
            await line.fault(kind="answer_drop", rate=0.3, seed=7)
            runs.append([await line.say() for _ in range(3)])
        assert runs[0] == runs[1]
        assert len(set(runs[0])) == 3


async def test_prompt_faults_touch_the_last_user_message_only() -> None:
    async with a_line() as line:
        await line.fault(kind="prompt_drop", rate=1)
        system = {"role": "system", "content": "Be brief."}
        old = {"role": "user", "content": "earlier"}
        parts = [{"type": "text", "text": "now"}, {"type": "image_url", "image_url": {"url": "u"}}]
        await line.ask(messages=[system, old, {"role": "user", "content": parts}], tools=[{"type": "function"}])
        seen = line.backend.received[0]
        assert seen["messages"][:2] == [system, old]
        assert seen["messages"][2]["content"] == [{"type": "text", "text": ""}, parts[1]]
        assert seen["tools"] == [{"type": "function"}]
        assert (await line.undo())["evidence"][0]["edits"] == [{"at": 0, "was": "now", "now": ""}]


@pytest.mark.parametrize("streaming", [False, True])
async def test_truncation_is_silent_and_leaves_the_finish_reason(streaming: bool) -> None:
    async with a_line() as line:
        await line.fault(kind="answer_truncate", at="sentence", keep=1)
        _, _, body = await line.ask(stream=streaming)
        assert text_of(body) == "Opened software cannot be refunded."
        assert b'"finish_reason":"stop"' in body.replace(b": ", b":")
        assert (await line.undo())["touched"] == 1
        await line.fault(kind="answer_truncate", at="sentence", keep=99)
        assert await line.say(stream=streaming) == ANSWER
        assert (await line.undo())["touched"] == 0


async def test_a_stale_answer_is_that_of_another_request() -> None:
    async with a_line() as line:
        await line.fault(kind="answer_stale")
        assert await line.say(trial="one") == ANSWER
        line.backend.answer = "Another answer."
        assert await line.say(trial="one") == "Another answer."
        assert await line.say(trial="two") == "Another answer."
        line.backend.answer = "A third answer."
        assert await line.say(trial="three") == "Another answer."
        assert (await line.undo())["touched"] == 2


OUTAGES = {
    "status": lambda status, headers, body: status == 429 and headers["Retry-After"] == "7" and b"error" in body,
    "garbage": lambda status, headers, body: status == 200 and not parses(body),
    "html": lambda status, headers, body: status == 200 and b"<html>" in body and "html" in headers["Content-Type"],
    "half_json": lambda status, headers, body: status == 200 and body.startswith((b"{", b":")) and not parses(body),
    "empty_choices": lambda status, headers, body: b'"choices":[]' in body,
    "null_content": lambda status, headers, body: b'"content":null' in body,
    "error_object": lambda status, headers, body: status == 200 and b'"error":{' in body,
    "wrong_content_type": lambda status, headers, body: headers["Content-Type"].startswith("text/plain"),
    "huge_answer": lambda status, headers, body: len(body) > 2**20,
}


def parses(body: bytes) -> bool:
    try:
        return bool(json.loads(body))
    except ValueError:
        return False


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", OUTAGES)
async def test_each_outage_shows_and_is_gone_after_the_undo(kind: str, streaming: bool) -> None:
    async with a_line() as line:
        await line.fault(kind=kind, status=429, retry_after_s=7, size_bytes=2**20)
        status, headers, body = await line.ask(stream=streaming)
        assert OUTAGES[kind](status, headers, body), (status, headers, body[:200])
        assert (await line.undo())["touched"] == 1
        assert await line.say(stream=streaming) == ANSWER


async def test_a_cut_stream_ends_cleanly_without_done_and_a_cut_body_breaks_off() -> None:
    async with a_line() as line:
        await line.fault(kind="cut_stream", after_chunks=4)
        _, _, body = await line.ask(stream=True)
        assert text_of(body) == "Opened software cannot"
        assert b"[DONE]" not in body
        await line.fault(kind="cut_stream", after_chunks=999)
        _, _, body = await line.ask(stream=True)
        assert text_of(body) == ANSWER
        assert b"[DONE]" not in body
        assert b"stop" not in body
        with pytest.raises(aiohttp.ClientError):
            await line.ask()


@pytest.mark.parametrize("kind", ["hang", "stall", "slow_first_token"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_request_held_back_goes_on_when_the_fault_is_taken_away(kind: str, streaming: bool) -> None:
    async with a_line() as line:
        await line.fault(kind=kind, delay_s=600)
        asked = asyncio.ensure_future(line.ask(stream=streaming))
        while (await state_of(line))["touched"] == 0:
            await asyncio.wait({asked}, timeout=0.005)
        assert not asked.done()
        assert (await line.undo())["touched"] == 1
        assert text_of((await asked)[2]) == ANSWER


async def state_of(line: Line) -> dict[str, Any]:
    async with line.session.get(f"{line.proxy}/__fault__") as reply:
        return dict((await reply.json())["faults"][0])


async def test_a_stream_is_passed_on_as_it_comes_and_a_client_that_leaves_is_seen_by_the_backend() -> None:
    async with a_line(Backend(chunks=["one "])) as line:
        line.backend.pause.clear()
        await line.fault(kind="answer_synonyms")
        async with line.session.post(line.proxy + CHAT, json={"messages": [], "stream": True}) as reply:
            assert await reply.content.readline() == b": a comment\n"
        for _ in range(200):
            if line.backend.gone:
                break
            await asyncio.wait({asyncio.ensure_future(line.undo())})
        assert line.backend.gone == 1


async def test_a_dead_backend_is_a_broken_connection_not_an_answer() -> None:
    async with serve("http://127.0.0.1:9") as proxy, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.post(proxy + CHAT, json={})


async def test_a_fault_runs_out_by_itself() -> None:
    async with a_line() as line:
        await line.fault(kind="status", ttl_s=0.01)
        while not (await state_of(line))["expired"]:
            pass
        assert (await line.ask())[0] == 200
        assert (await line.undo())["touched"] == 0


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"kind": "answer_dorp"}, "answer_dorp"),
        ({"kind": "answer_drop", "rate": 1.2}, "rate is 1.2"),
        ({"kind": "answer_drop", "rte": 0.2}, "rte"),
        ({"kind": "status", "status": 200}, "status is 200"),
        ({"kind": "hang", "ttl_s": 0}, "ttl_s is 0"),
    ],
)
async def test_an_impossible_fault_is_refused_with_its_field(fields: dict[str, Any], names: str) -> None:
    async with a_line() as line:
        assert await line.fault(**fields) == 400
        assert names in line.error
        assert await line.say() == ANSWER


async def test_put_of_a_list_replaces_all_and_delete_ends_all() -> None:
    async with a_line() as line:
        await line.fault("old", kind="status")
        url = f"{line.proxy}/__fault__"
        both = [{"id": "a", "kind": "answer_drop", "rate": 1}, {"id": "b", "kind": "prompt_drop", "rate": 1}]
        async with line.session.put(url, json={"faults": both}) as reply:
            assert [fault["id"] for fault in (await reply.json())["faults"]] == ["a", "b"]
        assert await line.say() == ""
        assert line.backend.received[0]["messages"][0]["content"] == ""
        async with line.session.delete(url) as reply:
            assert reply.status == 204
        assert await line.say() == ANSWER


async def test_a_burst_shares_one_draw_and_a_schedule_names_its_requests() -> None:
    async with a_line() as line:
        await line.fault(kind="status", when="only 1-2/4")
        statuses = [(await line.ask())[0] for _ in range(8)]
        assert statuses == [200, 503, 503, 200] * 2
        await line.fault(kind="status", rate=0.5, when="burst 3", seed=3)
        statuses = [(await line.ask(trial=f"t{number}"))[0] for number in range(24)]
        bursts = [set(statuses[first : first + 3]) for first in range(0, 24, 3)]
        assert all(len(burst) == 1 for burst in bursts)
        assert {200, 503} == set(statuses)


async def test_a_fault_touches_only_the_tenants_and_the_share_of_its_blast_radius() -> None:
    async with a_line() as line:
        await line.fault(kind="status", reach={"tenants": ["acme"], "tenant_header": "x-tenant-id"})
        statuses = []
        for tenant in ("acme", "other", ""):
            headers = {"x-tenant-id": tenant} if tenant else {}
            async with line.session.post(line.proxy + CHAT, json={"messages": []}, headers=headers) as reply:
                statuses.append(reply.status)
        assert statuses == [503, 200, 200]
        state = await line.undo()
        assert (state["touched"], state["seen"]) == (1, 1), "requests outside the blast radius count for nothing"
        for fault_id, kind in (("one", "prompt_drop"), ("two", "answer_drop")):
            await line.fault(fault_id, kind=kind, rate=1, seed=fault_id, reach={"share": 0.5, "seed": "7"})
        for number in range(20):
            await line.ask(trial=f"t{number}")
        one, two = [{row["key"] for row in (await line.undo(name))["evidence"]} for name in ("one", "two")]
        assert 4 < len(one) < 16
        assert one == two, "faults of one blast radius meet the same requests"
        assert await line.fault(kind="status", reach={"share": 2}) == 400
        assert "share" in line.error


async def test_a_fault_with_paths_meets_them_and_leaves_chat_alone() -> None:
    async with a_line() as line:
        await line.fault(kind="status", reach={"paths": ["/v1/embeddings"]})
        async with line.session.post(f"{line.proxy}/v1/embeddings", json={}) as reply:
            assert reply.status == 503
        assert (await line.ask())[0] == 200


async def test_a_slow_start_gets_faster_with_each_request() -> None:
    async with a_line() as line:
        await line.fault(kind="slow_start", delay_s=0.2, requests=2)
        took_s = []
        for _ in range(3):
            began_s = asyncio.get_running_loop().time()
            assert (await line.ask())[0] == 200
            took_s.append(asyncio.get_running_loop().time() - began_s)
        assert took_s[0] >= 0.2
        assert took_s[1] >= 0.1
        assert (await line.undo())["touched"] == 2


CHINESE = "已拆封的软件不能退款。"


@pytest.mark.parametrize("streaming", [False, True])
async def test_split_characters_arrive_whole_and_broken_ones_do_not(streaming: bool) -> None:
    async with a_line(Backend(CHINESE, chunks=list(CHINESE))) as line:
        await line.fault(kind="split_utf8")
        assert await line.say(stream=streaming) == CHINESE
        assert (await line.undo())["touched"] == 1
        await line.fault(kind="broken_utf8")
        _, _, body = await line.ask(stream=streaming)
        with pytest.raises(UnicodeDecodeError):
            body.decode()
        assert (await line.undo())["touched"] == 1


@pytest.mark.parametrize("kind", ["split_utf8", "broken_utf8"])
async def test_an_answer_without_such_characters_has_none_to_tear(kind: str) -> None:
    async with a_line() as line:
        await line.fault(kind=kind)
        assert await line.say() == ANSWER
        assert (await line.undo())["touched"] == 0


async def test_a_fault_set_again_under_its_name_does_not_count_what_the_one_before_touched() -> None:
    async with a_line() as line:
        for trial in ("first", "second"):
            await line.fault(kind="prompt_drop", rate=1, seed=1)
            await line.say(trial=trial)
            gone = await line.undo()
            assert (gone["touched"], [row["key"] for row in gone["evidence"]]) == (1, [trial])


async def test_a_caller_that_hangs_up_is_no_sign_of_a_broken_backend() -> None:
    async def send_to_nobody() -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    with pytest.raises(CallerGone):
        await heard(send_to_nobody())
