"""Whether plan B was seen in every language that was asked in (pure)."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.decision import Check, Verdict
from harness.gate_row import GateRow

NAME = "plan B is seen in every language"


class Languages(NamedTuple):
    """Of the items that a run sent, and of its whole evaluation set; empty where that cannot be read."""

    sent: frozenset[str]
    of_set: frozenset[str] = frozenset()


def every_language(rows: Sequence[GateRow], languages: Languages) -> Check:
    """Inconclusive for a language of which no degraded answer was judged; one that was never sent is named."""
    seen = {row.lang for row in rows if not row.healthy and not row.crashed and row.label is not None}
    lacking, unsent = sorted(languages.sent - seen), sorted(languages.of_set - languages.sent)
    verdict = Verdict.INCONCLUSIVE if lacking else Verdict.PASS
    reason = f"degraded answers in {', '.join(sorted(seen)) or 'none'}"
    if lacking:
        reason = f"no degraded answer in {', '.join(lacking)}: run a fault that degrades answers to such items"
    if unsent:
        reason += f"; nothing was sent in {', '.join(unsent)}, which the set holds, so nothing is known of it"
    return Check(group="run", name=NAME, verdict=verdict, reason=reason)
