"""The figures of a session in one list at its end, and no green session that left out what it should have measured."""

import pytest

_FIGURE = "figure"


@pytest.fixture
def tell(record_property):
    """Tell a line of figures: it is printed at the end of the session, whatever is captured."""
    return lambda line: record_property(_FIGURE, line)


def pytest_sessionfinish(session, exitstatus):
    """A benchmark that was skipped has measured nothing, so the session is not green."""
    if exitstatus == pytest.ExitCode.OK and _skipped(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    lines = [
        (report.nodeid, line)
        for report in terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
        for name, line in report.user_properties
        if name == _FIGURE and report.when == "call"
    ]
    if lines:
        terminalreporter.section("figures")
        said = None
        for nodeid, line in lines:
            if nodeid != said:
                terminalreporter.line(nodeid)
                said = nodeid
            terminalreporter.line(f"  {line}")
    for report in _skipped(terminalreporter.config):
        terminalreporter.line(f"NOT MEASURED: {report.nodeid} was skipped", red=True)


def _skipped(config):
    reporter = config.pluginmanager.getplugin("terminalreporter")
    return [] if reporter is None else reporter.stats.get("skipped", [])
