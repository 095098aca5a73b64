"""A Toxiproxy server, through toxiproxy-python: with time-outs, no global host and port, errors as they are."""

import errno
import re
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from faults.errors import BadFault, FaultError, NotApplicable

TIMEOUT_S = 5.0
TTL_MS = 3_600_000
METRIC = re.compile(r"^toxiproxy_proxy_(received|sent)_bytes_total\{(.*)\} (\S+)$", re.MULTILINE)


class ServerGoneError(FaultError):
    """Nothing listens at the address."""


class NoAnswerError(FaultError):
    """It did not answer in time, or with an error of its own."""


class NotThereError(FaultError):
    """The proxy or the toxic does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toxiproxy:
    """The API of one server."""

    url: str  # "http://127.0.0.1:8474"

    def toxics(self, proxy: str) -> list[dict[str, Any]]:
        return list(self._call("get", f"{_path(proxy)}/toxics").json())

    def add_toxic(self, proxy: str, toxic: dict[str, Any]) -> None:
        """Raises BadFault when the server refuses it."""
        self._call("post", f"{_path(proxy)}/toxics", json=toxic)

    def remove_toxic(self, proxy: str, name: str) -> None:
        """Raises NotThereError when it is gone already."""
        self._call("delete", f"{_path(proxy)}/toxics/{quote(name, safe='')}")

    def set_enabled(self, proxy: str, enabled: bool) -> None:
        """The embedded server enables it again by itself after TTL_MS; another one ignores that."""
        self._call("post", _path(proxy), json={"enabled": True} if enabled else {"enabled": False, "ttl_ms": TTL_MS})

    def enabled(self, proxy: str) -> bool:
        return bool(self._call("get", _path(proxy)).json()["enabled"])

    def evidence(self, proxy: str, toxic: str) -> dict[str, int] | None:
        """Connections and bytes that the toxic touched; None: this server does not count that."""
        found = self._call("get", f"{_path(proxy)}/toxics/{quote(toxic, safe='')}", params={"evidence": "1"}).json()
        evidence = found.get("evidence")
        return evidence if isinstance(evidence, dict) else None

    def received_bytes(self, proxy: str, direction: str) -> int | None:
        """Bytes the proxy has received in that direction; None: the server has no such metrics."""
        try:
            text = self._call("get", "/metrics").text
        except FaultError:
            return None
        found = [
            float(value)
            for what, labels, value in METRIC.findall(text)
            if what == "received" and f'proxy="{_label(proxy)}"' in labels and f'direction="{direction}"' in labels
        ]
        return int(sum(found)) if "toxiproxy_" in text else None

    def _call(self, method: str, path: str, **body: Any) -> Any:
        import requests
        from toxiproxy import exceptions
        from toxiproxy.api import APIConsumer

        address = urlsplit(self.url)
        # The library keeps host and port in the class: a class of our own for each server lets several be used at once.
        consumer = type("Consumer", (APIConsumer,), {"host": address.hostname, "port": address.port})
        direct = {"http": ""}  # a proxy named in the environment is not for loopback
        try:
            reply = getattr(consumer, method)(path, timeout=TIMEOUT_S, proxies=direct, **body)
        except exceptions.NotFound as error:
            raise NotThereError(f"{self.url}{path}: {_reason(error)}") from None
        except (exceptions.InvalidToxic, exceptions.ProxyExists) as error:
            raise BadFault(f"{self.url}{path}: {_reason(error)}") from None
        except requests.ConnectTimeout as error:
            raise NoAnswerError(f"{self.url}: no connection within {TIMEOUT_S} s") from error
        except requests.ConnectionError as error:
            if not _listening(address.hostname or "", address.port or 0):
                raise ServerGoneError(f"{self.url}: no Toxiproxy server answers there") from None
            raise NoAnswerError(f"{self.url}{path}: {error}") from None
        except requests.Timeout:
            raise NoAnswerError(f"{self.url}{path}: no answer within {TIMEOUT_S} s") from None
        if reply.status_code >= 400:
            raise NoAnswerError(f"{self.url}{path}: status {reply.status_code}: {reply.text[:200]}")
        return reply


def _path(proxy: str) -> str:
    """Its name may hold whatever a name may hold: slashes, blanks, any script."""
    return f"/proxies/{quote(proxy, safe='')}"


def _label(text: str) -> str:
    """As it stands between quotes in Prometheus' text."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _listening(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(TIMEOUT_S)
        return probe.connect_ex((host, port)) != errno.ECONNREFUSED


def _reason(error: Exception) -> str:
    content = error.args[0] if error.args else b""
    return content.decode("utf-8", "replace").strip() if isinstance(content, bytes) else str(content)


def toxiproxy_of(target_name: str, url: str | None, proxy: str | None) -> tuple[Toxiproxy, str]:
    """Raises NotApplicable when the target has no Toxiproxy in front of it."""
    if url is None or proxy is None:
        raise NotApplicable(f"{target_name}: there is no Toxiproxy in front of it (toxiproxy_url, toxiproxy_proxy)")
    return Toxiproxy(url=url.rstrip("/")), proxy
