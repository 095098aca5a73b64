"""The embedded server driven as clients in Go, Ruby and Node do it: whole structs, POST or PATCH, apply and undo."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from faults.toxiproxy.discover import start_embedded

pytestmark = pytest.mark.slow
BOUND_S = 90.0


class Failed(Exception):
    """An answer that is no success: `status` and the text of `error`."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(f"{status}: {error}")
        self.status, self.error = status, error


class PlainClient(NamedTuple):
    """Speaks HTTP and nothing else; `update` is the method that this kind of client updates with."""

    port: int
    update: str = "PATCH"
    content_type: str = "application/json"

    def call(self, method: str, path: str, body: object = None, *, expected: int) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOUND_S)
        headers = {"User-Agent": "toxiproxy-cli/2.12.0 (linux/amd64)", "Content-Type": self.content_type}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        if reply.status != expected:
            raise Failed(reply.status, json.loads(text)["error"])
        return json.loads(text) if text.startswith(("{", "[")) else text

    def proxies(self) -> dict[str, Any]:
        return self.call("GET", "/proxies", expected=200)

    def proxy(self, name: str) -> dict[str, Any]:
        return self.call("GET", f"/proxies/{name}", expected=200)

    def create(self, name: str, upstream: str) -> dict[str, Any]:
        whole = {"name": name, "listen": "127.0.0.1:0", "upstream": upstream, "enabled": True, "toxics": None}
        return self.call("POST", "/proxies", whole, expected=201)

    def save(self, proxy: dict[str, Any]) -> dict[str, Any]:
        """The whole struct, as it was shown, with what was changed in it."""
        return self.call(self.update, f"/proxies/{proxy['name']}", proxy, expected=200)

    def add_toxic(self, proxy: str, kind: str, stream: str, toxicity: float, **attributes: int) -> dict[str, Any]:
        """Without a name: an empty one is sent."""
        whole = {"name": "", "type": kind, "stream": stream, "toxicity": toxicity, "attributes": attributes}
        return self.call("POST", f"/proxies/{proxy}/toxics", whole, expected=200)

    def update_toxic(self, proxy: str, toxic: str, **changes: object) -> dict[str, Any]:
        return self.call(self.update, f"/proxies/{proxy}/toxics/{toxic}", changes, expected=200)

    def remove_toxic(self, proxy: str, toxic: str) -> None:
        self.call("DELETE", f"/proxies/{proxy}/toxics/{toxic}", expected=204)

    @contextmanager
    def applied(self, proxy: str, kind: str, **attributes: int) -> Iterator[None]:
        """Ruby's `Toxiproxy[:name].downstream(:latency, latency: 5).apply { … }`."""
        toxic = self.add_toxic(proxy, kind, "downstream", 1.0, **attributes)
        try:
            yield
        finally:
            self.remove_toxic(proxy, toxic["name"])

    @contextmanager
    def down(self, proxy: str) -> Iterator[None]:
        self.call(self.update, f"/proxies/{proxy}", {"enabled": False}, expected=200)
        try:
            yield
        finally:
            self.call(self.update, f"/proxies/{proxy}", {"enabled": True}, expected=200)


GO = {"update": "PATCH", "content_type": "application/json"}
RUBY = {"update": "POST", "content_type": "application/json"}
CURL = {"update": "POST", "content_type": "application/x-www-form-urlencoded"}


@pytest.fixture(params=[GO, RUBY, CURL], ids=["go", "ruby", "curl"])
def client(request: pytest.FixtureRequest) -> Iterator[PlainClient]:
    running = start_embedded(seed=3)
    yield PlainClient(int(running.url.rpartition(":")[2]), **request.param)
    running.stop()


