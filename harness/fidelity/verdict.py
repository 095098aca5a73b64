"""The verdict on answers: faithful, abstained or misleading, with a risk that orders them and reasons in words."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from harness.fidelity.cascade import Question, Reads, ask, ask_both
from harness.fidelity.case import Case, Finding, Judgement, Label, Similarity
from harness.fidelity.checks.abstention import NONE, Abstention, abstention, admission
from harness.fidelity.checks.catalogue import CHECKS
from harness.fidelity.checks.substitution import are_labels
from harness.fidelity.cross_encoder import NAME as CROSS_ENCODER
from harness.fidelity.cross_encoder import Opinion
from harness.fidelity.entailment import Entailment
from harness.fidelity.llm_judge import LlmJudge
from harness.fidelity.outside_opinions import NOTHING_FOUND, with_opinions
from harness.fidelity.reading.code import pieces
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.pair import Pair, pair
from harness.fidelity.reading.text import joined
from harness.fidelity.risk import CERTAIN, Model, features, freedom, shipped_model

_FORM = frozenset({"contract", "must_keep", "degenerate", "truncation", "language", "transport"})
_DEMANDS = frozenset({"contract", "must_keep", "language"})  # what the reference itself may fail to keep
_UNHEARD = frozenset({"comparison", "stance", "tense"})  # who is more, yes or no, done or to come: overruled wrongly
_SURE = frozenset(  # another value, name, duty or cause, or that of another thing; all for some; a condition less
    {"numbers", "moments", "names", "attributes", "quantifiers", "omission", "sequence", "modality", "failure"}
)
_CODE = frozenset({"identifiers"})  # and to another code
_NAMED = frozenset({"numbers", "moments", "names", "identifiers"})  # another thing than the reference does not know of
_HARD = _FORM | {"antonyms", "numbers", "moments"}
ABSTAINED_RISK, ADMITTED_RISK, UNMARKED_RISK = 0.05, 0.1, 0.9
MOST_REASONS, TOLD = 5, 0.25  # severity from which a finding is one of the reasons
MOST_PLACES, MOST_WORDS = 2, 6  # quoted of what the cross-encoders doubt
NO_ABSTENTION, HALF_IS_WHOLE, WHOLE = 0.02, 0.65, 0.5  # how likely the cross-encoder must find an abstention
SURE = 0.95  # severity of a certain finding that is not overruled
NO_COPY = 0.5  # closeness from which an answer without a word of abstaining is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A case with everything that the checks have against it."""

    both: Pair
    findings: tuple[Finding, ...]
    abstains: Abstention
    opinions: tuple[Finding, ...] = ()  # of models that the user named
    opinion: Opinion | None = None  # of the cross-encoders; None: they have not read the pair


def judge(
    cases: Sequence[Case],
    similarities: Sequence[Similarity],
    *,
    model: Model | None = None,
    entailment: Entailment | None = None,
    llm_judge: LlmJudge | None = None,
    reader: Reads | None = None,
) -> list[Judgement]:
    """One judgement per case, in order. Raises ValueError on unequal lengths.

    `entailment`, `llm_judge`: models of the user's. What they have against an answer raises its risk (`with_opinions`).
    `reader`: the cross-encoders, as `harness.judge.verdict_of` has them; without them the checks are alone.
    """
    weights = model or shipped_model()
    seen = see(cases, entailment, llm_judge)
    if reader is not None:
        seen = heard(seen, similarities, reader, model=weights)
    return [decide(one, s, model=weights) for one, s in zip(seen, similarities, strict=True)]


def see(
    cases: Sequence[Case],
    entailment: Entailment | None = None,
    llm_judge: LlmJudge | None = None,
) -> list[Seen]:
    """Every case read and checked once."""
    inferred = entailment.findings(cases) if entailment else [()] * len(cases)
    told = llm_judge.findings(cases) if llm_judge else [()] * len(cases)
    seen = []
    for case, *found in zip(cases, inferred, told, strict=True):
        both = pair(case)
        opinions = (*found[0], *found[1])
        seen.append(Seen(both=both, findings=findings_of(both), abstains=abstention(case), opinions=opinions))
    return seen


def heard(seen: Sequence[Seen], similarities: Sequence[Similarity], reader: Reads, *, model: Model) -> list[Seen]:
    """The same with an opinion of the cross-encoders, which read only where they may change the verdict."""
    asked = [question(one, s, model) for one, s in zip(seen, similarities, strict=True)]
    return _with_opinions(seen, asked, ask([one for one in asked if one is not None], reader))


