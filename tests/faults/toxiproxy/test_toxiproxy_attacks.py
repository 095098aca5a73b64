"""Requests that no honest client sends, or that honest ones send at the same moment: nothing is lost or left on."""

import asyncio
import socket

import pytest

from faults.toxiproxy.addresses import parse

DEAD = "127.0.0.1:1"
GREATEST = 2**63 - 1


def taken_address(taken: socket.socket) -> str:
    return f"127.0.0.1:{taken.getsockname()[1]}"


async def listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True


async def test_two_changes_at_once_never_take_back_each_others(api):
    for _ in range(20):
        await api.proxy(DEAD)
        await asyncio.gather(
            api.call("PATCH", "/proxies/p", {"enabled": False}),
            api.call("PATCH", "/proxies/p", {"upstream": "127.0.0.1:2"}),
            api.call("PATCH", "/proxies/p", {"upstream": "127.0.0.1:2"}),
        )
        (_, proxy) = await api.call("GET", "/proxies/p")
        assert (proxy["enabled"], proxy["upstream"]) == (False, "127.0.0.1:2")
        await api.call("DELETE", "/proxies/p")


async def test_concurrent_deletes_end_once(api):
    await api.proxy(DEAD)
    await api.toxic("latency", latency=1, name="t")
    for path in ("/proxies/p/toxics/t", "/proxies/p"):
        answers = await asyncio.gather(*(api.call("DELETE", path) for _ in range(5)))
        assert sorted(answer.status for answer in answers) == [204, 404, 404, 404, 404]


@pytest.mark.parametrize("change", [{}, {"upstream": "127.0.0.1:2"}, {"enabled": True}])
async def test_a_move_to_an_address_that_is_taken_leaves_the_proxy_where_it_was(api, change):
    listen = await api.proxy(DEAD)
    await api.toxic("latency", latency=1)
    before = await api.call("GET", "/proxies/p")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        moved = {"listen": taken_address(taken), **change}
        assert (await api.call("PATCH", "/proxies/p", moved)).status == 500
    assert await api.call("GET", "/proxies/p") == before
    assert await listens(listen)


async def test_a_reset_that_cannot_start_one_proxy_starts_the_others(api):
    for name in ("a", "b", "c"):
        listen = await api.proxy(DEAD, name=name)
        await api.call("PATCH", f"/proxies/{name}", {"enabled": False})
        if name == "b":
            host, _, port = listen.rpartition(":")
    with socket.create_server((host, int(port))):
        assert (await api.call("POST", "/reset")).status == 500
    (_, proxies) = await api.call("GET", "/proxies")
    assert [proxies[name]["enabled"] for name in ("a", "b", "c")] == [True, False, True]


@pytest.mark.parametrize("how", ["populate", "delete"])
async def test_a_proxy_that_was_replaced_while_it_was_down_does_not_come_back_at_its_time(api, how):
    listen = await api.proxy(DEAD)
    await api.call("PATCH", "/proxies/p", {"enabled": False, "ttl_ms": 20})
    if how == "populate":
        await api.call("POST", "/populate", [{"name": "p", "upstream": "127.0.0.1:2", "listen": "127.0.0.1:0"}])
    else:
        await api.call("DELETE", "/proxies/p")
    await api.proxy(DEAD, name="later")
    await api.call("PATCH", "/proxies/later", {"enabled": False, "ttl_ms": 40})
    while not (await api.call("GET", "/proxies/later")).body["enabled"]:
        await asyncio.sleep(0.01)  # noqa: TID251  (the server's own timers run on the real clock)
    assert not await listens(listen)


@pytest.mark.parametrize("change", [{"upstream": "127.0.0.1:2"}, {"listen": "127.0.0.1:0"}, {"enabled": False}])
async def test_an_outage_ends_at_its_time_whatever_else_is_changed_meanwhile(api, change):
    await api.proxy(DEAD)
    await api.call("PATCH", "/proxies/p", {"enabled": False, "ttl_ms": 30})
    await api.call("PATCH", "/proxies/p", change)
    async with asyncio.timeout(10):
        while not (await api.call("GET", "/proxies/p")).body["enabled"]:
            await asyncio.sleep(0.01)  # noqa: TID251


