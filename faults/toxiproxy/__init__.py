"""The embedded Toxiproxy server, and how to find any Toxiproxy server."""

from faults.toxiproxy.discover import ToxiproxyServer, find_server

__all__ = ["ToxiproxyServer", "find_server"]
