"""The report of a run: one HTML file that needs no network."""

from harness.report.page import write_report

__all__ = ["write_report"]
