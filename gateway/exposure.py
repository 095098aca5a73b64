"""Who can reach the gateway, and whether it asks them who they are."""

import ipaddress

from gateway.config import Config

OPEN = "open_to_everybody"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; a name other than localhost counts as reachable."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def warning(config: Config) -> str | None:
    """What to say where anybody who can reach the gateway may use it; None where nobody else can, or keys are asked."""
    host = config.server.host
    if config.api_keys or is_loopback(host):
        return None
    return (
        f"server.host is {host!r}, which other machines can reach, and the config has no [[api_keys]]: whoever reaches "
        "this port can use every backend. Add keys (`truefall gateway key`), or listen on 127.0.0.1"
    )
