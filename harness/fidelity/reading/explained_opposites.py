"""Opposites that say the same by what stands around them: "open until 10" for "closes at 10", "A is dearer than B" for "B is cheaper"."""

# ruff: noqa: E501 (word lists stay whole)

from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.polarity import Polarity, polarity
from harness.fidelity.reading.reversal import PRONOUNS
from harness.fidelity.reading.text import Text, Word

_UNTIL = frozenset(["until", "till", "到", "至"])
_CLOSED = frozenset(["close", "closed", "shut", "关门", "打烊", "闭馆", "关闭"])
_OPEN = frozenset(["open", "营业", "开放", "开门"])


def explained(both: Pair, i: int, j: int) -> bool:
    """Whether what stands around two opposites makes the same of them."""
    one, other = both.reference.words[i], both.candidate.words[j]
    return (
        _open_until(both, one, other)
        or _by_whom(both.reference, i)
        or _by_whom(both.candidate, j)
        or _from_for_until(both, i, j)
        or _other_party(both, i, j)
        or _at_one_edge(both, i, j)
        or _noun_and_verb(both, i, j)
        or _not_without(both, i, j)
        or _told_backwards(both, i, j)
    )


def _at_one_edge(both: Pair, i: int, j: int) -> bool:
    """ "in week 12 at the earliest" is "in week 12 or later"."""
    phrases = [_phrase_before(both.reference, i), _phrase_before(both.candidate, j)]
    return {*phrases} in _ONE_EDGE


def _phrase_before(text: Text, at: int) -> str:
    before = [w.text.casefold() for w in text.words[max(0, at - 2) : at]]
    word = text.words[at].text.casefold()
    return f"at the {word}" if before == ["at", "the"] else f"or {word}" if before[-1:] == ["or"] else word


_ONE_EDGE = (
    {"at the earliest", "or later"}, {"at the earliest", "or after"}, {"at the latest", "or earlier"}, {"at the latest", "or before"},
    {"at the latest", "or sooner"},
)  # fmt: skip


def _noun_and_verb(both: Pair, i: int, j: int) -> bool:
    """Whether one of two opposites is a noun and the other a verb: "your speed falls" and "you are slowed"."""
    if {both.reference.words[i].lemma, both.candidate.words[j].lemma} <= _CHANGES:
        return False
    nouns = [_is_noun(both.reference, i), _is_noun(both.candidate, j)]
    verbs = [_is_verb(both.reference, i), _is_verb(both.candidate, j)]
    return (nouns[0] and verbs[1]) or (nouns[1] and verbs[0])


def _is_noun(text: Text, at: int) -> bool:
    before = text.words[at - 1].text.casefold() if at else ""
    after = text.words[at + 1 : at + 2]
    alone = not after or after[0].mark or not after[0].content or after[0].text.endswith(("s", "ed"))
    return before in _DETERMINERS and alone


def _is_verb(text: Text, at: int) -> bool:
    before = text.words[at - 1] if at else None
    inflected = text.words[at].text.endswith(("s", "ed", "ing"))
    return inflected and before is not None and not before.mark and before.text.casefold() not in _DETERMINERS


_CHANGES = frozenset(
    [
        "rise",
        "fall",
        "increase",
        "decrease",
        "drop",
        "growth",
        "grow",
        "decline",
        "gain",
        "loss",
        "lose",
        "shrink",
        "climb",
    ]
)
_DETERMINERS = frozenset(
    ["the", "a", "an", "your", "our", "my", "his", "her", "their", "its", "this", "that", "each", "every"]
)


def _not_without(both: Pair, i: int, j: int) -> bool:
    """ "only with a pass" is "not without a pass", "with the nuts left out" is "without the nuts"."""
    sides = (both.reference, both.polarity_here, i), (both.candidate, both.polarity_there, j)
    for (text, said, at), (other, _, there) in (sides, sides[::-1]):
        if text.words[at].lemma == "without" and other.words[there].lemma == "with":
            left_out = any(d.lexical and "include" in d.bases for d in polarity(other).denials)
            return left_out or (_under_denial(text, said, at) and not other.said.isdisjoint(_NEEDS))
    return False


_NEEDS = frozenset(["only", "must", "have to", "need", "need to", "required", "require"])


def _told_backwards(both: Pair, i: int, j: int) -> bool:
    """ "A is harder to build than B" is "B is easier (than A)": what the one is measured by is what the other tells of."""
    sides = (both.reference, i, both.partner_back), (both.candidate, j, both.partner)
    for (text, at, partner), (other, there, _) in (sides, sides[::-1]):
        measure = _measure(text, at)
        if measure is None or partner[measure] is None:
            continue
        clause = other.words[there].clause
        told = [k for k in range(there) if other.words[k].clause == clause and other.words[k].content]
        subject = [
            k for k, w in enumerate(text.words[:at]) if w.clause == text.words[at].clause and w.content and k != measure
        ]
        moved = [partner[k] for k in subject]
        return partner[measure] in told and not any(
            k in told and k < (partner[measure] or 0) for k in moved if k is not None
        )
    return False


