"""Must, should, may, might, will: how binding and how certain a statement is."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Sequence
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from harness.fidelity.case import Finding
from harness.fidelity.checks.negation import double_negation
from harness.fidelity.reading.fact import same
from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.polarity import Polarity
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.tense import Stage, deeds
from harness.fidelity.reading.text import Text, Word, joined

NAME = "modality"
_FORCE = MappingProxyType(
    {
        "must": "must|have to|need to|required|require|mandatory|compulsory|obligatory|shall|obliged|necessary|essential|需要|必须|须|务必|必需|强制|必填|一定要",
        "should": "should|recommended|advisable|recommend|advise|encouraged|suggested|应该|建议|最好|推荐|宜",
        "may": "may|can|could|allowed|permitted|free to|可以|可|能|能够|允许",
        "might": "might|suspect|unproven|chance|possibly|maybe|perhaps|likely|probably|could|tentative|tentatively|may|可能|或许|也许|大概|有望|估计|恐怕|拟",
        "certain": "will|beyond doubt|beyond a doubt|established|proven|definitely|certainly|guaranteed|guarantee|surely|always|confirmed|一定|肯定|必定|保证|确保|绝对|必然|必将|确定",
    }
)
BINDING = frozenset({"must", "should", "may"})
SAME_CLAUSE = 0.6  # share of words from which two clauses tell the same
COPY = 0.7  # closeness from which a text is a copy, whose changes all tell; below, clauses are compared that share something
_PLANNED = frozenset(
    ["expected", "expect", "planned", "plan", "scheduled", "schedule", "due", "forecast", "will", "shall", "should", "be to", "be going to", "likely",
     "would", "set", "soon", "预计", "计划", "将", "将会", "将于", "拟", "会", "预定", "即将", "有望", "准备", "定于"]
)  # fmt: skip
_SCHEDULED = frozenset(
    ["will", "shall", "将", "将会", "将于", "会"]
)  # "leaves at 9" for "will leave at 9" tells no less
_OUTCOMES = (
    "approved|accepted|granted|rejected|declined|denied|refused|completed?|finished|done|resolved|fixed|repaired|shipped|delivered|arrived|paid|issued|"
    "closed|sent|ready|settled|refunded|cleared|signed|installed|published|concluded|passed|received|credited|restored|reactivated|processed|over"
)
_ONGOING = re.compile(
    r"\b(?:pending|in progress|in process|in transit|under (?:review|way|consideration|construction|investigation|maintenance|repair|discussion|negotiation|assessment|evaluation|examination)|"
    r"being \w+(?:ed|en|t)|(?:decision|question|matter|outcome|result|case|issue|application|request|answer)s? (?:is|are|remains?) (?:still |yet )?(?:open|outstanding)|ongoing|processing|await\w*|waiting (?:for|to|on)|yet to|to be (?:confirmed|decided)|on (?:its|the) way|out for delivery|undecided|not yet|(?:has|have|is|was|been|are|were) (?:passed|submitted|sent|filed|received)[^.;]{0,20}request|request\w*[^.;]{0,20}(?:passed|submitted|sent|filed|received|forwarded|made)|applied for|once (?:they|we|it|he|she|the) (?:is |are |has |have )?(?:confirm|approv|sign|accept|process|clear)\w*)\b"
    r"|正在|仍在|还在|尚在|正处于|(?:审核|处理|办理|审批|维修|配送|运输|派送|施工|调查|进行|排队|受理|谈判|等待|评估|检修|审理|洽谈|制作|考虑|路)[之途]?[中上]|还没有?|尚未|仍未|申请[^，。,]{0,4}提交|待(?:审|处理|定|付|发|确认|批|支付|解决)",
    re.IGNORECASE,
)
_DONE = re.compile(
    rf"\b(?:has|have|had|was|were|is|are|been|got|already|now)\s(?:[a-z]+\s){{0,2}}?(?:{_OUTCOMES})\b|\b(?:went|gone|came|come) (?:through|back)\b"
    r"|已经?被?[^，。,]{0,5}?(?:通过|完成|批准|拒绝|到账|送达|签收|发货|寄出|结束|修好|修复|恢复|上线|做完|修完|建成|开通|解决|办好|办结|退|付清|成功|驳回|发放|生效)|(?:审核|审批|申请)(?:通过|成功)",
    re.IGNORECASE,
)
_ASKS_LEAVE = re.compile(
    r"\b(?:can|may|could|might) (?:i|we|my|our|he|she|they|the|a|an|one|someone|somebody)\b|\b(?:allowed|permitted|ok(?:ay)? (?:to|if)|all right (?:to|if))\b",
    re.IGNORECASE,
)
_LEFT_OPEN = frozenset(["optional", "voluntary", "可选", "自愿", "选填"])
_NAMES = tuple((kind, frozenset(names.split("|"))) for kind, names in _FORCE.items())
_CLASH = MappingProxyType(
    {
        ("must", "should"): 0.9, ("must", "may"): 0.9, ("should", "must"): 0.9, ("may", "must"): 0.9, ("might", "certain"): 0.9,
        ("certain", "might"): 0.7, ("might", "must"): 0.9, ("should", "may"): 0.4, ("should", "certain"): 0.8, ("must", "free"): 1.0, ("free", "must"): 1.0,
        ("barred", "free"): 1.0, ("free", "barred"): 1.0, ("barred", "should"): 0.6,
    }
)  # fmt: skip


def check(both: Pair) -> list[Finding]:
    return [*_of_one_another(both), *_of_the_text(both)]


def _of_the_text(both: Pair) -> list[Finding]:
    ours, theirs = _forces(both.reference, both.polarity_here), _forces(both.candidate, both.polarity_there)
    found = []
    for (here, there), severity in _CLASH.items():
        if here in ours and here not in theirs and there in theirs and there not in ours:
            if (here, there) in (("may", "must"), ("must", "may")) and (limited(both) or double_negation(both)):
                continue  # "can only at the end" is "has to wait for the end"
            if _no_need_unless(both, here, there):
                continue
            if severity < 1.0 and both.closeness < COPY and _of_something_else(both, ours[here], theirs[there]):
                continue
            reason = f"“{theirs[there]}” is not as binding, or not as sure, as “{ours[here]}”"
            found.append(Finding(check=NAME, severity=severity, reason=reason))
    if not found and "might" in ours and not {"might", "may", "should", "must"} & theirs.keys() and not limited(both):
        reason = f"“{ours['might']}” is gone: what was possible is now said flatly"
        severity = 0.9 if both.closeness > COPY else 0.5
        found.append(Finding(check=NAME, severity=severity, reason=reason))
    unsure = "might" in theirs and not {"might", "may", "should"} & ours.keys()
    if not found and unsure and not _permits(both, theirs["might"]):
        found.append(
            Finding(
                check=NAME,
                severity=0.8 if both.closeness > COPY else 0.4,
                reason=f"“{theirs['might']}” makes uncertain what the reference says flatly",
            )
        )
    if not found:
        found += _aspect(both)
    if (
        not found
        and both.closeness > 0.6
        and (planned := _first(both.reference, _PLANNED))
        and not _first(both.candidate, _PLANNED)
        and (planned.casefold() not in _SCHEDULED or _tells_done(both.candidate))
    ):
        reason = f"“{planned}” is gone: what was planned is now told as done"
        found.append(Finding(check=NAME, severity=0.7, reason=reason))
    return found


class _Bound(NamedTuple):
    """A clause that is binding in one way: its other content words."""

    force: str
    word: str
    words: tuple[Word, ...]


def _of_one_another(both: Pair) -> list[Finding]:
    """Two clauses each as binding as the other is in the reference: who must may, and who may must."""
    here = _bound(both.reference, both.polarity_here)
    there = _bound(both.candidate, both.polarity_there) if len(here) > 1 else ()
    for one, other in combinations(here, 2):
        first, second = _told_of(one, there), _told_of(other, there)
        if first is None or second is None or one.force == other.force:
            continue
        if (first.force, second.force) == (other.force, one.force):
            reason = f"“{first.word}” is told of “{joined(one.words, 4)}” and “{second.word}” of “{joined(other.words, 4)}”: exchanged"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _told_of(one: _Bound, others: Sequence[_Bound]) -> _Bound | None:
    """The clause that says most of the words of `one`, and them alone; None where two do, or none does."""
    shares = sorted(((_shared(one.words, other.words), at) for at, other in enumerate(others)), reverse=True)
    if not shares or shares[0][0] < SAME_CLAUSE or (len(shares) > 1 and shares[1][0] == shares[0][0]):
        return None
    return others[shares[0][1]]


def _shared(words: Sequence[Word], others: Sequence[Word]) -> float:
    """Share of the words of either side that the other says, the smaller of both."""
    forth, back = (
        sum(any(alike(word, other) for other in there) for word in here) / len(here)
        for here, there in ((words, others), (others, words))
    )
    return min(forth, back)


@remembered
def _bound(text: Text, polarity: Polarity) -> tuple[_Bound, ...]:
    """The clauses that deny nothing and are binding in one way."""
    denying = {text.words[denial.at].clause for denial in polarity.denials if not denial.lexical}
    found = []
    for number in sorted({word.clause for word in text.words} - denying):
        clause = [word for word in text.words if word.clause == number]
        forces = {force: word.text for word in clause if (force := _force(word))}
        words = tuple(word for word in clause if word.content and not _force(word))
        if len(forces) == 1 and words:
            found.append(_Bound(*next(iter(forces.items())), words))
    return tuple(found)


def _force(word: Word) -> str:
    """How binding a word is; "" where it is not."""
    names = {word.text.casefold(), word.lemma}
    return next((kind for kind, members in _NAMES if kind in BINDING and not word.fact and names & members), "")


def _no_need_unless(both: Pair, here: str, there: str) -> bool:
    """ "It only needs to run above 55" is "there is no need for it to run unless it is above 55"."""
    if {here, there} != {"must", "free"}:
        return False
    needs, free = (both.reference, both.candidate) if here == "must" else (both.candidate, both.reference)
    return "only" in needs.said and not free.said.isdisjoint(("unless", "until", "except", "before"))


def _permits(both: Pair, word: str) -> bool:
    """Whether "may" gives leave: leave was asked for, and it is somebody's to do something."""
    if word.casefold() not in ("may", "can", "could") or not _ASKS_LEAVE.search(both.case.prompt):
        return False
    return (
        re.search(rf"\b{word} (?!be\b|have\b|not\b|take\b|still\b|well\b|only\b)[a-z]+", both.candidate.plain)
        is not None
    )


