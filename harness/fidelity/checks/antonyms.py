"""Opposites: open for closed, before for after, 增加 for 减少, at least for at most."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

from harness.fidelity.case import Finding
from harness.fidelity.checks.modality import limited
from harness.fidelity.checks.negation import double_negation
from harness.fidelity.reading.comparisons import same_order
from harness.fidelity.reading.explained_opposites import explained
from harness.fidelity.reading.fact import Fact, Kind, NearValues, same
from harness.fidelity.reading.implicit_negation import others_barred
from harness.fidelity.reading.least_or_most import denied_bound, edge, refused
from harness.fidelity.reading.lexicon import Lexicon, lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.plans import turned_plan
from harness.fidelity.reading.polarity import Polarity
from harness.fidelity.reading.reckoning import complements
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.reversal import names_swapped, reversals, reversed_around
from harness.fidelity.reading.text import Text, Word

NAME = "antonyms"
ONE_THING = 2  # content words that two texts share which tell of one thing
_EDGES = frozenset(["饭前", "饭后", "餐前", "餐后", "税前", "税后", "睡前", "产前", "产后", "术前", "术后"])
_MOMENTS = frozenset({Kind.DATE, Kind.TIME, Kind.WEEKDAY})
_EDGE = {1: "earliest", -1: "latest"}
_LABELS = ({"positive", "negative"}, {"正面", "负面"}, {"好评", "差评"})  # what a text is filed under


def check(both: Pair) -> list[Finding]:
    return [*_opposites(both), *_bounds(both), *_edges(both), *_plans(both)]


def _plans(both: Pair) -> list[Finding]:
    """ "the plan is put on hold" against "they are pressing ahead with the plan", where both tell of one thing."""
    turned = turned_plan(both.reference, both.candidate)
    shared = len(both.reference.content) - len(both.missing)
    if turned is None or shared < ONE_THING:
        return []
    reason = f"“{turned.there}” tells of the plan what the reference turns round by “{turned.here}”"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _edges(both: Pair) -> list[Finding]:
    """ "no earlier than 1 May" against "by 1 May at the latest"."""
    moments = [[f for f in text.facts if f.kind in _MOMENTS] for text in (both.reference, both.candidate)]
    if not all(len(side) == 1 for side in moments):
        return []
    one, other = (side[0] for side in moments)
    here, there = edge(one, both.reference.plain), edge(other, both.candidate.plain)
    if here * there >= 0 or not same(one, other):
        return []
    reason = f"“{other.text}” is the {_EDGE[there]} in the answer, the {_EDGE[here]} in the reference"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _opposites(both: Pair) -> list[Finding]:
    opposed = list(_opposed(both))
    if not opposed or double_negation(both) or same_order(both.reference, both.candidate) or _barred(both):
        return []
    if names_swapped(both) or _compared_backwards(both) or complements(both.reference, both.candidate):
        return []
    denied_here = _denied(both.reference, both.polarity_here)
    denied_there = _denied(both.candidate, both.polarity_there)
    found: list[Finding] = []
    for i, j in opposed:
        one, other = both.reference.words[i], both.candidate.words[j]
        if (i in denied_here) != (j in denied_there) or _explained(both, i, j):
            continue
        loose = one.function or other.function
        in_place = any(one in edit.removed and other in edit.added for edit in both.edits)
        if loose and not (in_place and (_same_next(both, i, j) or _quantity_word(one))):
            continue
        if _quantity_word(one) and (both.polarity_here.denials or both.polarity_there.denials):
            continue
        severity = (
            1.0 if in_place or one.lemma in _EDGES or {one.lemma, other.lemma} in _LABELS else 0.0 if loose else 0.7
        )
        if severity:
            found.append(
                Finding(check=NAME, severity=severity, reason=f"“{other.text}” is the opposite of “{one.text}”")
            )
    return found


def _opposed(both: Pair) -> Iterator[tuple[int, int]]:
    """Indices of a word of the reference and of an opposite in the candidate that may stand in its place."""
    words, places = lexicon(both.reference.lang), _places(both.candidate)
    for i, one in enumerate(both.reference.words):
        for j in () if one.mark or one.fact else _opposites_at(one, places, words):
            at, other = both.partner_back[i], both.candidate.words[j]
            if at != j and (at is not None or both.partner[j] is not None):
                continue
            if other.mark or other.fact or bounding(both.reference, i) or bounding(both.candidate, j):
                continue
            if at is None or both.candidate.words[at].lemma != one.lemma:
                yield i, j


def _explained(both: Pair, i: int, j: int) -> bool:
    """Whether what stands around two opposites makes the same of them."""
    little = {both.reference.words[i].lemma, both.candidate.words[j].lemma} == {"may", "must"}
    return explained(both, i, j) or reversed_around(both, i, j) or (little and limited(both))


def _barred(both: Pair) -> bool:
    """Whether "minors may not" stands for "only adults may"."""
    sides = (both.reference, both.polarity_here), (both.candidate, both.polarity_there)
    return any(
        said.denials and not other_said.denials and others_barred(text, other)
        for (text, said), (other, other_said) in (sides, sides[::-1])
    )


def bounding(text: Text, at: int) -> bool:
    """Whether a word says that the value beside it is a least or a most: that is compared with the values."""
    words, word = text.words, text.words[at].text
    compared = word.endswith("er") and at + 1 < len(words) and words[at + 1].text == "than"
    if not compared and word not in _BOUNDING:
        return False
    near = [words[k].fact for k in (at - 1, at + 1, at + 2) if 0 <= k < len(words)]
    return any(fact is not None and fact.bound for fact in near)


_BOUNDING = frozenset(
    ["超过", "不超过", "以内", "以上", "以下", "至少", "最多", "不少于", "不低于", "高于", "低于", "不满", "内", "之内", "多于", "少于", "不足", "满", "未满", "at least", "at most",
     "no more than", "no less than", "more than", "less than", "over", "under", "above", "below", "within", "up to", "or more", "or less"]
)  # fmt: skip
_QUANTITIES = frozenset(
    ["all", "every", "each", "none", "some", "any", "most", "few", "no one", "everyone", "nobody", "都", "均"]
)


def _quantity_word(word: Word) -> bool:
    return word.lemma in _QUANTITIES


def _same_next(both: Pair, i: int, j: int) -> bool:
    """Whether two little words are followed or led by the same word: "from home" says nothing against "to do"."""
    here, there = both.reference.words, both.candidate.words
    after = i + 1 < len(here) and j + 1 < len(there) and both.partner[j + 1] == i + 1
    before = i > 0 and j > 0 and both.partner[j - 1] == i - 1
    skipped = i + 2 < len(here) and j + 2 < len(there) and both.partner[j + 2] == i + 2
    return after or before or skipped


def _compared_backwards(both: Pair) -> bool:
    """Whether two things change places in a comparison: "Ann is taller than Bo", "Bo is shorter than Ann"."""
    words = both.reference.words
    return any(words[r.pivot].lemma in ("than", "比") for r in reversals(both))


def _denied(text: Text, polarity: Polarity) -> set[int]:
    """Words in reach of a negation, the two right after it included whatever they are: "not required", 不是必须."""
    return (
        set(polarity.denied)
        | polarity.undone
        | {d.at + step for d in polarity.denials if not d.lexical for step in (1, 2)}
        | {d.at - 1 for d in polarity.denials if text.words[d.at].lemma in _NOTHING}  # "has neither"
    )


_NOTHING = frozenset(["no", "neither", "none", "nothing", "nobody", "no one"])


@remembered
def _places(text: Text) -> dict[str, list[int]]:
    """Word form -> where it stands."""
    found: dict[str, list[int]] = {}
    for at, word in enumerate(text.words):
        for form in {word.lemma, word.text.casefold()}:
            found.setdefault(form, []).append(at)
    return found


def _opposites_at(word: Word, places: dict[str, list[int]], words: Lexicon) -> list[int]:
    """Where opposites of `word` stand."""
    forms = words.antonyms.get(word.lemma, _NO_FORMS) | words.antonyms.get(word.text.casefold(), _NO_FORMS)
    if not forms:
        return []
    return sorted({at for form in forms & places.keys() for at in places[form]})


_NO_FORMS: frozenset[str] = frozenset()


def _one_denied(both: Pair, one: Fact, other: Fact) -> bool:
    """Whether one text denies a clause about the value and the other does not: "not with fewer than 24 hours"."""
    sides = ((both.reference, both.polarity_here, one), (both.candidate, both.polarity_there, other))
    here, there = (
        not denied_bound(fact, text.plain)
        and not refused(fact, text.plain)
        and any(text.words[i].fact is fact for denial in said.denials if not denial.lexical for i in denial.clause)
        for text, said, fact in sides
    )
    return here != there


_OTHERWISE = re.compile(
    r"\b(?:otherwise|beyond (?:that|this)|above (?:that|this)|below that|anything (?:more|above|over|beyond)|longer ones|if not|anything else)\b|否则|不然|再多|超出|以上的?[要须则得]|多了"
)
_BEFOREHAND = re.compile(r"\b(?:before|ahead of|prior to|in advance|ahead|beforehand)\b|之前|提前")


def _complement(both: Pair) -> bool:
    """Whether the other side of the bound is told, too ("over 30 days a visa; otherwise none"), or both count back from a moment."""
    texts = both.reference.plain, both.candidate.plain
    return (
        all(_OTHERWISE.search(text) or len(_split(text)) > 1 for text in texts) and any(map(_OTHERWISE.search, texts))
    ) or (all(map(_BEFOREHAND.search, texts)))


def _split(text: str) -> list[str]:
    return [part for part in re.split(r"[;；]|, but\b", text) if part.strip()]


def _side(fact: Fact, text: Text) -> int:
    """-1 for a most, 1 for a least, 0 for neither; what is refused counts as the other one."""
    return -fact.bound if fact.bound and refused(fact, text.plain) else fact.bound


def _bounds(both: Pair) -> list[Finding]:
    """The same value as a least on one side and a most on the other."""
    if double_negation(both):
        return []
    here, there = (_sided(text) for text in (both.reference, both.candidate))
    near_here, near_there = NearValues([f for f, _ in here]), NearValues([f for f, _ in there])
    found = []
    for one, side_here in here:
        for at in near_there.near(one):
            other, side_there = there[at]
            if side_here * side_there >= 0 or not same(one, other) or _one_denied(both, one, other):
                continue
            if one.bound == other.bound and _refused_in_other_words(both, one, other):
                continue
            if any(there[k][1] == side_here and same(there[k][0], one) for k in near_there.near(one)):
                continue
            if any(here[k][1] == side_there and same(here[k][0], other) for k in near_here.near(other)):
                continue
            if _complement(both):
                continue
            most, least = (one, other) if side_here < 0 else (other, one)
            reason = f"“{most.text}” is a most on one side and “{least.text}” a least on the other"
            found.append(Finding(check=NAME, severity=1.0, reason=reason, certain=True))
    return found


def _refused_in_other_words(both: Pair, one: Fact, other: Fact) -> bool:
    """Whether both texts deny something of what lies over a value: "over 3 tonnes is banned", "do not take more than"."""
    sides = (both.reference, both.polarity_here, one), (both.candidate, both.polarity_there, other)
    return all(_denies_beside(text, said, fact) for text, said, fact in sides)


def _denies_beside(text: Text, said: Polarity, fact: Fact) -> bool:
    """Whether the sentence of a fact denies something."""
    places = [i for i, w in enumerate(text.words) if w.fact is fact]
    return any(
        not any(w.text in ".!?;。；！？" for w in text.words[min(at, d.at) : max(at, d.at)])
        for at in places
        for d in said.denials
    )


def _sided(text: Text) -> list[tuple[Fact, int]]:
    """The facts that are a least or a most, with their side."""
    return [(fact, _side(fact, text)) for fact in text.facts if fact.bound]
