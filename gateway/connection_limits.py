"""What a client may take up before it has been answered."""

from typing import Annotated

from msgspec import Meta

from gateway.section import Count, Positive, Section


class ConnectionLimits(Section, frozen=True, kw_only=True):
    """Of one connection, except the first."""

    max_connections: Count = 4096  # more are told 429 and closed
    max_header_bytes: Annotated[int, Meta(ge=1024)] = 65_536  # request line and all headers
    header_timeout_s: Positive = 10.0  # until the last header, from the connection's or the request's first byte
    request_timeout_s: Positive = 60.0  # until the body's last byte
    write_stall_s: Positive = 20.0  # a client that lets its answer wait so long is cut off, and its backend freed
