"""How a pytest session ended, beyond its exit code: Ctrl-C and a file that cannot be collected share one."""

from dataclasses import dataclass

import pytest

from harness.stack.signals import heard


@dataclass(slots=True, kw_only=True, eq=False)
class PytestEnd:
    """A plugin that watches; give it to `pytest.main`."""

    interrupted: bool = False  # by Ctrl-C or SIGTERM
    reason: str | None = None  # why nothing could be run, in one line

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: "pytest.ExceptionInfo[BaseException]") -> None:
        """Also called when a file cannot be collected, and when the plugin gives up; its message is the reason."""
        if type(excinfo.value) is KeyboardInterrupt:
            heard()
            self.interrupted = True
        elif self.reason is None:
            self.reason = one_line(str(excinfo.value)).removeprefix("truefall: ")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.reason is None:
            last = [line for line in str(report.longrepr).splitlines() if line.strip()]
            self.reason = one_line(
                f"{report.nodeid} cannot be collected: {last[-1].removeprefix('E ') if last else ''}"
            )


def one_line(text: str) -> str:
    return " ".join(text.split())
