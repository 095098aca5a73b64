"""Which items a run sent, so that its answers are judged by those and no others (pure)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalsets.item import Item
from harness.errors import ResultError

# What a request is made of, and what an answer is judged by; not where an item comes from.
HASHED = (
    "id", "lang", "system", "context", "prompt", "reference", "must_keep", "must_not", "contract", "tags"
)  # fmt: skip


def items_sha256(items: Sequence[Item]) -> str:
    """One hash over all that a request or a judgement uses of the items, in their order."""
    content = [[getattr(item, name) for name in HASHED] for item in items]
    return hashlib.sha256(json.dumps(content, default=dict).encode()).hexdigest()


def require_items_as_sent(meta: Mapping[str, Any], items: Sequence[Item], *, of: object) -> None:
    """Raises ResultError where the set, of which the run may have sent a part, is not as it was when the run began.

    `meta`: the run's `run.json`. `of`: the run, as the message names it.
    """
    then = meta.get("items_sha256")
    if not isinstance(then, str):
        raise ResultError(
            f"{of}: run.json has no items_sha256, so nobody knows which items the answers belong to; make a new run"
        )
    now = items_sha256(those_sent(meta, items))
    if now != then:
        raise ResultError(
            f"{of}: the items of evaluation set {meta.get('evalset')!r} are not those that the run sent: their sha256 "
            f"is {now} now and was {then}; put the set back as it was, or make a new run with the set of now; "
            "where nobody edited it, the run may be of an earlier version whose sum covered fewer fields: make it again"
        )


def those_sent(meta: Mapping[str, Any], items: Sequence[Item]) -> list[Item]:
    """All items, or those that the run was told to send, in that order; one that is gone is left out."""
    chosen = meta.get("item")
    if not isinstance(chosen, list):
        return list(items)
    by_id = {item.id: item for item in items}
    return [by_id[name] for name in dict.fromkeys(map(str, chosen)) if name in by_id]