def heard_wholly(seen: Sequence[Seen], reader: Reads) -> list[Seen]:
    """The same with the opinion of both cross-encoders on every pair that is not equal or empty."""
    asked = [_to_read(one) for one in seen]
    return _with_opinions(seen, asked, ask_both([one for one in asked if one is not None], reader))


def _with_opinions(seen: Sequence[Seen], asked: Sequence[object], told: Sequence[Opinion | None]) -> list[Seen]:
    answers = iter(told)
    return [
        one if about is None else replace(one, opinion=next(answers)) for one, about in zip(seen, asked, strict=True)
    ]


def _to_read(seen: Seen) -> tuple[str, str] | None:
    """What a cross-encoder is given; None where the texts are equal, one is empty, or each is one word."""
    reference, candidate = seen.both.case.reference.strip(), seen.both.case.candidate.strip()
    known = not reference or not candidate or reference == candidate or are_labels(seen.both)
    return None if known else (reference, candidate)


def question(seen: Seen, similarity: Similarity, model: Model) -> Question | None:
    """What the cross-encoders are asked; None where the verdict stands without them."""
    texts, joined = _to_read(seen), model.joined.get(seen.both.reference.lang)
    if texts is None or joined is None or _stands(seen.findings, seen.abstains) or _explained(seen.both, seen.findings):
        return None
    own, risk = seen.abstains, model.risk(features(seen.both, seen.findings, similarity))
    no_abstention = own.fields or own.answers or not (own.pure or own.cue or seen.both.closeness < NO_COPY)
    return Question(
        pair=texts,
        risk=risk,
        far=freedom(seen.both.closeness),
        least=_least(risk, seen.both, seen.findings, model),
        enough=None if no_abstention else _enough(own),
        joined=joined,
        threshold=model.threshold,
    )


def decide(seen: Seen, similarity: Similarity, *, model: Model, without: frozenset[str] = frozenset()) -> Judgement:
    """The judgement of one case. `without`: checks to leave out."""
    judgement = _decided(seen, similarity, model=model, without=without)
    opinions = [finding for finding in seen.opinions if finding.check not in without]
    return with_opinions(judgement, opinions, threshold=model.threshold) if opinions else judgement


def _decided(seen: Seen, similarity: Similarity, *, model: Model, without: frozenset[str]) -> Judgement:
    case, both = seen.both.case, seen.both
    findings = _gravest_first([finding for finding in seen.findings if finding.check not in without])
    joined = model.joined.get(both.reference.lang)
    opinion = None if joined is None or CROSS_ENCODER in without else seen.opinion
    abstains = NONE if "abstention" in without else _both_read(seen.abstains, opinion, findings)
    other = abstains.unknowing and _admits_of_another(case, findings)
    if abstains.pure and not other and not (case.contract is not None and _breaks(findings)):
        if abstains.unknowing and "overclaim" not in without and _both_admit(case, findings):
            return _admitted(case, similarity, findings)
        return _abstained(case, similarity, abstains)
    risk = model.risk(features(both, findings, similarity))
    if joined is not None and opinion is not None and not _explained(both, findings):
        risk = joined.risk(
            risk, opinion.misleads, far=freedom(both.closeness), least=_least(risk, both, findings, model)
        )
        if opinion.read:
            findings = (*findings, _read_together(opinion.misleads, both))
    label = Label.MISLEADING if risk >= model.threshold else Label.FAITHFUL
    reasons = _reasons(findings, label, risk)
    return Judgement(id=case.id, label=label, risk=risk, reasons=reasons, similarity=similarity, findings=findings)


def _both_read(own: Abstention, opinion: Opinion | None, findings: Sequence[Finding]) -> Abstention:
    """Whether an answer abstains, by the words of its clauses (`own`) and by what the cross-encoder makes of it.

    It is heard where they are not clear: half an abstention may be a whole one, and a whole one none. Of fields it
    knows nothing.
    """
    if opinion is None or opinion.abstains is None or own.fields or own.answers or _stands(findings, own):
        return own
    return own._replace(pure=opinion.abstains >= _enough(own))


def _enough(own: Abstention) -> float:
    return NO_ABSTENTION if own.pure else HALF_IS_WHOLE if own.cue else WHOLE


