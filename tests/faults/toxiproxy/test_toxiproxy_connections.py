"""Real connections through a proxy, on the loopback: bytes, order, ends. No wall clock is asserted on."""

import asyncio
import resource
import socket
from contextlib import suppress

import pytest

from faults.toxiproxy.addresses import listening_socket

NEVER_MS = 3_600_000


async def send_until_stuck(peer) -> int:
    """Send until the other side takes nothing more for a moment; return the bytes handed over."""
    sent = 0
    with suppress(TimeoutError):
        while sent < 200_000_000:
            peer.writer.write(b"x" * 65536)
            sent += 65536
            async with asyncio.timeout(0.3):
                await peer.writer.drain()
    return sent


async def test_bytes_pass_both_ways_and_are_counted(api, echo, connect):
    peer = await connect(await api.proxy(echo))
    data = bytes(range(256)) * 4000
    sending = asyncio.create_task(peer.send(data))
    assert await peer.exactly(len(data)) == data
    await sending
    metrics = (await api.call("GET", "/metrics")).body
    for name in ("received", "sent"):
        lines = [line for line in metrics.splitlines() if line.startswith(f"toxiproxy_proxy_{name}_bytes_total{{")]
        assert [line.rpartition(" ")[2] for line in lines] == ["1024000", "1024000"]
        assert 'direction="upstream"' in lines[0]
        assert f'upstream="{echo}"' in lines[0]


async def test_a_half_close_passes_as_one(api, upstream, connect):
    async def answer_after_the_end(reader, writer):
        writer.write(b"got %d" % len(await reader.read()))

    peer = await connect(await api.proxy(await upstream(answer_after_the_end)))
    await peer.send(b"x" * 100_000)
    peer.writer.write_eof()
    assert await peer.rest() == b"got 100000"


async def test_an_upstream_that_ends_first_can_still_be_sent_to(api, upstream, connect, eventually):
    got = bytearray()

    async def end_first(reader, writer):
        writer.write_eof()
        got.extend(await reader.read())

    peer = await connect(await api.proxy(await upstream(end_first)))
    assert await peer.rest() == b""
    await peer.send(b"still here")
    peer.writer.write_eof()
    await eventually(lambda: bytes(got) == b"still here")


async def test_a_dead_upstream_closes_the_client_and_nothing_stays(api, connect, eventually):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"127.0.0.1:{closed.getsockname()[1]}"
    peer = await connect(await api.proxy(dead))
    with suppress(ConnectionResetError):
        assert await peer.rest() == b""
    proxy = api.collection.find("p")
    await eventually(lambda: proxy.open_connections == 0)


@pytest.mark.parametrize("address", ["nowhere.invalid:1", "no-port", "", ":::"])
async def test_an_upstream_that_is_no_address_closes_the_client(api, connect, address):
    if not address:
        assert (await api.call("POST", "/proxies", {"name": "p", "upstream": ""})).status == 400
        return
    peer = await connect(await api.proxy(address))
    with suppress(ConnectionResetError):
        assert await peer.rest() == b""


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
async def test_an_ipv6_upstream_and_listener_work(api, upstream, echoing, connect):
    try:
        address = await upstream(echoing, "::1")
    except OSError:
        pytest.skip("no IPv6 loopback")
    listen = await api.proxy(address, listen="[::1]:0")
    assert listen.startswith("[::1]:")
    assert await (await connect(listen)).ping() == b"ping"


async def test_toxics_take_effect_on_live_connections_and_go_again(api, echo, connect):
    peer = await connect(await api.proxy(echo))
    assert await peer.ping() == b"ping"
    await api.toxic("latency", latency=NEVER_MS)
    await peer.send(b"late")
    assert (await asyncio.wait({reading := asyncio.create_task(peer.exactly(4))}, timeout=0.05))[0] == set()
    await api.call("PATCH", "/proxies/p/toxics/latency_downstream", {"attributes": {"latency": 1}})
    assert await reading == b"late"
    await api.call("PATCH", "/proxies/p/toxics/latency_downstream", {"attributes": {"latency": NEVER_MS}})
    await peer.send(b"more")
    assert (await api.call("DELETE", "/proxies/p/toxics/latency_downstream")).status == 204
    assert await peer.exactly(4) == b"more"
    assert await peer.ping() == b"ping"