def _measure(text: Text, at: int) -> int | None:
    """The first content word of what the word at `at` measures by: after "than" or the preposition, between 比 and the word."""
    words = text.words
    if text.lang == "zh":
        than = next(
            (k for k in range(at - 1, -1, -1) if words[k].text == "比" and words[k].clause == words[at].clause), None
        )
        return None if than is None else next((k for k in range(than + 1, at) if words[k].content), None)
    relation = words[at].lemma in _RELATIONS
    begin = (
        at if relation else next((k for k in range(at + 1, min(len(words), at + 6)) if words[k].text == "than"), None)
    )
    if begin is None:
        return None
    near = range(begin + 1, min(len(words), begin + 5))
    return next((k for k in near if words[k].content and words[k].clause == words[at].clause), None)


_RELATIONS = frozenset(["ahead of", "ahead", "behind", "above", "below", "over", "under", "before", "after"])


def _by_whom(text: Text, at: int) -> bool:
    """Whether the "by" at `at` names who does it, or how, and no time: "by the nurse", "by phone"."""
    if text.words[at].text.casefold() != "by":
        return False
    near = [w for w in text.words[at + 1 : at + 4] if w.text.casefold() not in ("the", "this", "that", "next", "about")]
    return bool(near) and not (near[0].fact or near[0].lemma in _TIMES)


_TIMES = frozenset(
    ["end", "deadline", "then", "close", "closing", "time", "noon", "midnight", "midday", "morning", "evening", "afternoon", "night", "dawn", "dusk", "now",
     "beginning", "start", "middle", "weekend", "summer", "winter", "spring", "autumn", "date", "day", "week", "month", "year", "late", "latest", "lunchtime"]
)  # fmt: skip


def _from_for_until(both: Pair, i: int, j: int) -> bool:
    """ "not allowed until 7:45" is "allowed from 7:45 on": the edge of a time told of either side, one of them denied."""
    one, other = both.reference.words[i].text.casefold(), both.candidate.words[j].text.casefold()
    if not ((one in _TILL and other in _SINCE) or (one in _SINCE and other in _TILL)):
        return False
    return _under_denial(both.reference, both.polarity_here, i) != _under_denial(both.candidate, both.polarity_there, j)


_TILL = frozenset(["until", "till", "before", "by", "prior to", "to", "up to", "earlier"])
_SINCE = frozenset(["from", "after", "since", "following", "once", "later", "as of", "starting"])


def _under_denial(text: Text, said: Polarity, at: int) -> bool:
    """Whether a denial stands before the word in its sentence."""
    begin = next((k for k in range(at, -1, -1) if text.words[k].text in ".!?;"), -1)
    ends = {text.words[k].clause for k in (at, at - 1) if k >= 0}
    return any(
        (begin < d.at < at and text.words[d.at].clause in ends)
        or (d.at > at and text.words[d.at].clause == text.words[at].clause)
        for d in said.denials
        if not d.lexical
    )


_DEALS = frozenset(
    ["lend", "loan", "borrow", "send", "ship", "receive", "give", "get", "buy", "purchase", "sell", "pay", "earn", "rent", "let", "lease", "hire", "teach",
     "learn", "sent", "bought", "sold", "deliver"]
)  # fmt: skip


def _other_party(both: Pair, i: int, j: int) -> bool:
    """Whether two opposites tell one deal from either side: "we lend ten books", "you may borrow ten books"."""
    if not {both.reference.words[i].lemma, both.candidate.words[j].lemma} <= _DEALS:
        return False
    one, other = _subject(both.reference, i), _subject(both.candidate, j)
    if one is None or other is None:
        return _bare_participle(both.reference, i) != _bare_participle(both.candidate, j)
    return not alike(one, other)


def _bare_participle(text: Text, at: int) -> bool:
    """Whether a verb of a deal stands as a participle that says nothing of who: "sold at the counter", "borrowed laptops"."""
    before = text.words[at - 1] if at else None
    passive = text.words[at].text.casefold().endswith(("ed", "sold", "sent", "lent", "bought", "let", "paid", "given"))
    return passive and (before is None or before.mark or before.lemma in ("be", "is", "are", "was", "were", "the"))


def _subject(text: Text, at: int) -> Word | None:
    """The noun or pronoun before a verb of the clause; None where a passive or nothing says who."""
    clause = text.words[at].clause
    before = [w for w in text.words[:at] if w.clause == clause and not w.mark]
    if any(w.lemma in ("be", "is", "are", "was", "were") for w in before[-2:]):
        return None
    return next((w for w in reversed(before) if w.lemma in PRONOUNS or (w.content and not w.fact)), None)


def _open_until(both: Pair, one: Word, other: Word) -> bool:
    """ "closes at 10" is "open until 10"."""
    if not {one.lemma, other.lemma} & _OPEN or not {one.lemma, other.lemma} & _CLOSED:
        return False
    text, shut = (both.reference, both.candidate) if one.lemma in _OPEN else (both.candidate, both.reference)
    until = not text.said.isdisjoint(_UNTIL) and shut.said.isdisjoint(_UNTIL)
    return until and any(word.fact for word in shut.words)
