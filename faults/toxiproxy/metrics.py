"""The byte counters of the proxies, as Prometheus text."""

from collections.abc import Iterable

from faults.toxiproxy.proxy import Proxy

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
COUNTERS = (
    ("toxiproxy_proxy_received_bytes_total", "Bytes that a proxy has read from the sending side.", "received_bytes"),
    ("toxiproxy_proxy_sent_bytes_total", "Bytes that a proxy has written to the receiving side.", "sent_bytes"),
)


def exposition(proxies: Iterable[Proxy]) -> str:
    listed = list(proxies)
    lines = []
    for name, meaning, field in COUNTERS:
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} counter"]
        for proxy in listed:
            for direction, traffic in proxy.traffic.items():
                lines.append(f"{name}{_labels(proxy, direction)} {getattr(traffic, field)}")
    return "\n".join(lines) + "\n"


def _labels(proxy: Proxy, direction: str) -> str:
    values = {"direction": direction, "listener": proxy.listen, "proxy": proxy.name, "upstream": proxy.upstream}
    return "{" + ",".join(f'{label}="{_escaped(value)}"' for label, value in values.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