def _tells_done(text: Text) -> bool:
    return any(deed.stage is Stage.DONE for deed in deeds(text))


def _of_something_else(both: Pair, here: str, there: str) -> bool:
    """Whether the clauses of the two words share nothing: "you may appeal", "reports have to be in by then"."""
    clauses = [
        {w.clause for w in text.words if w.text == name}
        for text, name in ((both.reference, here), (both.candidate, there))
    ]
    ours, theirs = both.reference.words, both.candidate.words
    return not any(
        ours[i].content and ours[i].clause in clauses[0] and at is not None and theirs[at].clause in clauses[1]
        for i, at in enumerate(both.partner_back)
    )


def _aspect(both: Pair) -> list[Finding]:
    """What is under way in one text and over in the other."""
    here = _state(both.reference.plain)
    if not here.going and not here.done:
        return []
    there = _state(both.candidate.plain)
    if here.going and there.done and not (here.done or there.going or _denies(both.polarity_there)):
        reason = f"“{there.done}” tells as done what the reference tells as “{here.going}”"
        return [Finding(check=NAME, severity=0.9, reason=reason, certain=True)]
    if there.going and here.done and not (there.done or here.going or _denies(both.polarity_here)):
        reason = f"“{there.going}” leaves open what the reference tells as “{here.done}”"
        return [Finding(check=NAME, severity=0.7, reason=reason)]
    return []