async def test_a_proxy_that_begins_with_an_outage_is_up_after_its_time(api):
    await api.proxy(DEAD, enabled=False, ttl_ms=10)
    async with asyncio.timeout(10):
        while not (await api.call("GET", "/proxies/p")).body["enabled"]:
            await asyncio.sleep(0.01)  # noqa: TID251


@pytest.mark.parametrize(
    "body",
    [
        b'{"type": "latency", "toxicity": 1e400}',
        b'{"type": "latency", "toxicity": NaN}',
        b'{"type": "latency", "toxicity": -0.1}',
        b'{"type": "latency", "toxicity": 1.0000001}',
        b'{"type": "latency", "toxicity": "1"}',
        b'{"type": "latency", "attributes": {"latency": 1e400}}',
        b'{"type": "latency", "attributes": {"latency": 9223372036854775808}}',
        b'{"type": "latency", "attributes": {"latency": -1}}',
        b'{"type": "latency", "attributes": {"latency": 1.5}}',
        b'{"type": "latency", "attributes": {"latency": true}}',
        b'{"type": "latency", "attributes": {"\\ud800": 1}}',
        b'{"type": "latency", "\\ud800": 1}',
        b'{"type": "latency", "name": "\\ud800"}',
        b'{"type": "latency", "attributes": [1]}',
        b'{"type": "latency", "ttl_ms": 0}',
        b'{"type": "latency", "ttl_ms": 1e400}',
        b'{"type": ["latency"]}',
        b'{"type": "latency", "stream": ""}',
        b'{"type": "slicer", "attributes": {"average_size": 5, "size_variation": 5}}',
        b'{"type": "limit_data", "attributes": {"bytes": -1}}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b"\xff\xfe{",
        b"null",
        b"",
    ],
)
async def test_odd_bodies_are_refused_in_words_and_nothing_is_on(api, body):
    await api.proxy(DEAD)
    for method, path in (("POST", "/proxies/p/toxics"), ("POST", "/populate")):
        status, answer = await api.call(method, path, data=body)
        assert (status, answer["status"]) == (400, 400), answer
        assert answer["error"]
    assert (await api.call("GET", "/proxies/p")).body["toxics"] == []


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("latency", {"latency": GREATEST, "jitter": GREATEST}),
        ("bandwidth", {"rate": GREATEST}),
        ("slow_close", {"delay": GREATEST}),
        ("timeout", {"timeout": GREATEST}),
        ("reset_peer", {"timeout": GREATEST}),
        ("slicer", {"average_size": GREATEST, "size_variation": GREATEST - 1, "delay": GREATEST}),
        ("limit_data", {"bytes": GREATEST}),
    ],
)
async def test_the_greatest_values_hold_under_traffic_and_go_again(api, echo, connect, kind, attributes):
    peer = await connect(await api.proxy(echo))
    await peer.ping()
    await api.toxic(kind, name="t", stream="upstream", **attributes)
    await peer.send(b"more")
    assert (await api.call("DELETE", "/proxies/p/toxics/t")).status == 204
    if kind != "timeout":  # removing that one closes
        assert await peer.exactly(4) == b"more"
        assert await peer.ping() == b"ping"


@pytest.mark.parametrize(("text", "port"), [("h:0", 0), ("h:00000080", 80), ("h:65535", 65535), ("h:000000000", 0)])
def test_a_port_is_the_number_that_is_written(text, port):
    assert parse(text).port == port


@pytest.mark.parametrize("text", ["h:65536", "h:99999999999999999999", "h:-1", "h:8o", "h:\u0661"])
def test_what_is_no_port_is_refused(text):
    with pytest.raises(ValueError, match="port"):
        parse(text)
