"""Negation and polarity: what one text denies, the other has to deny too."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.case import Finding
from harness.fidelity.reading.comparisons import compares, same_order
from harness.fidelity.reading.demands import demand_kept
from harness.fidelity.reading.equal_denials import equally_said
from harness.fidelity.reading.fact import same
from harness.fidelity.reading.least_or_most import denied_bound
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.outcomes import same_state
from harness.fidelity.reading.pair import Pair, alike, says
from harness.fidelity.reading.polarity import Denial, affix_base
from harness.fidelity.reading.reckoning import complements
from harness.fidelity.reading.shared_denials import Side, exchanged, unmatched
from harness.fidelity.reading.successors import succession
from harness.fidelity.reading.text import Text, content_words
from harness.fidelity.reading.vacancies import same_places

NAME = "negation"
_NO_SUCH = re.compile(
    r"\b(?:does|do|did) not exist\b|\bno (?:such|matching)\b|\b(?:no|not any) (?:record|order|booking|account|entry (?:of|in|with|found)|reservation|ticket|customer|trace)s?\b|\b(?:not|never) (?:found|on (?:file|record))\b"
    r"|不存在|查无|没有(?:找到|查到|该|这个|此)|未(?:找到|查到)",
    re.IGNORECASE,
)
_BARRED_WITHOUT = re.compile(  # 没有事先约好的人，是进不了的
    r"(?:没有?|未|不)[^，。；,;]{1,12}(?:(?:的人?|者|的话)[，,]|[，,](?:就|是|谁也|一律|都))[^，。；,;]{0,10}(?:不了|不能|不得|不可|无法|不准|不许|别想|不让|不予)"
)
APART = 0.5  # closeness under which texts that deny as often are taken to deny the same
COPY = 0.8  # closeness from which a text is a copy
SPOKEN_OF = 0.6  # share of what is denied from which the other text speaks of it
PAIRED = 0.4  # what is left of a severity then
_ONLY = frozenset(["only", "只有", "仅", "只", "才", "只能", "仅限", "仅能", "只可", "唯一", "只限"])
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


def check(both: Pair) -> list[Finding]:
    here = Side(both.reference, both.polarity_here, both.partner_back)
    there = Side(both.candidate, both.polarity_there, both.partner)
    found = [
        *_answer_word(both),
        *_no_exception(both),
        *_no_such_thing(both),
        *_undone_told(both),
        *_granted_without(both),
    ]
    if _only_instead(both) or double_negation(both):
        return found
    if demand_kept(both) is False and not both.polarity_here.denied:
        reason = "the answer grants without it what the reference refuses without it"
        return [*found, Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    lost, new = _unshared(both, here, there)
    lost = [(denial, s) for denial, s in lost if not _answered_no(both, denial, here, there)]
    new = [(denial, s) for denial, s in new if not _answered_no(both, denial, there, here)]
    crossed = [(one, other) for one, _ in lost for other, _ in new if exchanged(one, other, here, there)]
    if crossed and not same_state(both.reference, both.candidate):
        reason = f"{_quoted(here.text, crossed[0][0])} is denied in the reference, {_quoted(there.text, crossed[0][1])} in the answer"
        return [*found, Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    odd = (len(both.polarity_here.denials) - len(both.polarity_there.denials)) % 2
    odd = odd and not _told_equally(here, there) and not same_state(both.reference, both.candidate)
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


def _told_equally(here: Side, there: Side) -> bool:
    """Whether a denial of either text is said in the other by a rule of the language."""
    sides = (here, there), (there, here)
    return any(
        own.partner[d.at] is None and equally_said(d, own.text, other.text)
        for own, other in sides
        for d in own.polarity.denials
    )


def _unshared(both: Pair, here: Side, there: Side) -> tuple[list[tuple[Denial, float]], list[tuple[Denial, float]]]:
    """Denials of either side that the other does not share, each with how much speaks for a contradiction."""
    if demand_kept(both) or _same_succession(both) or _counted_otherwise(both):
        return [], []
    lost, new = list(unmatched(here, there)), list(unmatched(there, here))
    if same_order(both.reference, both.candidate):  # "no plan is cheaper than A" is "A is the cheapest"
        lost = [(denial, s) for denial, s in lost if not compares(both.reference, denial.at)]
        new = [(denial, s) for denial, s in new if not compares(both.candidate, denial.at)]
    return _without_needed(lost, both.reference, both.candidate), _without_needed(new, both.candidate, both.reference)


def _without_needed(denied: list[tuple[Denial, float]], text: Text, other: Text) -> list[tuple[Denial, float]]:
    """`denied` less "without X, … not …" where the other text needs X: "you need X in order to …"."""
    lacks = [d for d, _ in denied if text.words[d.at].lemma in _LACKING]
    if not lacks or not any(w.lemma in _NEEDED or w.text.casefold() in _NEEDED for w in other.words):
        return denied
    pairs = [(one, d) for one in lacks for d, _ in denied if d is not one and _one_sentence(text, one.at, d.at)]
    if len(pairs) != 1 or not any(says(other, text.words[i]) for i in pairs[0][0].reach):
        return denied
    gone = {id(d) for d in pairs[0]}
    return [(d, s) for d, s in denied if id(d) not in gone]


_LACKING = frozenset(["without", "unless", "no", "do without", "lack"])
_NEEDED = frozenset(
    ["need", "require", "required", "must", "have to", "only", "necessary", "essential", "mandatory", "compulsory", "condition", "provided", "depend", "call for"]
)  # fmt: skip


def _one_sentence(text: Text, one: int, other: int) -> bool:
    return not any(w.text in ".!?;" for w in text.words[min(one, other) : max(one, other)])


def _counted_otherwise(both: Pair) -> bool:
    """ "three quarters are reserved" is "a quarter is not"; "18 of 30 are taken" is "12 are still free"."""
    places = same_places(both.reference, both.candidate)
    return bool(places and places[0]) or complements(both.reference, both.candidate)


_GRANTING = frozenset(["possible", "available", "allowed", "permitted", "allow", "permit", "给予", "办理"])


def _sure(denial: Denial, own: Side) -> bool:
    """Whether the other text speaks of most of what is denied, or a word denies by itself what the other text says."""
    told = [i for i in denial.reach if own.text.words[i].lemma not in _GRANTING]
    at_all = told and not any(own.text.words[i].fact for i in denial.clause) and own.text.said.isdisjoint(_WHEN)
    said = [
        SPOKEN_OF * len(reach) <= sum(own.partner[i] is not None for i in reach) > 0
        for reach in (denial.reach, told if at_all else ())
    ]
    return bool(denial.bases) or any(said)


_WHEN = frozenset(["before", "after", "until", "once", "unless", "if", "when"])


def double_negation(both: Pair) -> bool:
    """ "no driver may go without a belt" is "every driver must wear a belt": two denials of one clause against none."""
    for one, text, other, plain in (
        (both.polarity_here, both.reference, both.polarity_there, both.candidate),
        (both.polarity_there, both.candidate, both.polarity_here, both.reference),
    ):
        if other.denials or len(one.denials) != 2 or plain.said.isdisjoint(_BINDING):
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
        if len(one.denials) >= 2 and not other.denials and not text.said.isdisjoint(_ONLY):
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


def _answered_no(both: Pair, denial: Denial, own: Side, other: Side) -> bool:
    """ "No, it may crack" says "do not use hot water" to the question whether one may."""
    words = other.text.words
    no = len(words) > 1 and words[0].text.casefold() in _NO and words[1].mark
    asked = _ASKS_LEAVE.search(both.case.prompt)
    if not (no and asked) or any(w.text in ".!?;。！？；" for w in own.text.words[: denial.at]):
        return False
    about = content_words(both.case.prompt, own.text.lang)
    told = sum(any(alike(own.text.words[i], w) for w in about) for i in denial.reach)
    return 2 * told >= len(denial.reach) > 0


_ASKS_LEAVE = re.compile(
    r"\b(?:can|could|may|should|shall|am|are|is|do|does|will|would)\b(?! ?(?:not|n't))[^.?!]*\?|(?:能|可以|可|让|行|用)[^。？！]*[？?]",
    re.IGNORECASE,
)


_NONE_APART = re.compile(r"\b(?:is|are|makes?|was|were) no exceptions?\b|(?:也|都|均|亦)?不例外", re.IGNORECASE)
_APART_FROM_ALL = frozenset(
    ["except", "except for", "excepted", "excluding", "with the exception of", "but for", "除了", "除", "除外"]
)


def _no_exception(both: Pair) -> list[Finding]:
    """ "All but the soup are vegan" against "all are vegan; the soup is no exception"."""
    for one, other in ((both.reference, both.candidate), (both.candidate, both.reference)):
        said, apart = _NONE_APART.search(one.plain), [w.text for w in other.words if w.lemma in _APART_FROM_ALL]
        if said and apart and not _NONE_APART.search(other.plain):
            reason = f"“{said[0]}” in one text, “{apart[0]}” in the other"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _no_such_thing(both: Pair) -> list[Finding]:
    """The thing asked about does not exist, where the reference tells of it."""
    said = _NO_SUCH.search(both.candidate.plain)
    if (
        said
        and not _NO_SUCH.search(both.reference.plain)
        and not (both.polarity_here.denials or both.polarity_here.undone)
    ):
        return [Finding(check=NAME, severity=1.0, reason=f"“{said[0]}”, and the reference tells of it")]
    return []


def _undone_told(both: Pair) -> list[Finding]:
    """ "It is not unsafe" against "it is dangerous"."""
    words = lexicon(both.reference.lang)
    for text, said, other, rival in (
        (both.reference, both.polarity_here, both.candidate, both.polarity_there),
        (both.candidate, both.polarity_there, both.reference, both.polarity_here),
    ):
        not_so = {*rival.denied, *rival.undone}
        for at in said.undone:
            base = affix_base(text.words[at].text.casefold())
            told = [w for i, w in enumerate(other.words) if words.opposed(base, w.lemma) and i not in not_so]
            if told and base not in other.said:
                reason = f"“{told[0].text}” in one text, “not {text.words[at].text}” in the other"
                return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _granted_without(both: Pair) -> list[Finding]:
    """ "没发票也能退款" against "没有发票不能退款": without it one text refuses what the other grants."""
    for one, other in ((both.reference, both.candidate), (both.candidate, both.reference)):
        refused, granted = _REFUSED_WITHOUT.search(one.plain), _GRANTED_WITHOUT.search(other.plain)
        if refused and granted and _alike_thing(refused["what"], granted["what"]):
            reason = f"“{granted[0]}” in one text, “{refused[0]}” in the other"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


_LACKED = (
    r"(?:没有?带?|未带?|无|不带|不出示|不提供)(?P<what>[^，。；！？,;!?不没就也都能可照一]{1,10}?)(?:的话|的人?)?[，,]?"
)
_REFUSED_WITHOUT = re.compile(
    rf"{_LACKED}(?:就|则|是|一律|都|概)?(?:不能|不得|不可|不予|不给|无法|没法|没办法|不准|不许|[^，。；！？,;!?不没]{{1,3}}不了)(?!超过|少于)"
)
_GRANTED_WITHOUT = re.compile(rf"{_LACKED}(?:也|都|照样|仍然?|同样|一样)(?:可以?|能|行|给)")


def _alike_thing(one: str, other: str) -> bool:
    return one in other or other in one


def _same_succession(both: Pair) -> bool:
    """ "A replaced B" is "B no longer does it; A is the successor"."""
    here = succession(both.reference)
    return here is not None and here == succession(both.candidate)


def _quoted(text: Text, denial: Denial) -> str:
    around = " ".join(text.words[i].text for i in (denial.reach or denial.clause)[:4])
    return f"“{text.words[denial.at].text}” ({around})"
