"""Errors of the harness, by what the caller may do next.

HarnessError
├── ConfigError     a file, option or profile says something impossible: mend it
├── ModelError      a model is missing, damaged or cannot be prepared
├── StackError      a server did not start or died
├── StillOn         a fault could not be undone: nothing more is injected, exit 4
├── ResultError     a run folder cannot be read or written
└── NothingJudged   there was nothing to judge: exit 2, never a pass
"""


class HarnessError(Exception):
    """Root; its text is one line for the user, exit code 2."""


class ConfigError(HarnessError):
    """A file, option or profile says something impossible."""


class ModelError(HarnessError):
    """A model is missing, damaged or cannot be prepared."""


class StackError(HarnessError):
    """A server did not start or died."""


class StillOn(HarnessError):
    """A fault could not be undone."""


class ResultError(HarnessError):
    """A run folder cannot be read or written."""


class NothingJudged(HarnessError):
    """There was nothing to judge."""


def user_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The root error of each package: its text is one line for the user. And `more`."""
    from evalsets.errors import EvalsetError
    from faults.errors import FaultError
    from gateway.errors import GatewayError

    return (HarnessError, GatewayError, FaultError, EvalsetError, *more)
