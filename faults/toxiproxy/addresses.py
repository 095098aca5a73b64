"""Addresses as the API writes them: `host:port`, `[v6]:port`, `:port`."""

import asyncio
import socket
from typing import NamedTuple

from faults.toxiproxy.errors import cannot_listen

BACKLOG = 4096  # connections that may wait to be accepted


class Address(NamedTuple):
    host: str  # "" for every interface
    port: int


def parse(text: str) -> Address:
    """Raise ValueError with the reason when `text` is no address."""
    host, colon, port = text.rpartition(":")
    if not colon or (text.startswith("[") and text.endswith("]")):
        raise ValueError("missing port in address")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError("too many colons in address; write IPv6 as [host]:port")
    return Address(host, port_number(port))


def port_number(text: str) -> int:
    if text.isascii() and text.isdigit():
        number = text.lstrip("0") or "0"
        if len(number) <= 5 and int(number) <= 65535:
            return int(number)
        raise ValueError(f"invalid port {text}, must be from 0 to 65535")
    try:
        return socket.getservbyname(text, "tcp")
    except OSError:
        raise ValueError(f"unknown port {text!r}") from None


def written(sock: socket.socket) -> str:
    """The address a listening socket really has."""
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def listening_socket(text: str) -> socket.socket:
    """Bind and listen on `text`. Raise ApiError when that cannot be done."""
    try:
        host, port = parse(text)
        family, sockaddr = await _resolve(host, port)
        return _bind(family, sockaddr)
    except ValueError as error:
        raise cannot_listen(text, f"address {text}: {error}") from None
    except socket.gaierror as error:
        raise cannot_listen(text, f"lookup {text}: {error.strerror}") from None
    except OSError as error:
        raise cannot_listen(text, f"bind: {(error.strerror or str(error)).lower()}") from None


async def same_place(one: str, other: str) -> bool:
    """Whether two listen addresses mean the same socket, as localhost:80 and 127.0.0.1:80. Port 0 is never the same."""
    if one == other:
        return True
    try:
        first, second = parse(one), parse(other)
        if first.port != second.port or first.port == 0:
            return False
        return await _resolve(*first) == await _resolve(*second)
    except (ValueError, OSError):
        return False


async def _resolve(host: str, port: int) -> tuple[int, tuple[object, ...]]:
    if not host:
        return socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET, ("", port)
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, _, _, _, sockaddr = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, sockaddr


def _bind(family: int, sockaddr: tuple[object, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else asyncio sets no TCP_NODELAY
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(bool(sockaddr[0])))
        sock.bind(sockaddr)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock
