"""The gate on the way out: is a degraded answer close enough to what it stands for, and not hollow?

What it stands for is the earlier whole answer to the same question, else the sentences of the caller's own text that
answer it best. Entropy is that of the answer's words in nats, or of a backend's attention where that is measured.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import isfinite, log
from typing import Any

from gateway.answers.extract import choose
from gateway.answers.lexis import split
from gateway.errors import ConfigError
from gateway.policy import Extract, GateMarks
from gateway.request import ChatRequest

_WORD = re.compile(r"[A-Za-z0-9]+(?:[-'.:/][A-Za-z0-9]+)*|[\u3400-\u9fff\uf900-\ufaff]")
_SUMMARY = re.compile(r"\b(?:summar\w+|tl;?dr|sum up|in short|key points)\b|总结|摘要|概括|归纳|要点", re.IGNORECASE)
_EXTRACTION = re.compile(
    r"\b(?:extract|list (?:all|the|every)|find all|which (?:names|dates|entities))\b|提取|抽取|列出|找出", re.IGNORECASE
)


class Task(StrEnum):
    """What was asked for."""

    QUERY = "user_query"
    SUMMARY = "summary"
    EXTRACTION = "entity_extraction"


class Decision(StrEnum):
    """What becomes of the degraded answer."""

    PASS = "pass"
    CACHE = "cache"  # the earlier answer is given instead, where there is one; else this one passes
    REVIEW = "review"  # held back for a person; the next path answers
    NEXT = "next"  # the next path answers


def decide(task: Task, *, delta: float | None, entropy: float, marks: GateMarks) -> Decision:
    """`delta` in [0, 2], 0 where both say the same, None where there was nothing to compare with; `entropy` in nats.

    Raises ConfigError for a value that is no number: such a value never passes.
    """
    if not isfinite(entropy) or entropy < 0 or (delta is not None and not (isfinite(delta) and 0 <= delta <= 2)):
        raise ConfigError(f"delta lies in [0, 2] and entropy is 0 or more; got {delta}, {entropy}")
    if delta is None:
        return Decision.PASS if marks.unmeasured == "pass" else Decision.NEXT
    if task is Task.QUERY:
        close = delta < marks.query_delta and entropy > marks.query_entropy
        return Decision.PASS if close else Decision.NEXT
    if task is Task.SUMMARY:
        close = delta < marks.summary_delta and entropy > marks.summary_entropy
        return Decision.CACHE if close else Decision.NEXT
    if delta <= marks.extraction_delta:
        return Decision.PASS
    return Decision.REVIEW if entropy < marks.extraction_entropy else Decision.NEXT


def task_of(request: ChatRequest) -> Task:
    """By `metadata.task` where the caller tells, else by the question's own words and the format asked for."""
    metadata: Any = request.body.get("metadata")
    told = metadata.get("task") if isinstance(metadata, Mapping) else None
    if told in tuple(Task):
        return Task(told)
    if _SUMMARY.search(request.question):
        return Task.SUMMARY
    if request.wants_json or _EXTRACTION.search(request.question):
        return Task.EXTRACTION
    return Task.QUERY


def entropy_of(text: str) -> float:
    """Shannon entropy of the words (Chinese: characters) of a text, in nats; 0 for one word or none."""
    counts = Counter(word.casefold() for word in _WORD.findall(text))
    total = sum(counts.values())
    return max(0.0, -sum(count / total * log(count / total) for count in counts.values())) if total else 0.0


def closest_passage(messages: Sequence[Mapping[str, Any]], marks: Extract) -> str | None:
    """The sentences of the caller's text that answer the question best, joined; None where none do clearly."""
    asked, context = split(messages)
    chosen = choose(asked, context, marks=marks)
    return " ".join(context[index] for index in chosen) if chosen else None
