"""Who does what to whom, and which value belongs to which thing: words that changed places."""

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.fidelity.case import Finding
from harness.fidelity.reading.attachment import stretches
from harness.fidelity.reading.comparisons import same_order
from harness.fidelity.reading.doers import doers
from harness.fidelity.reading.exchanged import exchanged
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.handovers import turned_handover
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.reversal import PRONOUNS, SEQUENCE, agents, converse, exchanges, kin, named, reversals
from harness.fidelity.reading.successors import succession
from harness.fidelity.reading.text import Text, Word, joined

NAME = "roles"
MOST_WORDS = 5  # quoted of a stretch
_RELATIONS = frozenset(
    [
        "to",
        "from",
        "by",
        "over",
        "against",
        "with",
        "for",
        "of",
        "per",
        "给",
        "向",
        "从",
        "到",
        "至",
        "对",
        "把",
        "被",
        "由",
        "先",
        *SEQUENCE,
    ]
)
_PASSIVE = frozenset(["被", "遭"])
_RANKS = frozenset(["first", "second", "next", "finally", "last", "先", "首先", "最后", "接着"])
_WHEN = frozenset(["before", "after", "once", "when", "if", "while", "之前", "之后", "如果", "时", "后", "前"])
_TURNING = frozenset(["get", "receive", "have", "take", "from", "收到", "获得"])  # "we pay you", "you get it from us"


_GIVEN = frozenset(["if", "unless", "when", "except", "otherwise", "only", "如果", "除非", "若", "否则"])


def check(both: Pair) -> list[Finding]:
    return [
        *_other_successor(both),
        *_other_doer(both),
        *_turned_handover(both),
        *_stretches(both),
        *_changed_places(both),
    ]


def _turned_handover(both: Pair) -> list[Finding]:
    """ "A sued B" told as "B took A to court", "A gave B the file" as "A was given it by B"."""
    turned = turned_handover(both.reference, both.candidate)
    if turned is None:
        return []
    reason = (
        f"it is “{turned[1].doer}” who does it in the answer, “{turned[0].doer}” in the reference ({turned[0].deed})"
    )
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _stretches(both: Pair) -> list[Finding]:
    """ "Ann, the cook, pays, and Bo, the clerk, waits" with Ann and Bo in each other's place."""
    found = exchanged(both)
    if found is None or converse(both) or same_order(both.reference, both.candidate):
        return []
    reason = f"“{joined(found.one, MOST_WORDS)}” and “{joined(found.other, MOST_WORDS)}” stand in each other's place"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _other_successor(both: Pair) -> list[Finding]:
    """ "A replaced B" told as "B replaced A"."""
    here = succession(both.reference)
    there = here and succession(both.candidate)
    if here is None or there is None or (here.new, here.old) != (there.old, there.new):
        return []
    reason = f"it is “{there.old}” who leaves in the answer, “{here.old}” in the reference"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _other_doer(both: Pair) -> list[Finding]:
    """The other party pays, phones or sends: "the seller pays" against "the buyer pays"."""
    here = list(doers(both.reference))
    there = here and list(doers(both.candidate))
    if not here or not there or _given(both.reference) != _given(both.candidate):
        return []
    if any(agents(text.words) for text in (both.reference, both.candidate)) and both.reference.lang == "en":
        return []
    for deed in dict.fromkeys(deed for deed, _ in here):
        ours, theirs = ({who for what, who in side if what == deed} for side in (here, there))
        known = both.reference.lang == "zh" or theirs <= _spoken(both.reference)
        if theirs and not ours & theirs and known and len(ours) == len(theirs) == 1 and _parties(ours | theirs):
            reason = f"it is “{min(theirs)}” who does it in the answer, “{min(ours)}” in the reference ({deed})"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _parties(names: set[str]) -> bool:
    """Whether the names are two parties for certain: not a person once by name and once by pronoun."""
    return not names & _NO_PARTY


_NO_PARTY = frozenset(
    ["he", "she", "they", "i", "both", "each", "either", "neither", "everyone", "everybody", "anyone", "anybody",
     "someone", "nobody", "one", "ones", "others", "other", "two", "those", "these", "people", "person",
     "latter", "former"]
)  # fmt: skip


