"""Whether an answer may be trusted, from its own prompt."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.policy import Grounding


def distrust(
    text: str,
    *,
    messages: Sequence[Mapping[str, Any]],
    finish_reason: str | None,
    is_json: bool,
    marks: Grounding,
) -> str | None:
    return None
