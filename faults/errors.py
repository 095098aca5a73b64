"""Errors of the faults.

FaultError
├── BadFault        a parameter is impossible: mend it
├── BadExperiment   an experiment says something impossible: mend its file
├── NotApplicable   this target lacks what the fault needs (no process, no proxy, no GPU)
└── UndoFailed      a fault could not be undone: the loudest line of a run
"""


class FaultError(Exception):
    """Root."""


class BadFault(FaultError):
    """A parameter is impossible."""


class BadExperiment(FaultError):
    """An experiment says something impossible."""


class NotApplicable(FaultError):
    """The target lacks what the fault needs."""


class UndoFailed(FaultError):
    """A fault could not be undone."""
