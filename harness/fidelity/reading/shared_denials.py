"""Which denials of one text the other shares, by the same word, an opposite, an outcome, or without a denial at all."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.reading.denials_en import only_not
from harness.fidelity.reading.equal_denials import equally_said
from harness.fidelity.reading.implicit_negation import said_otherwise
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.outcomes import same_state
from harness.fidelity.reading.pair import alike
from harness.fidelity.reading.polarity import Denial, Polarity
from harness.fidelity.reading.text import Text, Word

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
_EXCEPTION = frozenset(["exception", "例外"])
_NONE = frozenset(["none", "no", "nobody", "no one", "neither", "nothing", "没有", "无"])
_ALL = frozenset(["all", "every", "everyone", "everybody", "each", "both", "everything", "都", "均", "所有", "全部"])
_CLOSED = frozenset(["close", "closed", "shut", "关门", "打烊", "闭馆", "关闭"])
_UNTIL = frozenset(["until", "till", "到", "至"])
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
_CONVERSE = frozenset(  # the same deed from the other side: who may not buy is not barred by a sale
    ["买", "购买", "买入", "采购", "买进", "卖", "出售", "卖出", "销售", "售出", "借给", "借出", "借入", "借来"]
)
_ALLOW = frozenset(["allow", "允许", "可以"])


MOST = 200  # denials of a text that are compared; an answer of several pages has fewer


class Side(NamedTuple):
    """One text, what it denies, and the words of the other text that its words stand for."""

    text: Text
    polarity: Polarity
    partner: tuple[int | None, ...]


def unmatched(own: Side, other: Side) -> Iterator[tuple[Denial, float]]:
    """Denials that the other text does not share, each with how much speaks for a contradiction, in [0, 1].

    Of a text with more than `MOST` the first ones: each is held against each of the other text.
    """
    rivals = list(other.polarity.denials[:MOST])
    left: list[Denial] = []
    for denial in own.polarity.denials[:MOST]:
        if denial.lexical and own.partner[denial.at] is not None:
            rivals = [r for r in rivals if r.at != own.partner[denial.at]]
            unless = not (own.text.said | other.text.said).isdisjoint(("unless", "除非"))
            if own.partner[denial.at] in other.polarity.undone and not unless:
                yield denial, 1.0
            continue
        if _told_as_unless(denial, own.text, other.text):
            continue
        shared = [r for r in other.polarity.denials[:MOST] if _same_reach(denial, r, own, other)]
        if shared:
            if all(_moved(denial, r, own, other) and not _same_thing(denial, r, own, other) for r in shared):
                yield denial, 1.0
            rivals = [r for r in rivals if not _same_reach(denial, r, own, other)]
        elif not _said_by_opposite(denial, own, other) and not equally_said(denial, own.text, other.text):
            left.append(denial)
    turned = [r for r in rivals if not equally_said(r, other.text, own.text)]
    for denial in left:
        if any(exchanged(denial, r, own, other) for r in turned) and not same_state(own.text, other.text):
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
    if own.text.words[denial.at].lemma in _SET_APART and any(
        w.lemma in _REST
        or (w.lemma in _EXCEPTION and i not in other.polarity.denied)
        or (w.lemma == "only" and only_not(other.text, i))
        for i, w in enumerate(other.text.words)
    ):
        return 0.0  # "all except these" is "these are not; all others are"
    if own.text.words[denial.at].lemma in _NONE and not other.text.said.isdisjoint(_ALL) and other.polarity.denials:
        return 0.2
    if denial.lexical and same_state(own.text, other.text):
        return 0.0
    denied_there = other.polarity.denied
    free = [(i, word) for i, word in enumerate(other.text.words) if i not in denied_there]
    if any(_means(word, base, other.text) for _, word in free for base in denial.bases):
        until = own.text.words[denial.at].lemma in _CLOSED and any(word.lemma in _UNTIL for _, word in free)
        until = until and own.text.said.isdisjoint(_UNTIL) and bool(own.text.facts)
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
    if _from_then_on(denial, own.text, other.text) or _told_as_unless(denial, own.text, other.text):
        return 0.0
    reached = [own.partner[i] for i in denial.reach]
    if any(i is not None and i not in denied_there for i in reached):
        return 1.0
    return 0.7 if any(own.partner[i] is not None for i in denial.clause) else 0.4


def _from_then_on(denial: Denial, own: Text, other: Text) -> bool:
    """ "not before 3 pm" is "from 3 pm"."""
    near = {word.lemma for word in own.words[denial.at + 1 :]}
    return bool(near & _BEFORE and other.said & _ONWARDS and not other.said & _BEFORE)


def _only_then(denial: Denial, own: Text, other: Text) -> bool:
    """ "do not touch it until it is clean" is "clean it before you touch it"."""
    near = {word.lemma for word in own.words[denial.at + 1 :]}
    return bool(near & _UNTIL_THEN) and not other.said.isdisjoint(_STEPS)


def _told_as_unless(denial: Denial, own: Text, other: Text) -> bool:
    """ "if you do not reply" is "unless you reply"."""
    clause = own.words[denial.at].clause
    if other.said.isdisjoint(_UNLESS) or not own.said.isdisjoint(_UNLESS):
        return False
    return any(word.lemma in _IF for word in own.words if word.clause == clause)


def _same_reach(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Both deny one thing: a word of the reach is shared, or the same opposite is meant."""
    reach = {own.partner[i] for i in denial.reach} - {None}
    if not denial.lexical and not rival.lexical:
        if reach & {*rival.reach} or _alike_reach(denial, rival, own.text, other.text):
            return True
    elif denial.lexical != rival.lexical:
        lexical, plain, text = (denial, rival, other.text) if denial.lexical else (rival, denial, own.text)
        if any(_means(text.words[i], base, text) for base in lexical.bases for i in plain.reach):
            return True
        if lexical.bases & _ALLOW and _shares(lexical, plain, own if denial.lexical else other):
            return True
    return bool(denial.bases & rival.bases) or _same_thing(denial, rival, own, other)