def _least(risk: float, both: Pair, findings: Sequence[Finding], model: Model) -> float:
    """What the cross-encoders cannot lower: the checks' risk where something is wrong that they do not see.

    Of another value or name it is what a certain finding is worth by itself.
    """
    codes = any(f.kind is Kind.IDENTIFIER for f in both.reference.facts) or any(pieces(both.case.reference))
    unseen = _grave(findings, _UNHEARD) or (codes and _grave(findings, _CODE))  # H1 for a half-year replaces no code
    if unseen or _stands(findings):
        return risk
    return min(risk, model.sure) if _another_value(findings) else 0.0


def _another_value(findings: Sequence[Finding]) -> bool:
    """Whether a value or a name stands in another's place: in a rewording the cross-encoders see no such lie."""
    return any(f.certain and f.severity >= SURE and f.check in _SURE for f in findings)


def findings_of(both: Pair) -> tuple[Finding, ...]:
    """What the checks have against the answer, the gravest first. Against the reference itself only demands count."""
    equal = both.case.candidate.strip() == both.case.reference.strip() != ""
    checks = [check for name, check in CHECKS.items() if name in _DEMANDS or not equal]
    return _gravest_first([finding for check in checks for finding in check(both)])


def _gravest_first(found: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (-f.severity, f.check)))


def _both_admit(case: Case, findings: Sequence[Finding]) -> bool:
    """Whether the reference admits not to know, too, and the answer gets nothing else wrong."""
    return not _grave(findings, _HARD) and bool(admission(case.reference))


def _admits_of_another(case: Case, findings: Sequence[Finding]) -> bool:
    """Whether the reference admits not to know, too, but of a thing with another name, value or code."""
    other = any(f.severity >= SURE and (f.certain or f.check in CERTAIN) and f.check in _NAMED for f in findings)
    return other and bool(admission(case.reference))


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


def _grave(findings: Sequence[Finding], checks: Container[str]) -> bool:
    """Whether one of these checks is as good as sure."""
    return any(f.severity >= 0.9 and f.check in checks for f in findings)


def _breaks(findings: Sequence[Finding]) -> bool:
    """A form that was asked for and not kept cannot be made up for by honesty."""
    return _grave(findings, ("contract",))


def _stands(findings: Sequence[Finding], own: Abstention = NONE) -> bool:
    """Whether something is wrong that reading the two texts together cannot make right.

    An answer that abstains in part (`own`) may well say no more than "in a few minutes".
    """
    return _grave(findings, _FORM - {"degenerate"} if own.cue else _FORM)


def _explained(both: Pair, findings: Sequence[Finding]) -> bool:
    """Whether the checks explain every word: texts that near the cross-encoders only know to be lies mostly."""
    return not both.differs and not any(f.severity >= TOLD for f in findings)


def _read_together(doubt: float, both: Pair) -> Finding:
    told = f"the answer tells something else{_differing(both)}" if doubt >= 0.5 else "both tell the same"
    return Finding(check=CROSS_ENCODER, severity=doubt, reason=f"read together, {told} (doubt {doubt:.2f})")


def _differing(both: Pair) -> str:
    """Where the texts part, in their words: what the other does not say, and only where there is none, what moved."""
    unsaid = {id(word) for word in (*both.missing, *both.added)}
    spots = [tuple([w for w in side if id(w) in unsaid] for side in edit) for edit in both.edits]
    spots = [spot for spot in spots if any(spot)] or [tuple(map(list, edit)) for edit in both.edits]
    places = []
    for removed, added in spots[:MOST_PLACES]:
        old, new = (f"“{joined(words, MOST_WORDS).rstrip('.')}”" if words else "" for words in (removed, added))
        places.append(f"{new} for {old}" if old and new else f"{new} put in" if new else f"{old} left out")
    more = ", …" if len(spots) > MOST_PLACES else ""
    return f": {', '.join(places)}{more}" if places else ""


def _abstained(case: Case, similarity: Similarity, abstains: Abstention) -> Judgement:
    marked = case.degraded is not False
    reason = f"the answer says that it is none{f': “{abstains.cue}”' if abstains.cue else ', as a whole'}"
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
    grave = [f for f in findings if f.severity >= TOLD]
    if len(grave) > MOST_REASONS and grave[-1].check == CROSS_ENCODER:  # what may have decided is not left out
        grave = [*grave[: MOST_REASONS - 1], grave[-1]]
    told = tuple(f"{f.check}: {f.reason}" for f in grave[:MOST_REASONS])
    if told:
        return told
    if label is Label.MISLEADING:
        return (f"the answer has too little in common with the reference (risk {risk:.2f})",)
    return (NOTHING_FOUND,)
