"""Negation and polarity: what one text denies, the other has to deny too."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.case import Finding
from harness.fidelity.reading.comparisons import compares, same_order
from harness.fidelity.reading.demands import demand_kept
from harness.fidelity.reading.fact import same
from harness.fidelity.reading.implicit_negation import said_otherwise
from harness.fidelity.reading.least_or_most import denied_bound
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.outcomes import same_state
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.polarity import Denial, Polarity, affix_base
from harness.fidelity.reading.reckoning import complements
from harness.fidelity.reading.successors import succession
from harness.fidelity.reading.text import Text, Word
from harness.fidelity.reading.vacancies import same_places

NAME = "negation"
_OUTCOMES = frozenset(  # how something ended badly
    [
        "fail",
        "failed",
        "failure",
        "reject",
        "rejected",
        "decline",
        "declined",
        "refuse",
        "refused",
        "deny",
        "denied",
        "cancel",
        "cancelled",
        "canceled",
        "expired",
        "expire",
        "sold out",
        "out of stock",
        "unsuccessful",
        "void",
        "ban",
        "banned",
        "prohibit",
        "prohibited",
        "forbidden",
        "illegal",
        "失败",
        "拒绝",
        "取消",
        "缺货",
        "售罄",
        "失效",
        "过期",
        "无效",
        "驳回",
        "作废",
        "禁止",
        "关闭",
        "停用",
    ]
)
_NO_SUCH = re.compile(
    r"\b(?:does|do|did) not exist\b|\bno (?:such|matching)\b|\b(?:no|not any) (?:record|order|booking|account|entry (?:of|in|with|found)|reservation|ticket|customer|trace)s?\b|\b(?:not|never) (?:found|on (?:file|record))\b"
    r"|不存在|查无|没有(?:找到|查到|该|这个|此)|未(?:找到|查到)",
    re.IGNORECASE,
)
_SET_APART = frozenset(
    [
        "except",
        "except for",
        "excluding",
        "other than",
        "apart from",
        "aside from",
        "with the exception of",
        "but for",
        "excepted",
        "but",
        "除",
        "除了",
        "除外",
        "排除",
    ]
)
_INSTEAD = frozenset(["rather than", "instead of", "而不是", "而非"])
_REST = frozenset(["other", "else", "rest", "remaining", "其他", "其余", "其它", "别的"])
_NONE = frozenset(["none", "no", "nobody", "no one", "neither", "nothing", "没有", "无"])
_ALL = frozenset(["all", "every", "everyone", "everybody", "each", "both", "everything", "都", "均", "所有", "全部"])
_BARRED_WITHOUT = re.compile(  # 没有事先约好的人，是进不了的
    r"(?:没有?|未|不)[^，。；,]{1,12}(?:(?:的人?|者|的话)[，,]|[，,](?:就|是|谁也|一律|都))[^，。；,]{0,10}(?:不了|不能|不得|不可|无法|不准|不许|别想|不让|不予)"
)
APART = 0.5  # closeness under which texts that deny as often are taken to deny the same
COPY = 0.8  # closeness from which a text is a copy
SPOKEN_OF = 0.6  # share of what is denied from which the other text speaks of it
PAIRED = 0.4  # what is left of a severity then
_CLOSED = frozenset(["close", "closed", "shut", "关门", "打烊", "闭馆", "关闭"])
_UNTIL = frozenset(["until", "till", "到", "至"])
_ONLY = frozenset(["only", "只有", "仅", "只", "才", "只能", "仅限", "仅能", "只可", "唯一", "只限"])
_BEFORE = frozenset(["before", "early", "earlier", "earlier than", "until", "之前", "以前", "前", "早于"])
_ONWARDS = frozenset(
    ["from", "start", "begin", "open", "after", "once", "later", "起", "开始", "以后", "之后", "后", "才"]
)
_UNTIL_THEN = frozenset(["until", "till", "before", "之前", "以前", "前"])
_STEPS = frozenset(
    ["before", "after", "first", "once", "then", "until", "only", "先", "再", "之后", "以后", "之前", "以前", "才"]
)
_IF = frozenset(["if", "如果", "若", "要是", "假如"])
_UNLESS = frozenset(["unless", "除非"])
_ALLOW = frozenset(["allow", "允许", "可以"])
_BINDING = frozenset(
    [
        "must",
        "have to",
        "need",
        "need to",
        "require",
        "required",
        "mandatory",
        "compulsory",
        "always",
        "every",
        "each",
        "all",
        "everyone",
        "everybody",
        "any",
        "shall",
        "only",
        "can",
        "possible",
        "obliged",
        "invariably",
        "必须",
        "须",
        "必",
        "都",
        "均",
        "所有",
        "每",
        "每个",
        "每位",
        "全部",
        "一定",
        "一律",
        "务必",
        "要",
        "需要",
        "需",
        "会",
        "肯定",
        "可以",
        "能",
    ]
)
_COORDINATES = frozenset(
    ["and", "or", "nor", "neither", ",", "，", "、", ";", "；", "也", "且", "并", "和", "或", "既", "又"]
)
_YES = frozenset(["yes", "是", "是的", "可以", "能", "对"])
_NO = frozenset(["no", "不", "不是", "不可以", "不能", "否"])


class Side(NamedTuple):
    """One text, what it denies, and the words of the other text that its words stand for."""

    text: Text
    polarity: Polarity
    partner: tuple[int | None, ...]


def check(both: Pair) -> list[Finding]:
    here = Side(both.reference, both.polarity_here, both.partner_back)
    there = Side(both.candidate, both.polarity_there, both.partner)
    found = [*_answer_word(both), *_no_such_thing(both), *_undone_told(both)]
    if _only_instead(both) or double_negation(both):
        return found
    if demand_kept(both) is False and not both.polarity_here.denied:
        reason = "the answer grants without it what the reference refuses without it"
        return [*found, Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    lost, new = _unshared(both, here, there)
    crossed = [(one, other) for one, _ in lost for other, _ in new if exchanged(one, other, here, there)]
    if crossed:
        reason = f"{_quoted(here.text, crossed[0][0])} is denied in the reference, {_quoted(there.text, crossed[0][1])} in the answer"
        return [*found, Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    odd = (len(both.polarity_here.denials) - len(both.polarity_there.denials)) % 2
    if not lost and not new and odd and both.closeness > COPY:
        found.append(
            Finding(check=NAME, severity=1.0, reason="one text denies once more than the other, in the same words")
        )
    again = len(lost) + len(new) == 1 and bool(both.polarity_here.denials) and bool(both.polarity_there.denials)
    if (len(lost) == len(new) or again) and both.closeness < APART:
        # "no date is set" for "they have not said when"; "you can't, it's forbidden" for "it is not allowed"
        both_flat = min(max((s for _, s in side), default=0.0) for side in (lost, new)) >= 1.0
        if not both_flat:  # "A, not B" for "B, not A" is no other wording
            lost, new = ([(denial, PAIRED * severity) for denial, severity in side] for side in (lost, new))
    for denial, severity in lost:
        if _bound_turned(here, there, denial):
            continue
        reason = f"{_quoted(here.text, denial)} is no longer denied"
        found.append(
            Finding(check=NAME, severity=severity, reason=reason, certain=severity >= 1.0 and _sure(denial, here))
        )
    for denial, severity in new:
        if _bound_turned(there, here, denial):
            continue
        reason = f"{_quoted(there.text, denial)} denies what the reference does not"
        found.append(
            Finding(check=NAME, severity=severity, reason=reason, certain=severity >= 1.0 and _sure(denial, there))
        )
    return found


def _unshared(both: Pair, here: Side, there: Side) -> tuple[list[tuple[Denial, float]], list[tuple[Denial, float]]]:
    """Denials of either side that the other does not share, each with how much speaks for a contradiction."""
    if demand_kept(both) or _same_succession(both) or _counted_otherwise(both):
        return [], []
    lost, new = list(_unmatched(here, there)), list(_unmatched(there, here))
    if same_order(both.reference, both.candidate):  # "no plan is cheaper than A" is "A is the cheapest"
        lost = [(denial, s) for denial, s in lost if not compares(both.reference, denial.at)]
        new = [(denial, s) for denial, s in new if not compares(both.candidate, denial.at)]
    return lost, new


def _counted_otherwise(both: Pair) -> bool:
    """ "three quarters are reserved" is "a quarter is not"; "18 of 30 are taken" is "12 are still free"."""
    places = same_places(both.reference, both.candidate)
    return bool(places and places[0]) or complements(both.reference, both.candidate)


def _sure(denial: Denial, own: Side) -> bool:
    """Whether the other text speaks of most of what is denied, or a word denies by itself what the other text says."""
    said = sum(own.partner[i] is not None for i in denial.reach)
    return bool(denial.bases) or said >= SPOKEN_OF * len(denial.reach) > 0


def double_negation(both: Pair) -> bool:
    """ "no driver may go without a belt" is "every driver must wear a belt": two denials of one clause against none."""
    for one, text, other, plain in (
        (both.polarity_here, both.reference, both.polarity_there, both.candidate),
        (both.polarity_there, both.candidate, both.polarity_here, both.reference),
    ):
        if other.denials or len(one.denials) != 2 or not any(w.lemma in _BINDING for w in plain.words):
            continue
        first, second = one.denials
        joined = any(w.lemma in _COORDINATES or w.text in _COORDINATES for w in text.words[first.at : second.at])
        if not joined and text.words[first.at].clause == text.words[second.at].clause:
            return True
        if _BARRED_WITHOUT.search(text.plain):
            return True
    return False


def _bound_turned(own: Side, other: Side, denial: Denial) -> bool:
    """ "not with fewer than 24 hours" is "with at least 24 hours": the denied bound is the other one."""
    facts = [own.text.words[i].fact for i in denial.clause]
    return any(
        fact is not None
        and same(fact, rival)
        and (
            fact.bound * rival.bound < 0
            or (
                fact.bound * rival.bound > 0
                and denied_bound(fact, own.text.plain) != denied_bound(rival, other.text.plain)
            )
        )
        for fact in facts
        for rival in other.text.facts
    )


def _only_instead(both: Pair) -> bool:
    """ "not without your consent" is "only with your consent"."""
    for one, other, text in (
        (both.polarity_here, both.polarity_there, both.candidate),
        (both.polarity_there, both.polarity_here, both.reference),
    ):
        if len(one.denials) >= 2 and not other.denials and any(word.lemma in _ONLY for word in text.words):
            return True
    return False


def _answer_word(both: Pair) -> list[Finding]:
    first, second = (next((w.text.casefold() for w in t.words), "") for t in (both.reference, both.candidate))
    marked = all(len(t.words) > 1 and t.words[1].mark for t in (both.reference, both.candidate))
    if marked and ((first in _YES and second in _NO) or (first in _NO and second in _YES)):
        return [
            Finding(check=NAME, severity=1.0, reason=f"the answer begins with “{second}”, the reference with “{first}”")
        ]
    return []


def _no_such_thing(both: Pair) -> list[Finding]:
    """The thing asked about does not exist, where the reference tells of it."""
    said = _NO_SUCH.search(both.candidate.plain)
    if said and not _NO_SUCH.search(both.reference.plain) and not both.polarity_here.denials:
        return [Finding(check=NAME, severity=1.0, reason=f"“{said[0]}”, and the reference tells of it")]
    return []


def _undone_told(both: Pair) -> list[Finding]:
    """ "It is not unsafe" against "it is dangerous"."""
    words = lexicon(both.reference.lang)
    for text, said, other, rival in (
        (both.reference, both.polarity_here, both.candidate, both.polarity_there),
        (both.candidate, both.polarity_there, both.reference, both.polarity_here),
    ):
        for at in said.undone:
            base = affix_base(text.words[at].text.casefold())
            told = [w for i, w in enumerate(other.words) if words.opposed(base, w.lemma) and i not in rival.denied]
            if told and not {w.lemma for w in other.words} & {base}:
                reason = f"“{told[0].text}” in one text, “not {text.words[at].text}” in the other"
                return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _same_succession(both: Pair) -> bool:
    """ "A replaced B" is "B no longer does it; A is the successor"."""
    here, there = succession(both.reference), succession(both.candidate)
    return here is not None and here == there


def _quoted(text: Text, denial: Denial) -> str:
    around = " ".join(text.words[i].text for i in (denial.reach or denial.clause)[:4])
    return f"“{text.words[denial.at].text}” ({around})"


def _unmatched(own: Side, other: Side) -> Iterator[tuple[Denial, float]]:
    """Denials that the other text does not share, each with how much speaks for a contradiction, in [0, 1]."""
    rivals = list(other.polarity.denials)
    left: list[Denial] = []
    for denial in own.polarity.denials:
        if denial.lexical and own.partner[denial.at] is not None:
            rivals = [r for r in rivals if r.at != own.partner[denial.at]]
            unless = any(w.lemma in ("unless", "除非") for w in (*own.text.words, *other.text.words))
            if own.partner[denial.at] in other.polarity.undone and not unless:
                yield denial, 1.0
            continue
        shared = [r for r in other.polarity.denials if _same_reach(denial, r, own, other)]
        if shared:
            if all(_moved(denial, r, own, other) for r in shared):
                yield denial, 1.0
            rivals = [r for r in rivals if not _same_reach(denial, r, own, other)]
        elif not _said_by_opposite(denial, own, other):
            left.append(denial)
    for denial in left:
        if any(exchanged(denial, r, own, other) for r in rivals):
            yield denial, 1.0
            continue
        rival = next((r for r in rivals if _same_word(denial, r, own, other)), None)
        rival = rival or next((r for r in rivals if _same_clause(denial, r, own)), None)
        if rival is not None:
            rivals.remove(rival)
        else:
            severity = _severity(denial, own, other)
            if severity:
                yield denial, severity


def _severity(denial: Denial, own: Side, other: Side) -> float:
    if own.text.words[denial.at].lemma in _SET_APART and any(w.lemma in _REST for w in other.text.words):
        return 0.0  # "all except these" is "these are not; all others are"
    if (
        own.text.words[denial.at].lemma in _NONE
        and any(w.lemma in _ALL for w in other.text.words)
        and other.polarity.denials
    ):
        return 0.2
    denied_there = other.polarity.denied
    free = [(i, word) for i, word in enumerate(other.text.words) if i not in denied_there]
    if any(_means(word, base, other.text) for _, word in free for base in denial.bases):
        until = own.text.words[denial.at].lemma in _CLOSED and any(word.lemma in _UNTIL for _, word in free)
        until = until and not any(word.lemma in _UNTIL for word in own.text.words) and bool(own.text.facts)
        return 0.0 if until else 1.0
    if same_state(own.text, other.text):
        return 0.0
    if denial.lexical:
        word = own.text.words[denial.at]
        return 0.8 if {word.lemma, word.text.casefold()} & _OUTCOMES and not other.polarity.denials else 0.35
    if said_otherwise(denial, own.text, other.text):
        return 0.0
    if _only_then(denial, own.text, other.text):
        return 0.2
    if _from_then_on(denial, own.text, other.text) or _if_not(denial, own.text, other.text):
        return 0.0
    reached = [own.partner[i] for i in denial.reach]
    if any(i is not None and i not in denied_there for i in reached):
        return 1.0
    return 0.7 if any(own.partner[i] is not None for i in denial.clause) else 0.4


def _from_then_on(denial: Denial, own: Text, other: Text) -> bool:
    """ "not before 3 pm" is "from 3 pm"."""
    near = {word.lemma for word in own.words[denial.at + 1 :]}
    there = {word.lemma for word in other.words}
    return bool(near & _BEFORE and there & _ONWARDS and not there & _BEFORE)


def _only_then(denial: Denial, own: Text, other: Text) -> bool:
    """ "do not touch it until it is clean" is "clean it before you touch it"."""
    near = {word.lemma for word in own.words[denial.at + 1 :]}
    return bool(near & _UNTIL_THEN) and any(word.lemma in _STEPS for word in other.words)


def _if_not(denial: Denial, own: Text, other: Text) -> bool:
    """ "if you do not reply" is "unless you reply"."""
    clause = own.words[denial.at].clause
    conditional = any(word.lemma in _IF for word in own.words if word.clause == clause)
    return (
        conditional and any(w.lemma in _UNLESS for w in other.words) and not any(w.lemma in _UNLESS for w in own.words)
    )


def _same_reach(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Both deny one thing: a word of the reach is shared, or the same opposite is meant."""
    reach = {own.partner[i] for i in denial.reach} - {None}
    if not denial.lexical and not rival.lexical:
        if reach & {*rival.reach}:
            return True
    elif denial.lexical != rival.lexical:
        lexical, plain, text = (denial, rival, other.text) if denial.lexical else (rival, denial, own.text)
        if any(_means(text.words[i], base, text) for base in lexical.bases for i in plain.reach):
            return True
        if lexical.bases & _ALLOW and _shares(lexical, plain, own if denial.lexical else other):
            return True
    return bool(denial.bases & rival.bases)