def _spoken(text: Text) -> set[str]:
    return {w.text.casefold() for w in text.words}


def _given(text: Text) -> set[str]:
    return {w.lemma for w in text.words if w.lemma in _GIVEN} and {"given"}


def _changed_places(both: Pair) -> list[Finding]:
    if both.reordered or _whole_clauses(both) or same_order(both.reference, both.candidate):
        return []
    found = sorted([*_found(both), *_redistributed(both)], key=lambda f: -f.severity)
    if found and converse(both):
        return [Finding(check=NAME, severity=min(0.2, found[0].severity), reason=found[0].reason)]
    return found[:1]


def _ties_no_values(both: Pair, left: int, pivot: int) -> bool:
    """Whether two values around a word are told in another way, and not turned.

    "Short of a plan of 500" and "500 had been planned", or an "of" that stands beside one of them only.
    """
    if both.reference.words[pivot].lemma == "of":
        return left < pivot - 1
    at = both.partner_back[pivot]
    if at is None:
        return False
    passive = [_in_passive(both.reference.words, pivot), _in_passive(both.candidate.words, at)]
    return passive[0] != passive[1]


def _in_passive(words: Sequence[Word], at: int) -> bool:
    return words[at].text.lower().endswith("ed") and at > 0 and words[at - 1].lemma == "be"


def _found(both: Pair) -> Iterator[Finding]:
    words = both.reference.words
    passive = bool(agents(words)) != bool(agents(both.candidate.words))
    if passive and (agent := _same_order(both)):
        yield Finding(check=NAME, severity=0.8, reason=f"“{agent}” does in one text what is done to it in the other")
    exchanged = [] if passive or not _literal(both) else list(exchanges(both))
    if len({words[i].lemma for e in exchanged for i in (e.one, e.other)}) >= 4:
        exchanged = []  # whole clauses changed places, with everything that belongs to them
    for one, other, fit in exchanged:
        severity = 1.0 if kin(words[one], words[other]) or fit >= 3 else 0.6
        yield Finding(
            check=NAME, severity=severity, reason=f"“{words[one].text}” and “{words[other].text}” change places"
        )
    for left, pivot, right in reversals(both):
        if _one_value(words[left], words[right]) or _turned_verb(both, left, pivot, right) or _score(both, pivot):
            continue
        if _not_before(both, pivot):
            continue
        if words[left].fact and words[right].fact and _ties_no_values(both, left, pivot):
            continue
        if words[pivot].lemma not in SEQUENCE and _bond_kept(both, left, pivot, right):
            continue
        severity = _severity(both, words[left], words[pivot], words[right], passive=passive)
        if severity >= 0.7 and words[pivot].lemma in _HANDS_OVER and _same_words(both):
            severity = 1.0
        if severity:
            reason = f"“{words[left].text}” and “{words[right].text}” change places around “{words[pivot].text}”"
            yield Finding(check=NAME, severity=severity, reason=reason)


def _one_value(left: Word, right: Word) -> bool:
    """ "half … and half …": one value, whichever stands first."""
    return bool(left.fact and right.fact) and left.lemma == right.lemma


def _turned_verb(both: Pair, left: int, pivot: int, right: int) -> bool:
    """ "you are not charged for it" is "it costs you nothing": verbs that turn round who and what."""
    words, at = both.reference.words, both.partner_back[pivot]
    pair_of_verbs = {words[pivot].lemma, both.candidate.words[at].lemma if at is not None else ""}
    return pair_of_verbs in _TURNED_VERBS and bool({words[left].lemma, words[right].lemma} & PRONOUNS)


_TURNED_VERBS = (
    {"charge", "cost"},
    {"pay", "cost"},
    {"bill", "cost"},
    {"like", "please"},
    {"own", "belong"},
    {"have", "belong"},
)
_LOST = frozenset(["lose", "lost", "beat", "beaten", "defeat", "defeated", "loss", "win", "won"])


