"""What the answer leaves out: whole clauses of the reference, where it repeats the rest."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

from harness.fidelity.case import Finding
from harness.fidelity.reading.arithmetic import computed, timed
from harness.fidelity.reading.lists import ARTICLES, JOINTS, listed
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.reckoning import reckoned
from harness.fidelity.reading.stance import Stance, opening
from harness.fidelity.reading.text import Text

NAME = "omission"
COPIED = 0.95  # share of literal words from which a text is taken from the other
PART = 0.75  # share of the reference under which such a copy is a part of it
MOST = 4  # content words of an item of a list
_DEMANDS = frozenset(
    ["must", "need", "need to", "have to", "require", "required", "only", "never", "not", "no", "first", "then", "unless", "except", "avoid", "without", "forbidden",
     "but", "mandatory", "never", "必须", "须", "只能", "只", "不能", "不得", "不可", "禁止", "禁", "勿", "请勿", "先", "再", "但", "仅限", "不要", "需要", "还要", "避开", "避免"]
)  # fmt: skip
_BARRED = frozenset(
    ["not", "never", "don't", "不能", "不要", "不可", "不得", "严禁", "切勿", "禁止", "勿", "请勿", "千万"]
)
_SENTENCE_END = re.compile(r"[.!?。！？;；]")
_DEPENDS = re.compile(
    r"\bonly (?:with|if|when|once|against|after)\b|\b(?:if|as long as|provided|on condition|subject to|unless)\b|\b(?:must|have to|has to) (?:have|bring|show|carry|wear|produce)\b|\brequires?\b"
    r"|只有|只要|如果|必须|须|凭|需要?(?:带|有|出示|提供|持)|要(?:带|有|出示)",
    re.IGNORECASE,
)
_ENOUGH = re.compile(
    r"\b(?:as long as|provided|all (?:you|he|she|they|it) needs?|is enough|suffices?|is all)\b|只要|就行|就可以|即可|就能|就够",
    re.IGNORECASE,
)
KEPT = 0.34  # share of a clause's words that has to be found


_PART_OF_IT = frozenset(["其中", "当中"])


def check(both: Pair) -> list[Finding]:
    found = []
    gone = lost_clauses(both.reference, both.echo_back, both.spare_here)
    lost = [clause for clause in gone if not _reckoned(both, clause)]
    if lost:
        share = sum(len(clause) for clause in lost) / max(1, len(both.reference.content))
        texts = " … ".join(" ".join(both.reference.words[i].text for i in clause[:5]) for clause in lost[:2])
        found.append(
            Finding(check=NAME, severity=min(1.0, 0.3 + share) * both.precision, reason=f"nothing is said of “{texts}”")
        )
    if len(both.missing) >= 2 and both.recall < PART and both.literal_there >= COPIED and both.candidate.content:
        texts = " ".join(w.text for w in both.missing[:6])
        found.append(
            Finding(check=NAME, severity=0.8, reason=f"the answer copies the reference and leaves out “{texts}”")
        )
    return [*found, *_lost_demands(both, gone), *_lost_items(both)]


def _reckoned(both: Pair, clause: list[int]) -> bool:
    """Whether the answer tells a part of a whole as the share that it comes to: "a quarter" for 其中两百人 of 800."""
    words = [both.reference.words[i] for i in clause]
    facts = [word.fact for word in words if word.fact is not None]
    if not facts or not any(word.text in _PART_OF_IT for word in words):
        return False
    return all(computed(fact, both.candidate.facts) for fact in facts)


def _lost_demands(both: Pair, gone: list[list[int]]) -> Iterator[Finding]:
    """Clauses that bind or warn somebody and left no trace, where the answer has no words of its own to tell them."""
    own = [w for w in both.added if not w.fact]
    for clause in gone:
        words = both.reference.words
        number = words[clause[0]].clause
        barred = next((w for w in words if w.clause == number and {w.lemma, w.text.casefold()} & _BARRED), None)
        if barred is not None and not both.polarity_there.denials and not any(both.echo_back[i] for i in clause):
            told = " ".join(words[i].text for i in clause[:6])
            reason = f"nothing is said of what the reference forbids: “{told}” (“{barred.text}”)"
            yield Finding(check=NAME, severity=0.9, reason=reason, certain=True)
            continue
        demand = next((w for w in words if w.clause == number and ({w.lemma, w.text.casefold()} & _DEMANDS)), None)
        if demand is None or any(both.echo_back[i] for i in clause) or len(own) >= len(clause):
            continue
        told = " ".join(words[i].text for i in clause[:6])
        reason = f"what the reference demands is left out: “{told}” (“{demand.text}”)"
        yield Finding(check=NAME, severity=0.8, reason=reason, certain=True)


def _lost_items(both: Pair) -> Iterator[Finding]:
    """Items of a list that left no trace, while the one before or after them is told."""
    lists = list(listed(both.reference))
    if not lists:
        return
    own = sum(not w.fact for w in both.added)
    timed_here = {id(f) for f in timed(both.reference.facts, both.candidate.facts)}
    timed_here |= reckoned(both.reference, both.candidate)
    for items in lists:
        said = [any(both.echo_back[i] for i in item) for item in items]
        for at, item in enumerate(items[1:], start=1):
            beside = [k for k in (at - 1, at + 1) if k < len(items) and said[k]]
            few = len(items) > 2 or own <= len(item) + 1
            if (
                few
                and not said[at]
                and not any(id(both.reference.words[i].fact) in timed_here for i in item)
                and len(item) <= MOST
                and beside
                and not _put_otherwise(both, [i for k in beside for i in items[k]])
            ):
                told = " ".join(both.reference.words[i].text for i in item)
                severity = 1.0 if _granted_without(both, items) else 0.8
                yield Finding(check=NAME, severity=severity, reason=f"of a list is left out: “{told}”", certain=True)
                break


def _granted_without(both: Pair, items: list[list[int]]) -> bool:
    """Whether the items are what leave depends on, and the answer gives leave under a part of them."""
    start = both.reference.words[items[1][0]].start
    begin = max((m.end() for m in _SENTENCE_END.finditer(both.reference.plain, 0, start)), default=0)
    if not _DEPENDS.search(both.reference.plain, begin, start):
        return False
    first = opening(both.case.candidate)
    leave = first is not None and first.stance in (Stance.YES, Stance.MAY)
    return leave or bool(_ENOUGH.search(both.candidate.plain))


def _put_otherwise(both: Pair, beside: list[int]) -> bool:
    """Whether a word that the reference does not have is joined to the words of the neighbouring item."""
    words = both.candidate.words
    for at in (both.partner_back[i] for i in beside):
        if at is None:
            continue
        for step in (1, -1):
            k, joined = at + step, False
            while 0 <= k < len(words) and (not words[k].content or both.echo[k]):
                joined = joined or words[k].text in JOINTS or words[k].lemma in JOINTS
                if joined and words[k].function and words[k].lemma not in ARTICLES and words[k].lemma not in JOINTS:
                    break  # "and you will be fine" is no item
                k += step
            if joined and 0 <= k < len(words) and words[k].content and not both.echo[k]:
                return True
    return False


def lost_clauses(text: Text, echo: tuple[bool, ...], spare: frozenset[int] = frozenset()) -> list[list[int]]:
    """Clauses of at least two content words of which the other text has less than `KEPT`."""
    clauses: dict[int, list[int]] = {}
    for i, word in enumerate(text.words):
        if word.content and i not in spare:
            clauses.setdefault(word.clause, []).append(i)
    return [
        clause for clause in clauses.values()
        if len(clause) >= 2 and sum(echo[i] for i in clause) / len(clause) < KEPT
    ]  # fmt: skip
