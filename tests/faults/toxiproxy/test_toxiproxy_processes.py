"""The server as a process: found, started, driven by the Python client, and gone with its parent."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

import faults
from faults.errors import NotApplicable
from faults.http_call import call
from faults.toxiproxy.discover import answers, find_server, start_embedded
from faults.toxiproxy_client import Toxiproxy

ROOT = str(Path(faults.__file__).resolve().parents[1])
BOUND_S = 90.0  # no test waits so long; a busy machine may need it

pytestmark = pytest.mark.slow


@pytest.fixture
def server():
    running = start_embedded(seed=3)
    yield running
    running.stop()


@pytest.fixture
def echo_port():
    """A blocking echo server: each connection is answered in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(65536):
                    connection.sendall(data)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=answer, args=(connection,)))
            threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    for thread in (accepting, *threads):
        thread.join(BOUND_S)


@pytest.fixture
def client(server):
    pytest.importorskip("toxiproxy")
    from toxiproxy import Toxiproxy

    toxiproxy = Toxiproxy()
    toxiproxy.update_api_consumer("127.0.0.1", int(server.url.rpartition(":")[2]))
    yield toxiproxy
    toxiproxy.destroy_all()
    toxiproxy.update_api_consumer("127.0.0.1", 8474)


def ping(listen: str) -> bytes:
    host, _, port = listen.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=BOUND_S) as connection:
        connection.sendall(b"ping")
        return connection.recv(4)


def wait_until_gone(url: str) -> None:
    gone = threading.Event()
    for _ in range(int(BOUND_S / 0.05)):
        if not answers(url):
            return
        gone.wait(0.05)
    pytest.fail(f"{url} still answers")


def test_the_python_client_creates_finds_and_destroys_proxies(client, echo_port):
    upstream = f"127.0.0.1:{echo_port}"
    assert client.running()
    assert json.loads(client.version())["version"].startswith("2.")
    proxy = client.create(upstream=upstream, name="a")
    assert ping(proxy.listen) == b"ping"
    assert client.get_proxy("a").upstream == upstream
    client.populate([{"name": "a", "upstream": upstream, "listen": proxy.listen}, {"name": "b", "upstream": upstream}])
    assert sorted(client.proxies()) == ["a", "b"]
    assert client.destroy(proxy)
    assert client.get_proxy("a") is None


def test_the_python_client_adds_and_removes_toxics(client, echo_port):
    from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

    proxy = client.create(upstream=f"127.0.0.1:{echo_port}", name="a")
    proxy.add_toxic(type="latency", attributes={"latency": 5})
    proxy.add_toxic(type="noop", stream="upstream", name="mine", toxicity=0.5)
    toxics = proxy.toxics()
    assert list(toxics) == ["mine", "latency_downstream"]
    assert (toxics["mine"].stream, toxics["mine"].toxicity) == ("upstream", 0.5)
    assert toxics["latency_downstream"].attributes == {"latency": 5, "jitter": 0}
    with pytest.raises(ProxyExists):
        proxy.add_toxic(type="noop", name="mine")
    with pytest.raises(InvalidToxic):
        proxy.add_toxic(type="slicer", attributes={"average_size": 0})
    proxy.destroy_toxic("mine")
    with pytest.raises(NotFound):
        proxy.destroy_toxic("mine")
    client.reset()
    assert proxy.toxics() == {}


def test_the_python_client_takes_a_proxy_down_and_up(client, echo_port):
    proxy = client.create(upstream=f"127.0.0.1:{echo_port}", name="a")
    with proxy.down(), pytest.raises(ConnectionRefusedError):
        ping(proxy.listen)
    assert ping(proxy.listen) == b"ping"


def test_the_serve_command_prints_one_line_with_the_real_port_and_ends_on_sigterm():
    argv = [sys.executable, "-m", "harness.cli", "toxiproxy", "serve", "--port", "0", "--seed", "9"]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        line = json.loads(process.stdout.readline())
        assert (line["event"], line["seed"], line["pid"]) == ("listening", 9, process.pid)
        assert line["port"] > 0
        assert answers(line["url"])
        process.terminate()
        assert process.wait(BOUND_S) == 0
        assert process.stdout.read() == ""