def _score(both: Pair, pivot: int) -> bool:
    """Whether `pivot` is a number of a score of which both texts tell who lost: "lost 2-3" is "were beaten 3-2"."""
    fact = both.reference.words[pivot].fact
    if fact is None or fact.kind is not Kind.NUMBER:
        return False
    plain = both.reference.plain
    score = plain[fact.end : fact.end + 1] == "-" or plain[max(0, fact.start - 1) : fact.start] == "-"
    return score and not any(t.said.isdisjoint(_LOST) for t in (both.reference, both.candidate))


def _not_before(both: Pair, pivot: int) -> bool:
    """ "call us before you sign" is "do not sign before you have called us"."""
    at = both.partner_back[pivot]
    if at is None or both.reference.words[pivot].lemma not in ("before", "until"):
        return False
    denied = [
        any(
            not d.lexical and d.at < place and words[d.at].clause in (words[place].clause, words[place].clause - 1)
            for d in said.denials
        )
        for said, place, words in (
            (both.polarity_here, pivot, both.reference.words),
            (both.polarity_there, at, both.candidate.words),
        )
    ]
    return denied[0] != denied[1]


def _same_words(both: Pair) -> bool:
    ours, theirs = (Counter(w.lemma for w in t.words if not w.mark) for t in (both.reference, both.candidate))
    return ours == theirs


_HANDS_OVER = frozenset(["把", "给", "向", "交给", "被", "to", "from", "into", "for", "by"])


def _bond_kept(both: Pair, left: int, pivot: int, right: int) -> bool:
    """Whether the pivot stands with the same one of the two on both sides: "4 for A, 7 for B", "B at 7, A at 4"."""
    here, there = stretches(both.reference)[-1], stretches(both.candidate)[-1]
    if not (max(here, default=0) and max(there, default=0)):
        return False
    at = [both.partner_back[i] for i in (left, pivot, right)]
    sides = [tuple(here[i] for i in (left, pivot, right)), tuple(there[i] for i in at if i is not None)]
    return all(s[0] == s[1] != s[2] for s in sides) or all(s[2] == s[1] != s[0] for s in sides)


def _redistributed(both: Pair) -> Iterator[Finding]:
    """The same words, dealt out to the clauses in another way, or turned from what is done to what one does."""
    ours, theirs = (Counter(_lemmas(text)) for text in (both.reference, both.candidate))
    if ours != theirs or len(ours) < 3:
        return
    here, there = _per_clause(both.reference), _per_clause(both.candidate)
    if len(here) == len(there) > 1 and here != there:
        yield Finding(check=NAME, severity=0.9, reason="the same words are dealt out to the clauses in another way")
    turned = any(w.text in _PASSIVE for w in both.reference.words) != any(
        w.text in _PASSIVE for w in both.candidate.words
    )
    if turned and _ends(both.reference) == _ends(both.candidate):
        yield Finding(
            check=NAME, severity=0.9, reason="what is done to the one in one text, it does itself in the other"
        )


def _whole_clauses(both: Pair) -> bool:
    """Whether both texts hold the very same clauses, perhaps in another order, and no word says which is first."""
    if not both.reference.said.isdisjoint(SEQUENCE | _RANKS):
        return False
    here, there = (_in_order(text) for text in (both.reference, both.candidate))
    if len(here) < 2 or len(here) != len(there):
        return False
    if sorted(here) == sorted(there):
        return True
    topic = next((k for k, (a, b) in enumerate(zip(here[0], there[0], strict=False)) if a != b), 0)
    return any(  # what the first clause tells of all: "yoga is …, … on Thursday"
        sorted([here[0][k:], *here[1:]]) == sorted([there[0][k:], *there[1:]]) for k in range(1, topic + 1)
    )


def _in_order(text: Text) -> list[list[str]]:
    clauses: dict[int, list[str]] = {}
    for word in text.words:
        if not word.mark:
            clauses.setdefault(word.clause, []).append(word.lemma)
    return list(clauses.values())


def _lemmas(text: Text) -> list[str]:
    return [w.lemma for w in text.words if w.content]


def _ends(text: Text) -> tuple[str, ...]:
    return tuple(_lemmas(text)[:1])