@pytest.fixture
def upstream() -> Iterator[str]:
    """Answers each connection with what it was sent first."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(connection.recv(65536))
            except OSError:
                if listener.fileno() < 0:
                    return

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(BOUND_S)


def ping(listen: str) -> bytes:
    host, _, port = listen.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=BOUND_S) as connection:
        connection.sendall(b"ping")
        return connection.recv(4)


def test_proxies_are_populated_shown_saved_and_removed(client, upstream):
    wanted = [{"name": name, "listen": "127.0.0.1:0", "upstream": upstream, "enabled": True} for name in ("a", "b")]
    populated = client.call("POST", "/populate", wanted, expected=201)["proxies"]
    assert [proxy["name"] for proxy in populated] == ["a", "b"]
    assert [ping(proxy["listen"]) for proxy in populated] == [b"ping", b"ping"]
    proxy = client.proxy("a")
    assert client.proxies() == {"a": proxy, "b": client.proxy("b")}
    assert client.save(proxy) == proxy, "saved as it was shown, and changed"
    assert client.save({**proxy, "enabled": False})["enabled"] is False
    with pytest.raises(ConnectionRefusedError):
        ping(proxy["listen"])
    assert client.save({**proxy, "enabled": True}) == proxy
    assert ping(proxy["listen"]) == b"ping"
    client.call("DELETE", "/proxies/b", expected=204)
    assert list(client.proxies()) == ["a"]


def test_toxics_are_added_shown_updated_and_removed(client, upstream):
    client.create("a", upstream)
    made = client.add_toxic("a", "latency", "downstream", 1.0, latency=5, jitter=1)
    assert made["name"] == "latency_downstream"
    client.add_toxic("a", "limit_data", "upstream", 0.5, bytes=100)
    listed = client.call("GET", "/proxies/a/toxics", expected=200)
    assert [toxic["name"] for toxic in listed] == ["limit_data_upstream", "latency_downstream"]
    assert client.proxy("a")["toxics"] == listed
    assert client.update_toxic("a", made["name"], attributes={"latency": 7})["attributes"] == {
        "latency": 7,
        "jitter": 1,
    }
    changed = client.update_toxic("a", made["name"], toxicity=0.25, attributes={"jitter": 0})
    assert (changed["toxicity"], changed["attributes"]) == (0.25, {"latency": 7, "jitter": 0})
    assert client.call("GET", f"/proxies/a/toxics/{made['name']}", expected=200) == changed
    client.remove_toxic("a", made["name"])
    assert [toxic["name"] for toxic in client.proxy("a")["toxics"]] == ["limit_data_upstream"]


def test_a_toxic_and_an_outage_last_as_long_as_their_block(client, upstream):
    listen = client.create("a", upstream)["listen"]
    with client.applied("a", "limit_data", bytes=2):
        assert ping(listen) == b"pi"
    with client.down("a"), pytest.raises(ConnectionRefusedError):
        ping(listen)
    assert ping(listen) == b"ping"
    assert client.proxy("a")["toxics"] == []


def test_reset_version_and_metrics(client, upstream):
    listen = client.create("a", upstream)["listen"]
    client.add_toxic("a", "timeout", "downstream", 1.0, timeout=0)
    client.call("POST", "/proxies/a", {"enabled": False}, expected=200)
    client.call("POST", "/reset", expected=204)
    assert (client.proxy("a")["enabled"], client.proxy("a")["toxics"]) == (True, [])
    assert ping(listen) == b"ping"
    assert client.call("GET", "/version", expected=200)["version"].startswith("2.")
    lines = client.call("GET", "/metrics", expected=200).splitlines()
    labels = f'{{direction="upstream",listener="{listen}",proxy="a",upstream="{upstream}"}}'
    assert f"toxiproxy_proxy_received_bytes_total{labels} 4" in lines


def test_errors_have_the_status_and_the_words_that_clients_look_for(client, upstream):
    client.create("a", upstream)
    client.add_toxic("a", "noop", "downstream", 1.0)
    wrong = {
        (404, "proxy not found"): lambda: client.proxy("nobody"),
        (404, "toxic not found"): lambda: client.remove_toxic("a", "nothing"),
        (409, "proxy already exists"): lambda: client.create("a", upstream),
        (409, "toxic already exists"): lambda: client.add_toxic("a", "noop", "downstream", 1.0),
        (400, "invalid toxic type"): lambda: client.add_toxic("a", "gremlin", "downstream", 1.0),
        (400, "stream was invalid, can be either upstream or downstream"): lambda: client.add_toxic(
            "a", "noop", "sideways", 1.0
        ),
        (400, "missing required field: name"): lambda: client.create("", upstream),
    }
    for (status, words), do in wrong.items():
        with pytest.raises(Failed) as refused:
            do()
        assert refused.value.status == status
        assert words in refused.value.error
