"""A decision as JUnit XML, which CI systems show check by check (pure)."""

import re
from xml.etree import ElementTree as ET

from harness.decision import NOT_EXERCISED, Decision, Verdict

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(decision: Decision, *, name: str) -> bytes:
    """One test case per check: FAIL is a failure, what could not be decided an error, so neither looks green.

    A class that was not exercised, where the criteria allow it, is skipped.
    """
    errors = [check for check in decision.checks if check.verdict not in (Verdict.PASS, Verdict.FAIL)]
    failures = [check for check in decision.checks if check.verdict is Verdict.FAIL]
    nothing = decision.verdict is Verdict.NOTHING
    suite = ET.Element(
        "testsuite",
        name=printable(f"truefall gate {name}"),
        tests=str(len(decision.checks) or int(nothing)),
        failures=str(len(failures)),
        errors=str(len(errors) or int(nothing)),
        skipped=str(sum(check.verdict is Verdict.PASS and check.name == NOT_EXERCISED for check in decision.checks)),
    )
    for check in decision.checks:
        case = ET.SubElement(suite, "testcase", classname=printable(f"gate.{check.group}"), name=printable(check.name))
        if check.verdict is Verdict.PASS and check.name == NOT_EXERCISED:
            ET.SubElement(case, "skipped", message=printable(check.reason))
        elif check.verdict is Verdict.PASS:
            ET.SubElement(case, "system-out").text = printable(check.reason)
        else:
            kind = "failure" if check.verdict is Verdict.FAIL else "error"
            ET.SubElement(case, kind, type=check.verdict.value, message=printable(check.reason))
    if nothing:
        case = ET.SubElement(suite, "testcase", classname="gate.run", name="something was judged")
        ET.SubElement(case, "error", type=decision.verdict.value, message=printable(decision.summary))
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))


def printable(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return FORBIDDEN.sub("\ufffd", text)
