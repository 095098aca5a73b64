"""A gateway that anybody can reach and use says so, loudly."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from served import backend, gateway
from upstream_stub import running, says

from gateway.api_key import ApiKey, new_key
from gateway.config import Config, Server
from gateway.exposure import url_of, warning

KEYS = (ApiKey(name="team", sha256=new_key().sha256),)
# The system reads 127.1 as the loopback address; the gateway takes it for a name, as it would gateway.example.
NAMED = """[server]
host = "127.1"
log = "{log}"
[[backends]]
name = "primary"
url = "http://127.0.0.1:9/v1"
model = "m"
"""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "::ffff:10.1.2.3", "10.1.2.3", "fe80::1", "gateway.example", ""])
def test_beyond_loopback_without_keys_there_is_a_warning(host):
    config = Config(backends=(backend(1, "primary"),), server=Server(host=host))
    assert "no [[api_keys]]" in warning(config)
    assert warning(Config(backends=config.backends, server=config.server, api_keys=KEYS)) is None


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("10.1.2.3", "http://10.1.2.3:8080"),
        ("0.0.0.0", "http://127.0.0.1:8080"),
        ("::", "http://[::1]:8080"),
        ("::ffff:0.0.0.0", "http://127.0.0.1:8080"),
        ("::1", "http://[::1]:8080"),
        ("fe80::1%eth0", "http://[fe80::1%25eth0]:8080"),
    ],
)
def test_the_told_address_can_be_opened(host, url):
    assert url_of(host, 8080) == url


@pytest.mark.slow
def test_a_gateway_on_every_ipv6_address_tells_one_that_answers(tmp_path):
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
    (tmp_path / "gateway.toml").write_text(NAMED.format(log="off").replace("127.1", "::"))
    command = [sys.executable, "-m", "harness.cli", "gateway", "--config", str(tmp_path / "gateway.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            told = json.loads(process.stdout.readline())
            assert (told["host"], told["url"]) == ("::", f"http://[::1]:{told['port']}")
            with urllib.request.urlopen(f"{told['url']}/healthz", timeout=20) as answer:
                assert answer.status == 200
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "localhost"])
def test_on_loopback_there_is_none(host):
    assert warning(Config(backends=(backend(1, "primary"),), server=Server(host=host))) is None


@pytest.mark.parametrize(
    ("host", "keys", "told"), [("0.0.0.0", (), True), ("0.0.0.0", KEYS, False), ("::1", (), False)]
)
async def test_readyz_and_the_admin_state_say_it(host, keys, told):
    # only the config says so here: the test's own socket is bound to loopback
    async with running(says("x")) as up, gateway(backend(up, "primary"), api_keys=keys, host=host) as served:
        assert (await served.request("GET", "/readyz")).json["open_to_everybody"] is told
        assert (await served.admin("GET", "state")).json["open_to_everybody"] is told


@pytest.mark.slow
@pytest.mark.parametrize("log", ["json", "off"])
def test_it_is_in_the_log_and_on_stderr_whatever_the_log_says(tmp_path, log):
    (tmp_path / "gateway.toml").write_text(NAMED.format(log=log))
    command = [sys.executable, "-m", "harness.cli", "gateway", "--config", str(tmp_path / "gateway.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert json.loads(process.stdout.readline())["host"] == "127.0.0.1"
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    lines = err.splitlines()
    assert any(line.startswith("WARNING: server.host is '127.1'") for line in lines)
    events = [json.loads(line)["event"] for line in lines if line.startswith("{")]
    assert ("open_to_everybody" in events) is (log == "json")