def test_a_port_in_use_is_one_line_and_exit_code_2():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        argv = [sys.executable, "-m", "harness.cli", "toxiproxy", "serve", "--port", port]
        ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert port in ended.stderr


@pytest.mark.parametrize("wrong", [["--port", "70000"], ["--host", "nowhere.invalid", "--port", "0"]])
def test_an_impossible_address_is_one_line_and_exit_code_2(wrong):
    argv = [sys.executable, "-m", "harness.cli", "toxiproxy", "serve", *wrong]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1), ended.stderr


def test_a_named_server_is_used_and_left_running(server):
    found = find_server(environ={"TOXIPROXY_URL": server.url + "/"})
    assert (found.url, found.kind, found.pid) == (server.url, "url", None)
    found.stop()
    assert answers(server.url)


def test_a_named_server_that_does_not_answer_is_an_error_and_not_replaced():
    with pytest.raises(NotApplicable, match=r"TOXIPROXY_URL=http://127\.0\.0\.1:1"):
        find_server(environ={"TOXIPROXY_URL": "http://127.0.0.1:1"})


def write_program(folder: Path, text: str) -> None:
    program = folder / "toxiproxy-server"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_an_installed_server_is_used_and_stopped(tmp_path):
    write_program(tmp_path, f'exec "{sys.executable}" -m faults.toxiproxy -"$1" "$2" -"$3" "$4" -"$5" "$6"')
    found = find_server(seed=4, environ={"PATH": str(tmp_path)})
    assert found.kind == "binary"
    assert answers(found.url)
    found.stop()
    found.stop()
    assert not answers(found.url)


def test_an_installed_server_that_ends_at_once_is_an_error(tmp_path):
    write_program(tmp_path, "exit 3")
    with pytest.raises(NotApplicable, match="exit code 3"):
        find_server(environ={"PATH": str(tmp_path)})


def test_without_any_other_the_embedded_server_is_started_and_stopped(tmp_path):
    found = find_server(environ={"PATH": str(tmp_path)})
    assert found.kind == "embedded"
    assert answers(found.url)
    found.stop()
    found.stop()
    assert not answers(found.url)


@pytest.mark.parametrize("kind", ["embedded", "binary"])
def test_a_child_is_gone_when_its_parent_is_killed(tmp_path, kind):
    if kind == "binary":
        write_program(tmp_path, f'exec "{sys.executable}" -m faults.toxiproxy -"$1" "$2" -"$3" "$4" -"$5" "$6"')
    code = (
        "import sys; from faults.toxiproxy.discover import find_server;"
        "print(find_server(environ={'PATH': sys.argv[1]}).url, flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        url = parent.stdout.readline().strip()
        assert answers(url)
        os.kill(parent.pid, signal.SIGKILL)
    wait_until_gone(url)


def test_the_embedded_child_outlives_the_thread_that_started_it():
    started = []
    thread = threading.Thread(target=lambda: started.append(start_embedded()))
    thread.start()
    thread.join(BOUND_S)
    try:
        threading.Event().wait(1.2)  # longer than the child takes to look for its parent twice
        assert answers(started[0].url)
    finally:
        started[0].stop()


def test_a_proxy_of_any_name_can_be_harmed_and_freed(server):
    api = Toxiproxy(url=server.url)
    for name in ("a/b", "北京 café", "per%cent", "what?#", 'quo"te', "b\\s"):
        assert call("POST", f"{server.url}/proxies", {"name": name, "upstream": "127.0.0.1:1"}).status == 201
        api.add_toxic(name, {"type": "latency", "name": name, "attributes": {"latency": 1}})
        assert [toxic["name"] for toxic in api.toxics(name)] == [name]
        assert api.evidence(name, name) == {"connections": 0, "bytes": 0}
        assert api.received_bytes(name, "upstream") == 0
        api.remove_toxic(name, name)
        for enabled in (False, True):
            api.set_enabled(name, enabled)
            assert api.enabled(name) is enabled