async def test_reset_of_the_server_frees_what_toxics_held(api, echo, connect):
    peer = await connect(await api.proxy(echo))
    await api.toxic("latency", latency=NEVER_MS, stream="upstream")
    await api.toxic("bandwidth", rate=1)
    await peer.send(b"x" * 100_000)
    assert (await api.call("POST", "/reset")).status == 204
    assert await peer.exactly(100_000) == b"x" * 100_000


async def test_removing_a_timeout_closes_its_connections(api, echo, connect):
    listen = await api.proxy(echo)
    peer = await connect(listen)
    await api.toxic("timeout", timeout=0)
    await peer.send(b"lost")
    await api.call("DELETE", "/proxies/p/toxics/timeout_downstream")
    assert await peer.rest() == b""
    assert await (await connect(listen)).ping() == b"ping"


async def test_a_timeout_lets_nothing_pass_then_closes(api, echo, connect):
    listen = await api.proxy(echo)
    await api.toxic("timeout", timeout=30)
    peer = await connect(listen)
    await peer.send(b"lost")
    assert await peer.rest() == b""


async def test_a_client_that_gives_up_under_an_endless_timeout_leaves_nothing(api, echo, connect, eventually):
    listen = await api.proxy(echo)
    await api.toxic("timeout", timeout=0)
    peer = await connect(listen)
    await peer.send(b"lost")
    peer.writer.close()
    proxy = api.collection.find("p")
    await eventually(lambda: proxy.accepted_connections == 1 and proxy.open_connections == 0)


@pytest.mark.parametrize("stream", ["upstream", "downstream"])
async def test_reset_peer_really_resets_a_live_connection(api, echo, connect, stream):
    peer = await connect(await api.proxy(echo))
    assert await peer.ping() == b"ping"
    await api.toxic("reset_peer", timeout=0, stream=stream)
    with pytest.raises(ConnectionResetError):
        await peer.rest()
    assert (await api.evidence(f"reset_peer_{stream}"))["connections"] == 1


async def test_reset_peer_resets_a_fresh_connection_at_its_first_answer(api, upstream, connect, eventually):
    seen = []

    async def serve(reader, writer):
        seen.append(await reader.read(100))
        writer.write(b"answer")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        seen.append("reset")

    listen = await api.proxy(await upstream(serve))
    await api.toxic("reset_peer", timeout=0)
    peer = await connect(listen)
    await peer.send(b"question")
    with pytest.raises(ConnectionResetError):
        await peer.rest()
    await eventually(lambda: seen == [b"question", "reset"])


async def test_a_reset_by_the_upstream_reaches_the_client_as_one(api, upstream, connect):
    async def reset(reader, writer):
        await reader.read(4)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        writer.transport.abort()

    peer = await connect(await api.proxy(await upstream(reset)))
    await peer.send(b"ping")
    with pytest.raises(ConnectionResetError):
        await peer.rest()


async def test_a_client_that_ends_and_then_vanishes_takes_a_held_upstream_with_it(api, upstream, connect, eventually):
    async def flood(reader, writer):
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    peer = await connect(await api.proxy(await upstream(flood)))
    peer.writer.transport.pause_reading()
    peer.writer.write_eof()
    proxy = api.collection.find("p")
    down = proxy.traffic["downstream"]
    await eventually(lambda: down.received_bytes > 1_000_000)
    peer.writer.transport.abort()
    await eventually(lambda: proxy.open_connections == 0)


async def test_limit_data_delivers_exactly_its_bytes_even_while_the_client_sends(api, echo, connect):
    listen = await api.proxy(echo)
    await api.toxic("limit_data", bytes=100_000)
    peer = await connect(listen)
    peer.writer.write(bytes(range(250)) * 4000)
    assert await peer.rest() == bytes(range(250)) * 400
    evidence = await api.evidence("limit_data_downstream")
    assert evidence["connections"] == 1


async def test_slow_close_delays_the_end_until_it_is_removed(api, echo, connect):
    listen = await api.proxy(echo)
    await api.toxic("slow_close", delay=NEVER_MS)
    peer = await connect(listen)
    assert await peer.ping() == b"ping"
    peer.writer.write_eof()
    reading = asyncio.create_task(peer.rest())
    assert (await asyncio.wait({reading}, timeout=0.05))[0] == set()
    await api.call("DELETE", "/proxies/p/toxics/slow_close_downstream")
    assert await reading == b""