def _shares(lexical: Denial, plain: Denial, side: Side) -> bool:
    """A ban denies what its clause speaks of: "parking is prohibited", "do not park"."""
    return any(side.partner[i] in plain.reach for i in lexical.clause if side.partner[i] is not None)


def _moved(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Both deny the same verb, each of what the other text asserts it: "refunds A but not B", "refunds B but not A"."""
    lost = _asserted(denial, rival, own, other)
    new = _asserted(rival, denial, other, own)
    if not denial.lexical and not rival.lexical and not lost and not new:  # "post; e-mail is not accepted"
        lost = [i for i in denial.clause if own.partner[i] is not None and own.partner[i] not in rival.clause]
        new = [i for i in rival.clause if other.partner[i] is not None and other.partner[i] not in denial.clause]
    return any(own.text.words[i].lemma == other.text.words[own.partner[i] or 0].lemma for i in lost) and any(
        other.text.words[i].lemma == own.text.words[other.partner[i] or 0].lemma for i in new
    )


def exchanged(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Whether each text denies what the other tells: "a calculator but no phone", "a phone but no calculator"."""
    return _told(denial, rival, own, other) and _told(rival, denial, other, own)


def _told(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    scope = {*rival.reach} if other.text.words[rival.at].lemma in _INSTEAD else {*rival.reach, *rival.clause}
    at = [own.partner[i] for i in denial.reach]
    return any(i is not None and i not in scope and i not in other.polarity.denied for i in at)


def _asserted(denial: Denial, rival: Denial, own: Side, other: Side) -> list[int]:
    """Words denied here that the other text tells, in another clause than its own denial."""
    clause = other.text.words[rival.at].clause
    partners = [(i, own.partner[i]) for i in denial.reach]
    return [
        i
        for i, at in partners
        if at is not None and at not in other.polarity.denied and other.text.words[at].clause != clause
    ]


def _same_word(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Both deny with one word, and neither text tells what the other denies: "without consent", "without your leave"."""
    if own.text.words[denial.at].lemma != other.text.words[rival.at].lemma:
        return False
    return not any(own.partner[i] is not None for i in denial.reach) and not any(
        other.partner[i] is not None for i in rival.reach
    )


def _same_clause(denial: Denial, rival: Denial, own: Side) -> bool:
    """Both stand in clauses that speak of the same things."""
    clause = {own.partner[i] for i in denial.clause} - {None}
    return bool(clause & set(rival.clause))


def _said_by_opposite(denial: Denial, own: Side, other: Side) -> bool:
    """ "not open" is said by "closed"."""
    words = lexicon(own.text.lang)
    names = {own.text.words[i].lemma for i in denial.reach} | denial.bases
    return any(
        words.opposed(name, word.lemma) or words.opposed(name, word.text.casefold())
        for name in names
        for i, word in enumerate(other.text.words)
        if i not in other.polarity.denied and not word.fact and other.partner[i] is None
    )


def _means(word: Word, base: str, text: Text) -> bool:
    if word.lemma in (base, lexicon(text.lang).lemma(base)) or word.text.casefold() == base:
        return True
    concepts = lexicon(text.lang).groups.get(base)
    return bool(
        concepts and not word.fact and not concepts.isdisjoint(lexicon(text.lang).groups.get(word.lemma, frozenset()))
    )
