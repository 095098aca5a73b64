"""Errors of the gateway, split by what the caller may do next.

GatewayError
├── ConfigError       a config or policy says something impossible: mend it
├── BadRequest        the client's own fault: a 4xx that names field, value and bound
├── Refused           never sent upstream: safe to retry elsewhere
└── UpstreamError     sent upstream: it may have run
"""


class GatewayError(Exception):
    """Root."""


class ConfigError(GatewayError):
    """A config or policy says something impossible."""


class BadRequest(GatewayError):
    """The client's own fault."""


class Refused(GatewayError):
    """Never sent upstream."""


class UpstreamError(GatewayError):
    """Sent upstream and failed; it may have run."""