async def test_a_slicer_hands_over_slices(api, echo, connect):
    listen = await api.proxy(echo)
    await api.toxic("slicer", average_size=100, size_variation=10, delay=500)
    peer = await connect(listen)
    await peer.send(b"x" * 1000)
    first = await asyncio.wait_for(peer.reader.read(65536), 10)
    assert len(first) < 1000
    assert await peer.exactly(1000 - len(first)) == b"x" * (1000 - len(first))


@pytest.mark.slow
@pytest.mark.parametrize("toxic", [None, {"kind": "latency", "latency": 1}, {"kind": "bandwidth", "rate": 100_000}])
async def test_an_upstream_that_does_not_read_holds_the_client(api, upstream, connect, toxic):
    async def never_read(reader, writer):
        writer.transport.pause_reading()
        await asyncio.Event().wait()

    listen = await api.proxy(await upstream(never_read))
    if toxic:
        await api.toxic(stream="upstream", **toxic)
    sent = await send_until_stuck(await connect(listen))
    assert 0 < sent < 60_000_000
    assert (await api.call("GET", "/version")).status == 200


@pytest.mark.slow
async def test_a_client_that_never_reads_holds_the_upstream_and_goes_with_the_proxy(api, upstream, connect, eventually):
    sent = 0

    async def flood(reader, writer):
        nonlocal sent
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    peer = await connect(await api.proxy(await upstream(flood)))
    peer.writer.transport.pause_reading()
    before = -1
    while sent != before:
        before = sent
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=0.3)
    assert sent < 60_000_000
    proxy = api.collection.find("p")
    assert (await api.call("DELETE", "/proxies/p")).status == 204
    await eventually(lambda: proxy.open_connections == 0)


@pytest.mark.parametrize("change", [{"enabled": False}, {"upstream": "127.0.0.1:1"}, {"listen": "127.0.0.1:0"}, None])
async def test_disabling_moving_and_deleting_drop_the_connections(api, echo, connect, eventually, change):
    listen = await api.proxy(echo)
    await api.toxic("latency", latency=NEVER_MS)
    peer = await connect(listen)
    await peer.send(b"ping")
    proxy = api.collection.find("p")
    answer = await api.call("PATCH" if change else "DELETE", "/proxies/p", change)
    assert answer.status in (200, 204)
    with suppress(ConnectionResetError):
        assert await peer.rest() == b""
    await eventually(lambda: proxy.open_connections == 0)


async def test_a_disabled_proxy_refuses_connections_and_comes_back_on_its_port(api, echo, connect):
    listen = await api.proxy(echo)
    await api.call("POST", "/proxies/p", {"enabled": False})
    with pytest.raises(ConnectionRefusedError):
        await connect(listen)
    await api.call("POST", "/proxies/p", {"enabled": True})
    assert await (await connect(listen)).ping() == b"ping"


async def test_a_toxic_ends_by_itself_after_its_time_to_live(api, echo, connect):
    peer = await connect(await api.proxy(echo))
    await api.toxic("latency", latency=NEVER_MS, ttl_ms=30)
    assert await peer.ping() == b"ping"
    assert await api.call("GET", "/proxies/p/toxics") == (200, [])
    proxy = (await api.call("GET", "/proxies/p?evidence=1")).body
    assert proxy["evidence"]["removed_toxics"][0]["ttl_ms"] == 30


async def test_a_successor_of_the_same_name_outlives_the_time_of_the_first(api, echo, connect):
    await api.proxy(echo)
    await api.toxic("latency", latency=1, ttl_ms=10)
    await api.call("DELETE", "/proxies/p/toxics/latency_downstream")
    await api.toxic("latency", latency=2)
    await api.toxic("noop", ttl_ms=30)
    async with asyncio.timeout(10):
        while len((await api.call("GET", "/proxies/p/toxics")).body) == 2:
            pass
    assert [toxic["name"] for toxic in (await api.call("GET", "/proxies/p/toxics")).body] == ["latency_downstream"]


async def test_an_outage_ends_by_itself_after_its_time_to_live(api, echo, connect, eventually):
    listen = await api.proxy(echo)
    await api.call("PATCH", "/proxies/p", {"enabled": False, "ttl_ms": 20})
    proxy = api.collection.find("p")
    assert not proxy.enabled
    await eventually(lambda: proxy.enabled)
    assert await (await connect(listen)).ping() == b"ping"