def _alike_reach(denial: Denial, rival: Denial, one: Text, other: Text) -> bool:
    """Both deny two of the same words at least, wherever else these are said: "no normal milk", "ordinary milk won't do"."""
    said = sum(any(alike(one.words[i], other.words[j]) for j in rival.reach) for i in denial.reach)
    return said >= 2 and 2 * said >= min(len(denial.reach), len(rival.reach))


def _same_thing(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Both say that one thing is not there: "no note is needed", "you can do without a doctor's note"."""
    one, two = _lacking(denial, own.text), _lacking(rival, other.text)
    return bool(one) and one == two


def _lacking(denial: Denial, text: Text) -> str:
    """The noun that "no" or "without" takes away; "" for other denials."""
    if text.words[denial.at].lemma not in _NO_SUCH:
        return ""
    name = ""
    for word in text.words[denial.at + 1 :]:
        if word.text in ("'", "s"):
            continue
        if word.mark or word.fact or (name and not word.content):
            break
        name = word.lemma if word.content else name
    return name


_NO_SUCH = frozenset(["no", "without", "do without", "go without", "lack", "neither"])


def _shares(lexical: Denial, plain: Denial, side: Side) -> bool:
    """A ban denies what its clause speaks of: "parking is prohibited", "do not park"."""
    return any(side.partner[i] in plain.reach for i in lexical.clause if side.partner[i] is not None)


def _moved(denial: Denial, rival: Denial, own: Side, other: Side) -> bool:
    """Both deny the same verb, each of what the other text asserts it: "refunds A but not B", "refunds B but not A"."""
    if {own.text.words[denial.at].lemma, other.text.words[rival.at].lemma} <= _SET_APART:
        return False  # what is set apart is all that such a word denies
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
    scope |= _beside(rival, other.text)
    at = [own.partner[i] for i in denial.reach]
    english = other.text.lang == "en"
    again = {other.text.words[i].lemma for i in (*scope, *other.polarity.denied) if english}  # said more than once
    return any(
        i is not None and i not in scope and i not in other.polarity.denied and other.text.words[i].lemma not in again
        for i in at
    )


def _beside(denial: Denial, text: Text) -> set[int]:
    """Words set off by commas that tell when or where the clause of a denial holds: ", during tonight's maintenance"."""
    clause = text.words[denial.at].clause
    found = {i for i, w in enumerate(text.words) if w.clause == clause + 1}
    first = next((text.words[i].lemma for i in sorted(found) if not text.words[i].mark), "")
    tells = any(text.words[i].lemma in _VERBAL for i in found)
    return set() if tells or first not in _WHEN_OR_WHERE else found


_WHEN_OR_WHERE = frozenset(
    ["during", "at", "on", "in", "from", "between", "by", "until", "for", "throughout", "after", "before", "within"]
)
_VERBAL = frozenset(
    [
        "be",
        "is",
        "are",
        "was",
        "were",
        "will",
        "can",
        "may",
        "must",
        "have",
        "has",
        "do",
        "does",
        "should",
        "you",
        "we",
        "they",
        "it",
        "which",
        "who",
    ]
)


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
    names = ({own.text.words[i].lemma for i in denial.reach} | denial.bases) - _CONVERSE
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