def _per_clause(text: Text) -> list[list[str]]:
    """The content words of each clause, the clauses in an order of their own."""
    clauses: dict[int, list[str]] = {}
    for word in text.words:
        if word.content:
            clauses.setdefault(word.clause, []).append(word.lemma)
    return sorted(sorted(words) for words in clauses.values())


def _severity(both: Pair, left: Word, pivot: Word, right: Word, *, passive: bool) -> float:
    if passive and not (left.fact and right.fact):
        return 0.0
    if pivot.lemma in SEQUENCE:
        return 1.0 if _literal(both) or kin(left, right) else 0.5
    if not (pivot.content or pivot.lemma in _RELATIONS):
        return 0.0
    if left.clause != right.clause and pivot.lemma not in SEQUENCE and not _rebound(both, left, pivot, right):
        return 0.0
    if (
        left.fact
        and right.fact
        and not pivot.text.isascii()
        and pivot.start in (left.fact.end, right.fact.end)
        and pivot.clause == left.clause
    ):
        return 0.3  # 30G流量: the thing counted may be named with either value
    if kin(left, right) and not left.fact and _turned(both):
        return 0.2
    if kin(left, right):
        return 1.0 if not pivot.fact or left.fact else 0.4
    if left.lemma in PRONOUNS or right.lemma in PRONOUNS:
        return 0.0 if _turned(both) or left.fact or right.fact or pivot.fact or pivot.lemma in _RELATIONS else 0.8
    if left.clause != right.clause and pivot.fact and not (left.fact or right.fact) and _literal(both):
        return 0.9  # "ground floor: shoes, first floor: coats"
    if left.clause != right.clause or left.fact or right.fact or pivot.fact:
        return 0.0
    if not any(t.said.isdisjoint(_WHEN) for t in (both.reference, both.candidate)):
        return 0.15  # "after A, B" is "B after A"
    return 0.7 if _literal(both) else 0.15


def _turned(both: Pair) -> bool:
    """Whether one text tells the giving and the other the getting."""
    return both.reference.said.isdisjoint(_TURNING) != both.candidate.said.isdisjoint(_TURNING)


def _rebound(both: Pair, left: Word, pivot: Word, right: Word) -> bool:
    """Whether `pivot`, said once, goes with `left` in the reference and with `right` in the candidate."""
    once = all(sum(w.lemma == pivot.lemma for w in text.words) == 1 for text in (both.reference, both.candidate))
    if not once:
        return False
    there = {
        w.start: both.candidate.words[at]
        for w, at in zip(both.reference.words, both.partner_back, strict=True)
        if at is not None
    }
    at, left_at, right_at = (there[w.start].clause for w in (pivot, left, right))
    return (pivot.clause == left.clause and at == right_at != left_at) or (
        pivot.clause == right.clause and at == left_at != right_at
    )


def _literal(both: Pair) -> bool:
    """The texts consist of the very same words."""
    return both.recall >= 0.9 and both.precision >= 0.9 and _equal_share(both) >= 0.85


def _equal_share(both: Pair) -> float:
    placed = [(i, at) for i, at in enumerate(both.partner_back) if at is not None and both.reference.words[i].content]
    equal = sum(
        both.reference.words[i].lemma == both.candidate.words[at].lemma or bool(both.reference.words[i].fact)
        for i, at in placed
    )
    return equal / len(placed) if placed else 0.0


def _same_order(both: Pair) -> str:
    """The agent of a passive, where it stands on the far side of the verb in the other text as well."""
    copy = _literal(both)
    for text, partner, other in (
        (both.candidate, both.partner, both.reference),
        (both.reference, both.partner_back, both.candidate),
    ):
        for agent in agents(text.words):
            at = partner[agent]
            doers = set(agents(text.words))
            before = [
                i
                for i in range(agent)
                if partner[i] is not None
                and i not in doers
                and text.words[i].clause == text.words[agent].clause
                and ((copy and text.words[i].content) or named(text.words[i]) or text.words[i].lemma in PRONOUNS)
            ]
            if (
                at is not None
                and before
                and all((partner[i] or 0) < at for i in before)
                and named(text.words[agent])
                and other.words
            ):
                return text.words[agent].text
    return ""