async def test_f2_toxicity_zero_is_inert_and_one_is_always(api, echo, connect):
    listen = await api.proxy(echo)
    await api.toxic("timeout", name="never", timeout=1, toxicity=0)
    await api.toxic("noop", name="always", toxicity=1)
    for _ in range(30):
        assert await (await connect(listen)).ping() == b"ping"
    assert await api.evidence("never") == {"connections": 0, "bytes": 0}
    assert await api.evidence("always") == {"connections": 30, "bytes": 120}


async def test_a_changed_toxicity_takes_effect_on_live_connections(api, echo, connect):
    peer = await connect(await api.proxy(echo))
    await api.toxic("latency", latency=NEVER_MS, toxicity=0)
    assert await peer.ping() == b"ping"
    await api.call("PATCH", "/proxies/p/toxics/latency_downstream", {"toxicity": 1})
    await peer.send(b"held")
    await api.call("PATCH", "/proxies/p/toxics/latency_downstream", {"toxicity": 0})
    assert await peer.exactly(4) == b"held"


async def faults_of(api, upstream_address, connect) -> list[int]:
    """How many bytes each of 40 connections gets through a toxic that hits a third of them."""
    listen = await api.proxy(upstream_address)
    await api.toxic("limit_data", bytes=2, toxicity=0.3)
    outcomes = []
    for _ in range(40):
        peer = await connect(listen)
        await peer.send(b"ping")
        peer.writer.write_eof()
        outcomes.append(len(await peer.rest()))
    return outcomes


async def test_f3_the_same_seed_gives_the_same_faults_at_the_same_connections(new_server, echo, connect):
    outcomes = []
    for seed in (5, 5, 6):
        async with new_server(seed) as api:
            outcomes.append(await faults_of(api, echo, connect))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0] != outcomes[2]
    assert set(outcomes[0]) == {2, 4}


async def test_another_toxic_does_not_reshuffle_the_draws_of_the_first(new_server, echo, connect):
    async with new_server(5) as api:
        alone = await faults_of(api, echo, connect)
    async with new_server(5) as api:
        listen = await api.proxy(echo)
        await api.toxic("noop", toxicity=0.5)
        await api.toxic("limit_data", bytes=2, toxicity=0.3)
        outcomes = []
        for _ in range(40):
            peer = await connect(listen)
            await peer.send(b"ping")
            peer.writer.write_eof()
            outcomes.append(len(await peer.rest()))
    assert outcomes == alone


@pytest.mark.slow
async def test_quick_connections_in_bursts_leave_nothing(api, echo, eventually):
    listen = await api.proxy(echo)
    await api.toxic("slicer", average_size=3)
    host, _, port = listen.rpartition(":")

    async def once() -> bytes:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"0123456789")
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    for _ in range(5):
        assert set(await asyncio.gather(*(once() for _ in range(100)))) == {b"0123456789"}
    proxy = api.collection.find("p")
    await eventually(lambda: proxy.open_connections == 0)
    assert proxy.accepted_connections == 500
    assert (await api.evidence("slicer_downstream")) == {"connections": 500, "bytes": 5_000}


@pytest.fixture
def most_connections():
    """3,000, or fewer where the system lets a process open fewer files: each takes four here, both ends of two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = hard if hard != resource.RLIM_INFINITY else max(soft, 16_384)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    yield min(3_000, (allowed - 200) // 4)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
async def test_thousands_of_connections_at_once_all_work_and_all_go(api, echo, connect, eventually, most_connections):
    listen = await api.proxy(echo)
    await api.toxic("latency", latency=20)
    peers = [await connect(listen) for _ in range(most_connections)]
    await asyncio.gather(*(peer.send(b"ping") for peer in peers))
    assert [await peer.exactly(4) for peer in peers] == [b"ping"] * most_connections
    proxy = api.collection.find("p")
    assert proxy.open_connections == most_connections
    assert (await api.call("DELETE", "/proxies/p")).status == 204
    await eventually(lambda: proxy.open_connections == 0)


async def test_a_listening_socket_says_that_it_is_tcp_so_that_small_pieces_do_not_wait():
    with await listening_socket("127.0.0.1:0") as sock:
        assert sock.proto == socket.IPPROTO_TCP  # asyncio sets TCP_NODELAY only then
