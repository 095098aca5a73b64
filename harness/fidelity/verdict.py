"""The verdict on answers: faithful, abstained or misleading, with a risk that orders them and reasons in words."""

from collections.abc import Mapping, Sequence

from harness.fidelity.case import Case, Finding, Judgement, Label, Similarity
from harness.fidelity.checks.abstention import NONE, Abstention, abstention, admission
from harness.fidelity.checks.catalogue import CHECKS
from harness.fidelity.entailment import Entailment
from harness.fidelity.reading.pair import Pair, pair
from harness.fidelity.risk import Model, features, shipped_model

_HARD = frozenset(
    {"contract", "must_keep", "degenerate", "truncation", "language", "antonyms", "transport", "numbers", "moments"}
)
ABSTAINED_RISK, ADMITTED_RISK, UNMARKED_RISK = 0.05, 0.1, 0.9


def judge(
    cases: Sequence[Case],
    similarities: Sequence[Similarity],
    *,
    model: Model | None = None,
    without: frozenset[str] = frozenset(),
    entailment: Entailment | None = None,
) -> list[Judgement]:
    """One judgement per case, in order. Raises ValueError on unequal lengths.

    `without`: checks to leave out. `entailment`: an inference model whose contradictions count as findings, too.
    """
    weights = model or shipped_model()
    more = entailment.findings(cases) if entailment else [()] * len(cases)
    return [
        judge_one(case, similarity, model=weights, without=without, more=found)
        for case, similarity, found in zip(cases, similarities, more, strict=True)
    ]


def judge_one(
    case: Case,
    similarity: Similarity,
    *,
    model: Model,
    without: frozenset[str] = frozenset(),
    more: tuple[Finding, ...] = (),
) -> Judgement:
    """The judgement of one case."""
    both = pair(case)
    abstains = NONE if "abstention" in without else abstention(case)
    findings = _gravest_first([*findings_of(both, without), *more])
    if abstains.pure and not (case.contract is not None and _breaks(findings)):
        if abstains.unknowing and "overclaim" not in without and _both_admit(case, findings):
            return _admitted(case, similarity, findings)
        return _abstained(case, similarity, abstains)
    risk = model.risk(features(both, findings, similarity))
    label = Label.MISLEADING if risk >= model.threshold else Label.FAITHFUL
    reasons = _reasons(findings, label, risk)
    return Judgement(id=case.id, label=label, risk=risk, reasons=reasons, similarity=similarity, findings=findings)


def findings_of(both: Pair, without: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """What the checks have against the answer, the gravest first."""
    found = [finding for name, check in CHECKS.items() if name not in without for finding in check(both)]
    return _gravest_first(found)


def _gravest_first(found: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (-f.severity, f.check)))


def severities(findings: Sequence[Finding]) -> Mapping[str, float]:
    """Check -> its gravest finding; 0 for a check that has none."""
    gravest = dict.fromkeys(CHECKS, 0.0)
    for finding in findings:
        gravest[finding.check] = max(gravest[finding.check], finding.severity)
    return gravest


def _both_admit(case: Case, findings: Sequence[Finding]) -> bool:
    """Whether the reference admits not to know, too, and the answer gets nothing else wrong."""
    grave = any(f.severity >= 0.9 and f.check in _HARD for f in findings)
    return not grave and bool(admission(case.reference))


def _admitted(case: Case, similarity: Similarity, findings: tuple[Finding, ...]) -> Judgement:
    reason = "reference and answer both say that they do not know"
    return Judgement(
        id=case.id,
        label=Label.FAITHFUL,
        risk=ADMITTED_RISK,
        reasons=(reason,),
        similarity=similarity,
        findings=findings,
    )


def _breaks(findings: Sequence[Finding]) -> bool:
    """A form that was asked for and not kept cannot be made up for by honesty."""
    return any(f.check == "contract" and f.severity >= 0.9 for f in findings)


def _abstained(case: Case, similarity: Similarity, abstains: Abstention) -> Judgement:
    marked = case.degraded is not False
    reason = f"the answer says that it is none: “{abstains.cue}”"
    finding = Finding(check="abstention", severity=0.0 if marked else 1.0, reason=reason)
    return Judgement(
        id=case.id,
        label=Label.ABSTAINED if marked else Label.MISLEADING,
        risk=ABSTAINED_RISK if marked else UNMARKED_RISK,
        reasons=(reason,) if marked else (f"{reason}, and is not marked as degraded",),
        similarity=similarity,
        findings=(finding,),
    )


def _reasons(findings: Sequence[Finding], label: Label, risk: float) -> tuple[str, ...]:
    told = tuple(f"{f.check}: {f.reason}" for f in findings if f.severity >= 0.25)[:5]
    if told:
        return told
    if label is Label.MISLEADING:
        return (f"the answer has too little in common with the reference (risk {risk:.2f})",)
    return ("nothing in it contradicts the reference",)
