"""What the API shows of proxies and toxics."""

from faults.toxiproxy.chain import Toxic
from faults.toxiproxy.proxy import Proxy
from faults.toxiproxy.toxics import attributes

Shape = dict[str, object]


def toxic_shape(toxic: Toxic, *, evidence: bool = False) -> Shape:
    """As other Toxiproxy servers show it; with `evidence` also what it has done, and its time to live."""
    shape: Shape = {
        "attributes": attributes(toxic.effect),
        "name": toxic.name,
        "type": toxic.effect.kind,
        "stream": str(toxic.stream),
        "toxicity": int(toxic.toxicity) if toxic.toxicity in (0, 1) else toxic.toxicity,
    }
    if evidence:
        shape["ttl_ms"] = toxic.ttl_ms
        shape["evidence"] = {"connections": toxic.evidence.connections, "bytes": toxic.evidence.bytes}
    return shape


def proxy_shape(proxy: Proxy, *, evidence: bool = False) -> Shape:
    """With `evidence` also its connections, and the toxics that were removed, oldest first."""
    shape: Shape = {
        "name": proxy.name,
        "listen": proxy.listen,
        "upstream": proxy.upstream,
        "enabled": proxy.enabled,
        "toxics": [toxic_shape(toxic, evidence=evidence) for toxic in proxy.toxics.listed()],
    }
    if evidence:
        shape["evidence"] = {
            "accepted_connections": proxy.accepted_connections,
            "open_connections": proxy.open_connections,
            "removed_toxics": [toxic_shape(toxic, evidence=True) for toxic in proxy.toxics.removed],
        }
    return shape
