"""Figures in docs/design that follow from the bundled sets and the code alone: counted again, lest they go stale."""

import json
import statistics
from pathlib import Path

import pytest

from evalsets.counterexample import load_counterexamples
from evalsets.jsonl import load_set
from gateway.answers.embedding import embed, similarity
from gateway.answers.grounding import distrust
from gateway.answers.semantic_gate import Decision, closest_passage, decide, entropy_of, task_of
from gateway.policy import Extract, GateMarks, Grounding, TemplateMatch
from gateway.request import ChatRequest, parse
from harness.gatekeepers.hit_rate import measured
from harness.gatekeepers.nearest_template import hashed, nearest

DESIGN = Path(__file__).parents[2] / "docs" / "design"
ITEMS, CASES = load_set("support"), load_counterexamples("collapse")


def says(page: str, sentence: str) -> None:
    """Assert that the page says this, wherever its lines break."""
    is_there = sentence in " ".join((DESIGN / page).read_text("utf-8").split())
    assert is_there, f"{page} should say: {sentence}"


def asked(messages, contract=None) -> ChatRequest:
    """As the harness asks: an item with a contract asks for its JSON."""
    form = {"response_format": {"type": "json_object"}} if contract else {}
    return parse(json.dumps({"messages": messages, **form}).encode(), max_tokens_bound=9)


REFERENCES = [(asked(item.messages(), item.contract), item.reference) for item in ITEMS]
FAITHFUL, COLLAPSED = (
    [(asked([{"role": "user", "content": f"{case.context}\n\n{case.prompt}"}]), getattr(case, kind)) for case in CASES]
    for kind in ("faithful", "collapsed")
)


def doubted(answers) -> int:
    return sum(
        distrust(
            text,
            messages=request.messages,
            finish_reason="stop",
            is_json=request.response_format != "text",
            marks=Grounding(),
        )
        is not None
        for request, text in answers
    )


def gated(answers) -> tuple[list[float], int]:
    """Differences of the answers that have a passage to be compared with, and how many of these the gate lets pass."""
    differences, passed = [], 0
    for request, text in answers:
        passage = closest_passage(request.messages, Extract())
        if passage is None:
            continue
        differences.append(1 - similarity(embed(text), embed(passage)))
        decision = decide(task_of(request), delta=differences[-1], entropy=entropy_of(text), marks=GateMarks())
        passed += decision in (Decision.PASS, Decision.CACHE)
    return differences, passed


@pytest.mark.slow
def test_the_grounding_check_doubts_as_many_answers_as_the_page_says():
    says("gateway.md", f"doubts {doubted(REFERENCES)} of {len(REFERENCES)} reference answers")
    faithful, collapsed = doubted(FAITHFUL), doubted(COLLAPSED)
    says("gateway.md", f"of the {len(CASES)} labelled counterexamples {faithful} faithful and {collapsed} collapsed")


@pytest.mark.slow
def test_the_semantic_gate_passes_as_many_answers_as_the_page_says():
    differences, passed = gated(REFERENCES)
    says("gatekeepers.md", f"it passes {passed} of the {len(differences)} *reference* answers of `support`")
    says("gatekeepers.md", f"(median Δ {statistics.median(differences):.2f})")
    (compared, faithful), (_, collapsed) = gated(FAITHFUL), gated(COLLAPSED)
    says(
        "gatekeepers.md",
        f"of the {len(compared)} counterexamples that have one {collapsed} collapsed answers and {faithful} faithful",
    )


@pytest.mark.slow
def test_the_cache_finds_as_many_questions_again_as_the_page_says():
    again, polite, free = (measured()[kind] for kind in ("again", "polite", "free"))
    assert again.wrong == polite.wrong == free.wrong == 0
    says("gatekeepers.md", f"| word by word | {again.right:,} of {again.asked:,} ({again.right / again.asked:.1%})")
    says("gatekeepers.md", f"| {again.bypassed} |")
    says("gatekeepers.md", f"| {polite.right} of {polite.asked} ({polite.right / polite.asked:.1%}) |")
    says("gatekeepers.md", f"| {free.right} of {free.asked} |")


@pytest.mark.slow
def test_the_nearest_template_is_right_as_often_as_the_page_says():
    english, chinese = nearest(hashed(), mark=TemplateMatch().min_similarity)
    for one in (english, chinese):
        assert one.above_right == one.above
    says("gatekeepers.md", f"| built-in hashing | {told(english)} | {told(chinese)} |")


def told(one) -> str:
    return f"{one.right} of {one.asked} ({one.right / one.asked:.0%}); {one.above} above the mark"