def _denies(polarity: Polarity) -> bool:
    return any(not denial.lexical for denial in polarity.denials)


class _State(NamedTuple):
    """The words that tell of something under way, and of something over; "" where none do."""

    going: str
    done: str


@remembered
def _state(plain: str) -> _State:
    going, done = _ONGOING.search(plain), _DONE.search(_ONGOING.sub(" ", plain))
    return _State(going[0] if going else "", done[0] if done else "")


def _first(text: Text, words: frozenset[str]) -> str:
    """The first of `words` in a text; "" where there is none."""
    return next((w.text for w in text.words if {w.lemma, w.text.casefold()} & words), "")


_NO_MORE = re.compile(r"\bmay (?:be )?(?:no|neither) \w+er than\b", re.IGNORECASE)


def limited(both: Pair) -> bool:
    here, there = both.reference.facts, both.candidate.facts
    if any(a.bound and a.bound == b.bound and same(a, b) for a in here for b in there):
        return True  # "may weigh at most" is "must not weigh more than"
    if any(_NO_MORE.search(text.plain) for text in (both.reference, both.candidate)):
        return True  # "may be no warmer than" is "must be at most"
    return not (both.reference.said | both.candidate.said).isdisjoint(("only", "只能", "只", "仅", "只有"))


@remembered
def _forces(text: Text, polarity: Polarity) -> dict[str, str]:
    """Force -> word; with a negation, "barred" (must not, cannot) or "free" (need not)."""
    denied = {i for denial in polarity.denials for i in (denial.at, *denial.reach)}
    starts = {denial.at for denial in polarity.denials if not denial.lexical}
    found: dict[str, str] = {}
    for at, word in enumerate(text.words):
        names = {word.text.casefold(), word.lemma}
        if word.fact or (names.isdisjoint(_FORCEFUL) and word.lemma != "need"):
            continue
        for kind, members in _NAMES:
            if not names & members:
                continue
            negated = at in denied or any(i in starts for i in (at + 1, at - 1, at - 2) if i >= 0)
            if not negated:
                found.setdefault(kind, word.text)
            elif kind == "must":
                barred = names & {"must", "shall"} and at + 1 in starts
                found.setdefault("barred" if barred else "free", word.text)
            elif kind == "may":
                found.setdefault("barred", word.text)
        if names & _LEFT_OPEN or (word.lemma == "need" and at + 1 in starts):
            found.setdefault("free", word.text)
        if names & _FREE_ZH:
            found.setdefault("free", word.text)
        if names & _BARRED_ZH:
            found.setdefault("barred", word.text)
    return found


_FREE_ZH = frozenset(["无需", "不必", "不用", "不需要", "无须", "免"])
_BARRED_ZH = frozenset(["禁止", "不得", "不能", "不可", "不准", "不许", "严禁", "不可以"])
_FORCEFUL = frozenset[str]().union(_LEFT_OPEN, _FREE_ZH, _BARRED_ZH, *(members for _, members in _NAMES))
