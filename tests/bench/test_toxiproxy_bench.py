"""How exact the embedded Toxiproxy's toxics are, and what the proxy itself costs.

The proxy is a process of its own, as in use; its peers are threads here. Only facts that no load on the machine can
change are asserted on (nothing comes early); the figures are reported in `extra_info`.
"""

import contextlib
import json
import socket
import statistics
import threading
import time
import urllib.request

import pytest

from faults.toxiproxy.discover import start_embedded

CHUNK_BYTES = 256 * 1024
BULK_BYTES = 128 * 1024 * 1024


class Peers:
    """An echo server and a sink, each connection in a thread."""

    def __init__(self):
        self._threads = []
        self._listeners = []

    def listen(self, serve):
        listener = socket.create_server(("127.0.0.1", 0))
        self._listeners.append(listener)
        self._start(self._accept, listener, serve)
        return listener.getsockname()

    def close(self):
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for thread in self._threads:
            thread.join(10)

    def _start(self, *call):
        self._threads.append(threading.Thread(target=call[0], args=call[1:]))
        self._threads[-1].start()

    def _accept(self, listener, serve):
        with contextlib.suppress(OSError):
            while True:
                self._start(self._serve, listener.accept()[0], serve)

    def _serve(self, connection, serve):
        with connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve(connection)


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


def sink(connection):
    room = bytearray(CHUNK_BYTES)
    while connection.recv_into(room):
        pass
    connection.sendall(b"done")


class Lines:
    """The direct address of each peer, and a proxy in front of it."""

    def __init__(self, url, addresses):
        self._url = url
        self.direct = addresses
        self.proxied = {name: self._proxy(name, *address) for name, address in addresses.items()}

    def toxic(self, proxy, kind, **attributes):
        self._post(f"/proxies/{proxy}/toxics", {"type": kind, "attributes": attributes})

    def _proxy(self, name, host, port):
        listen = self._post("/proxies", {"name": name, "upstream": f"{host}:{port}"})["listen"]
        host, _, port = listen.rpartition(":")
        return host, int(port)

    def _post(self, path, body):
        request = urllib.request.Request(self._url + path, data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)


@pytest.fixture
def lines():
    peers = Peers()
    server = start_embedded(seed=1)
    try:
        yield Lines(server.url, {"echo": peers.listen(echo), "sink": peers.listen(sink)})
    finally:
        server.stop()
        peers.close()


@contextlib.contextmanager
def connected(address):
    with socket.create_connection(address, timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def receive(connection, length):
    """Receive `length` bytes; return into how many pieces they were cut."""
    pieces = 0
    while length:
        length -= len(connection.recv(min(length, 65536)))
        pieces += 1
    return pieces


def ping_s(connection):
    began_s = time.perf_counter()
    connection.sendall(b"x" * 100)
    receive(connection, 100)
    return time.perf_counter() - began_s


def send_bulk_s(address):
    began_s = time.perf_counter()
    with connected(address) as connection:
        chunk = b"x" * CHUNK_BYTES
        for _ in range(BULK_BYTES // CHUNK_BYTES):
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)
        receive(connection, 4)
    return time.perf_counter() - began_s


def test_latency_is_never_short_and_hardly_long(benchmark, lines):
    lines.toxic("echo", "latency", latency=50)
    with connected(lines.proxied["echo"]) as connection:
        trips_s = []
        benchmark.pedantic(lambda: trips_s.append(ping_s(connection)), rounds=40)
    errors_ms = sorted((trip_s - 0.050) * 1000 for trip_s in trips_s)
    benchmark.extra_info |= {"error_p50_ms": errors_ms[20], "error_p95_ms": errors_ms[38]}
    assert errors_ms[0] >= 0


def test_jitter_fills_its_range(benchmark, lines):
    lines.toxic("echo", "latency", latency=20, jitter=15)
    with connected(lines.proxied["echo"]) as connection:
        trips_s = []
        benchmark.pedantic(lambda: trips_s.append(ping_s(connection)), rounds=60)
    benchmark.extra_info |= {
        "mean_ms": statistics.mean(trips_s) * 1000,
        "min_ms": min(trips_s) * 1000,
        "max_ms": max(trips_s) * 1000,
    }
    assert min(trips_s) >= 0.005


@pytest.mark.parametrize("rate", [100, 1_000, 10_000])
def test_bandwidth_carries_its_rate(benchmark, lines, rate):
    lines.toxic("sink", "bandwidth", rate=1_000_000)  # the answer's direction, not to be in the way
    lines.toxic("echo", "bandwidth", rate=rate)
    length = rate * 500  # half a second
    took_s = []

    def transfer(connection):
        began_s = time.perf_counter()
        sending = threading.Thread(target=connection.sendall, args=(b"x" * length,))
        sending.start()
        receive(connection, length)
        took_s.append(time.perf_counter() - began_s)
        sending.join()

    with connected(lines.proxied["echo"]) as connection:
        benchmark.pedantic(transfer, args=(connection,), rounds=3)
    benchmark.extra_info["measured_share_of_rate"] = 0.5 / statistics.median(took_s)
    assert min(took_s) >= 0.5 * 0.999


def test_slices_have_their_size_and_distance(benchmark, lines):
    lines.toxic("echo", "slicer", average_size=1000, size_variation=200, delay=2000)
    pieces, took_s = [], []

    def transfer(connection):
        began_s = time.perf_counter()
        connection.sendall(b"x" * 100_000)
        pieces.append(receive(connection, 100_000))
        took_s.append(time.perf_counter() - began_s)

    with connected(lines.proxied["echo"]) as connection:
        benchmark.pedantic(transfer, args=(connection,), rounds=5)
    benchmark.extra_info |= {
        "mean_piece_bytes": 100_000 / statistics.mean(pieces),
        "ms_per_piece": statistics.mean(took_s) * 1000 / statistics.mean(pieces),
    }
    assert min(pieces) > 1


def test_throughput_without_toxics_against_the_direct_line(benchmark, lines):
    direct_s, proxied_s = [], []

    def both():
        direct_s.append(send_bulk_s(lines.direct["sink"]))
        proxied_s.append(send_bulk_s(lines.proxied["sink"]))

    benchmark.pedantic(both, rounds=5, warmup_rounds=1)
    benchmark.extra_info |= {
        "direct_mb_per_s": BULK_BYTES / 1e6 / statistics.median(direct_s),
        "proxied_mb_per_s": BULK_BYTES / 1e6 / statistics.median(proxied_s),
        "ratio": statistics.median(direct / proxied for direct, proxied in zip(direct_s, proxied_s, strict=True)),
    }


def test_round_trip_without_toxics_against_the_direct_line(benchmark, lines):
    direct_s, proxied_s = [], []
    with connected(lines.direct["echo"]) as direct, connected(lines.proxied["echo"]) as proxied:

        def both():
            direct_s.append(ping_s(direct))
            proxied_s.append(ping_s(proxied))

        benchmark.pedantic(both, rounds=1000, warmup_rounds=50)
    benchmark.extra_info |= {
        "direct_us": statistics.median(direct_s) * 1e6,
        "proxied_us": statistics.median(proxied_s) * 1e6,
    }
