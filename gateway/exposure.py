"""Who can reach the gateway, and whether it asks them who they are."""

import ipaddress

from gateway.config import Config

OPEN = "open_to_everybody"
_V4 = 4


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; a name other than localhost counts as reachable."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def place(host: str, port: int) -> str:
    """Host and port in one, as an address writes them: IPv6 stands in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def url_of(host: str, port: int) -> str:
    """Where whoever listens on `host` can be opened from this machine: every address is also the loopback one."""
    address = _address(host)
    if address is not None and address.is_unspecified:
        host = "127.0.0.1" if address.version == _V4 else "::1"
    return f"http://{place(host.replace('%', '%25'), port)}"


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address; of an IPv4 one within IPv6 (::ffff:127.0.0.1) the former. None for a name."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def warning(config: Config) -> str | None:
    """What to say where anybody who can reach the gateway may use it; None where nobody else can, or keys are asked."""
    host = config.server.host
    if config.api_keys or is_loopback(host):
        return None
    return (
        f"server.host is {host!r}, which other machines can reach, and the config has no [[api_keys]]: whoever reaches "
        "this port can use every backend. Add keys (`truefall gateway key`), or listen on 127.0.0.1"
    )
