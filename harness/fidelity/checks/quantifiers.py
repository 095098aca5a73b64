"""All, most, some, none, only, except, including: how far a statement reaches."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from dataclasses import replace
from types import MappingProxyType

from harness.fidelity.case import Finding
from harness.fidelity.checks.omission import lost_clauses
from harness.fidelity.reading.denials_en import ends_any_but, only_not
from harness.fidelity.reading.joining import joined_otherwise
from harness.fidelity.reading.outcomes import same_state
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.polarity import Denial, excepting_but, only_but
from harness.fidelity.reading.quantifying import (
    EVERY_TIME,
    ONCE,
    ONLY_ONCE,
    WITHOUT_EXCEPTION,
    as_a_pair,
    besides,
    no_quantifier,
    once_for_each,
    told_of_others,
)
from harness.fidelity.reading.reckoning import complements
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text
from harness.fidelity.reading.vacancies import same_places
from harness.fidelity.reading.weekdays import one_day_apart, same_days

NAME = "quantifiers"
CLASSES = MappingProxyType(
    {
        "all": "all every each everyone everybody everything always entire whole both any anyone anytime 所有 全部 全体 每 每个 任何 一律 均 都 一切 "
        "总是 始终 全 所有人 大家 每位 每人 凡 凡是 统统 通通 无一例外",
        "most": "most majority mostly usually generally 大多数 多数 大部分 大多 多半 大半 过半 通常 一般",
        "some": "some several few part partly partially sometimes occasionally selected 部分 一部分 小部分 有些 一些 某些 有的 少数 个别 有时 偶尔 很多",
        "none": "none nobody nothing never neither",
        "only": "only solely exclusively alone 只 仅 只有 仅限 只能 仅有 唯一 只限",
        "except": "except excluding besides 除 除了 除外 之外 以外 不包括 不含 排除",
        "including": "including included include even 包括 包含 含 在内 涵盖 连同",
        "at_all": "anywhere everywhere nationwide worldwide 全国 全球 各地",
    }
)
_PHRASES = MappingProxyType(
    {"except for": "except", "other than": "except", "apart from": "except", "aside from": "except", "with the exception of": "except",
     "not including": "except", "no one": "none", "along with": "including", "together with": "including", "a few": "some"}
)  # fmt: skip
_ALWAYS = frozenset(["always", "总是", "始终"])
_ONLY = frozenset(["only", "只", "仅", "只有"])
_REST = frozenset(["other", "else", "rest", "remaining", "其他", "其余", "其它", "别的"])
_BUT = frozenset(["but", "however", "though", "except", "unless", "但", "但是", "不过", "而", "却", "然而", "除非"])
_APART = frozenset(
    ["except", "except for", "excluding", "other than", "apart from", "aside from", "with the exception of", "but for", "but", "除", "除了", "除外", "排除"]
)  # fmt: skip
_JUST = frozenset(
    [
        "just",
        "alone",
        "nobody",
        "nowhere",
        "nothing",
        "no one",
        "else",
        "other",
        "exclusive",
        "reserve",
        "restrict",
        "limit",
        "must",
        "have to",
        "need",
        "require",
        "required",
        "必须",
        "须",
        "独",
        "专",
    ]
)
_CLASH = MappingProxyType(
    {
        ("all", "some"): 1.0, ("all", "most"): 1.0, ("some", "all"): 1.0, ("most", "all"): 1.0, ("all", "none"): 0.8, ("none", "all"): 0.8,
        ("some", "none"): 0.8, ("none", "some"): 1.0, ("most", "some"): 0.9, ("some", "most"): 1.0, ("only", "most"): 0.9, ("except", "including"): 1.0,
        ("including", "except"): 1.0, ("all", "only"): 0.8, ("only", "all"): 0.9, ("only", "including"): 0.9, ("including", "only"): 0.8,
        ("most", "none"): 1.0, ("only", "except"): 0.9, ("except", "only"): 0.7,
    }
)  # fmt: skip
_DENYING = frozenset(
    ["not", "no", "never", "none", "nobody", "can not", "neither", "nor", "nothing", "不", "没", "没有", "不能", "不可", "不得", "别", "勿", "禁止", "不许", "不准"]
)  # fmt: skip
_NOT_ALL = re.compile(
    r"\bnot (?:all|every|everyone|everybody|everything)\b|(?:并?不是|并非)(?:所有|每|全部|人人|什么都)|(?:未必|不一定|不)(?:都|全)(?!不|没)",
    re.IGNORECASE,
)
_NONE_AT_ALL = re.compile(
    r"\bnone of\b|\bno one\b|\bnobody\b|(?:^|[.;!?,]\s)no [a-z]+s\b|(?:所有|全部|每|一切)[^，。；,;]{0,10}都?(?:不|没)|一律不|全都?(?:不|没)|都(?:不|没)|没有一[个种款家位件]",
    re.IGNORECASE,
)
_AS_WELL = re.compile(r"\b(?:too|as well|also|including|even|likewise)\b|一起|也|同样|照样|包括|连", re.IGNORECASE)
_TAKEN_IN = re.compile(rf"{_AS_WELL.pattern}|\bincluded\b|\bno exceptions?\b|无?一?例外", re.IGNORECASE)
_OTHERS_TOO = re.compile(  # 非会员也可以
    r"(?:非(?!常|得|要)|不是)[^，。；,;!?]{1,8}?(?:的人|人员|者)?(?:也|都|照样|同样|一样)(?:可以?|能|行|允许|有)"
)
COPY = 0.9  # share of literal words from which a text is a copy
_AND = frozenset(["and", "和", "与", "及", "以及", "并"])
_JOINED = _AND | {"or", "或", "或者"}
_EACH = re.compile(
    r"\b(?:each|every|per (?:person|head|guest|child|adult|passenger|ticket)|apiece)\b|每[人位个]|一人一|按人头",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\bbetween (?:them|you|us)\b|\bto share\b|\bper (?:family|household|group|couple|table)\b|\bno matter how many (?:of )?(?:they|you|people|there)\b|不管(?:来)?几个?人|全家(?:一共|总共|合用|共)",
    re.IGNORECASE,
)


def check(both: Pair) -> list[Finding]:
    places = same_places(both.reference, both.candidate)
    if (places and places[0]) or complements(both.reference, both.candidate):
        return []  # "a third is, the rest is not" is "two thirds are not"
    return _compared(both)


def _compared(both: Pair) -> list[Finding]:
    ours, theirs = _classes(both.reference), _classes(both.candidate)
    lost = _only_in(ours, theirs, both.candidate)
    new = _only_in(theirs, ours, both.reference)
    if _set_apart_otherwise(both):
        lost.pop("except", None)
    if _once_each(both):
        for side in (lost, new):
            for kind in ("only", "all"):
                side.pop(kind, None)
    found = [
        Finding(check=NAME, severity=severity, reason=f"“{new[there]}” stands where the reference says “{lost[here]}”")
        for (here, there), severity in _CLASH.items()
        if here in lost and there in new and not ({here, there} == {"all", "none"} and _denies_all(both))
    ]
    found = [_weighed(f, both) for f in found]
    if any(word in f.reason for f in found for word in _ALWAYS) and "only" in (ours.keys() ^ theirs.keys()):
        found = [replace(f, severity=min(0.2, f.severity)) for f in found]  # "always by card" is "only by card"
    if "except" in new and same_days(both.reference, both.candidate):
        del new["except"]  # "every day but Monday" is "Tuesday to Sunday"
    apart = one_day_apart(both.reference, both.candidate)
    if apart is False:
        reason = "the one day that is set apart is as the others are in the reference"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    if apart:  # "every day but Monday" is "Monday is the one closing day"
        found = []
        for side in (lost, new):
            for kind in ("except", "only", "all"):
                side.pop(kind, None)
    found += _only_elsewhere(both)
    found += _both_or_one(both)
    found += [
        *_also_beyond(both, lost),
        *_not_all(both),
        *_exception_lifted(both),
        *_shared_out(both),
        *_only_once(both),
        *(_joined_otherwise(both) or _one_or_both(both)),
    ]
    if found:
        return found
    return _covering(both, lost, new) or _left_over(both, lost, new)


def _only_in(one: dict[str, str], other: dict[str, str], text: Text) -> dict[str, str]:
    """The classes that only one text has; not "both" where the other, `text`, tells of "the two of them"."""
    found = {kind: word for kind, word in one.items() if kind not in other}
    if found.get("all", "").casefold() == "both" and as_a_pair(text):
        del found["all"]
    if found.get("except", "").casefold() in _REST and told_of_others(text):
        del found["except"]
    return found


def _covering(both: Pair, lost: dict[str, str], new: dict[str, str]) -> list[Finding]:
    """ "all" in the answer, where the reference sets something apart."""
    covered = _without_exception(both, lost)
    if not covered and (
        "all" not in new or not (lost.keys() & {"except", "only", "some", "most"} or _contrast_gone(both))
    ):
        return []
    reason = f"“{covered or new['all']}” covers what the reference sets apart"
    return [Finding(check=NAME, severity=1.0 if covered else 0.9, reason=reason, certain=bool(covered))]


def _left_over(both: Pair, lost: dict[str, str], new: dict[str, str]) -> list[Finding]:
    """Quantifiers that only one of the texts has."""
    found = []
    denied = bool(both.polarity_here.denials) or bool(both.polarity_there.denials)
    softened = not _JUST.isdisjoint(both.reference.said | both.candidate.said)
    for name, full in (("only", 0.6), ("except", 0.6), ("some", 0.4), ("most", 0.4), ("all", 0.15)):
        severity = 0.15 if name == "only" and (denied or softened) else full
        if name == "all" and new.get(name, "").casefold() in _ALWAYS:
            severity = 0.6
        if name in lost:
            found.append(Finding(check=NAME, severity=severity, reason=f"“{lost[name]}” of the reference is missing"))
        if name in new:
            found.append(Finding(check=NAME, severity=severity, reason=f"“{new[name]}” is not in the reference"))
    return found


def _weighed(finding: Finding, both: Pair) -> Finding:
    """ "only X" for "all but X" is a lie where both deny as often, and the same where one denies once more."""
    here, there = _classes(both.reference), _classes(both.candidate)
    turned = ("only" in here and "except" in there) or ("except" in here and "only" in there)
    if not turned or "except" in here.keys() & there.keys() or "only" in here.keys() & there.keys():
        return finding
    counts = [
        sum(
            said_of.text.casefold() not in _APART and said_of.lemma not in _APART
            for said_of in (text.words[d.at] for d in said.denials)
        )
        for text, said in ((both.reference, both.polarity_here), (both.candidate, both.polarity_there))
    ]
    if (counts[0] - counts[1]) % 2:
        return replace(finding, severity=min(0.2, finding.severity))
    return replace(finding, severity=1.0, certain=True)


def _denies_all(both: Pair) -> bool:
    """ "every one is unhurt" is "none is hurt": the side that says "all" denies as well."""
    sides = (both.reference, both.polarity_here), (both.candidate, both.polarity_there)
    return any("all" in _classes(text) and "none" not in _classes(text) and said.denials for text, said in sides)


def _only_elsewhere(both: Pair) -> list[Finding]:
    """ "only managers can approve" against "managers can only approve", where the rest is a copy."""
    here, there = (_narrowed(text) for text in (both.reference, both.candidate))
    if here is None or there is None or both.literal_here < 0.8 or both.literal_there < 0.8:
        return []
    at = both.partner[there]
    if at is None or at == here or both.partner_back[here] is None:
        return []
    words = both.candidate.words[there].text, both.reference.words[here].text
    return [Finding(check=NAME, severity=0.9, reason=f"“only” goes with “{words[0]}” and not with “{words[1]}”")]


def _narrowed(text: Text) -> int | None:
    """The content word right after a single "only"; None where there is none."""
    at = [i for i, w in enumerate(text.words) if w.lemma in _ONLY]
    if len(at) != 1:
        return None
    return next((i for i in range(at[0] + 1, len(text.words)) if text.words[i].content), None)


def _contrast_gone(both: Pair) -> bool:
    """Whether a clause that begins with "but" or 但 left no trace."""
    words = both.reference.words
    gone = {words[clause[0]].clause for clause in lost_clauses(both.reference, both.echo_back)}
    return any(w.lemma in _BUT and w.clause in gone for w in words)


def _both_or_one(both: Pair) -> list[Finding]:
    """ "both" against "one"."""
    ours, theirs = both.reference.said, both.candidate.said
    if both.polarity_there.denials and both.polarity_here.denials:
        ours, theirs = ours - {"neither"}, theirs - {"neither"}  # "neither works", "both are out of order"
    if as_a_pair(both.reference) and as_a_pair(both.candidate):
        return []
    ours, theirs = (
        said if "one" in (w.text.casefold() for w in text.words) else said - {"one"}
        for text, said in ((both.reference, ours), (both.candidate, theirs))
    )  # "the legible ones" are not one
    lost, new = ours - theirs, theirs - ours
    for pair_word, single in (("both", "one"), ("both", "neither"), ("双方", "一方"), ("neither", "one")):
        for here, there in ((pair_word, single), (single, pair_word)):
            if here in lost and there in new:
                if same_state(both.reference, both.candidate):
                    return []  # "both are out of ink" is "neither has any left"
                return [Finding(check=NAME, severity=1.0, reason=f"“{there}” stands where the reference says “{here}”")]
    return []


def _only_once(both: Pair) -> list[Finding]:
    """ "only once" against "every time"; "one stamp on every visit" may still be a stamp only once a visit."""
    if any(EVERY_TIME.search(text.plain) and ONCE.search(text.plain) for text in (both.reference, both.candidate)):
        return []
    return _one_against_the_other(both, EVERY_TIME, ONLY_ONCE)


def _once_each(both: Pair) -> bool:
    """ "each customer can use it once" and "only once per customer"."""
    sides = (both.reference, both.candidate), (both.candidate, both.reference)
    return any(once_for_each(text) and ONLY_ONCE.search(other.plain) for text, other in sides)


def _also_beyond(both: Pair, lost: dict[str, str]) -> list[Finding]:
    """ "only from the age of three" against "and under three, too": both sides of a bound, of which only one was told."""
    others = _OTHERS_TOO.search(both.candidate.plain)
    if "only" in lost and others and not _OTHERS_TOO.search(both.reference.plain):
        reason = f"“{others[0]}”, where the reference says “{lost['only']}”"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    if "only" not in lost or both.polarity_there.denials:
        return []
    for fact in both.reference.facts:
        sides = {f.bound for f in both.candidate.facts if f.kind is fact.kind and f.value == fact.value}
        if fact.bound and {-1, 1} <= sides:
            reason = f"“{fact.text}” bounds nothing any more, where the reference says “{lost['only']}”"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _without_exception(both: Pair, lost: dict[str, str]) -> str:
    """What the answer says instead of "all but": "each and every one"; "" where it sets anything apart."""
    if same_days(both.reference, both.candidate) or told_of_others(both.candidate):
        return ""
    said = WITHOUT_EXCEPTION.search(both.candidate.plain)
    denied = {both.candidate.words[denial.at].lemma for denial in both.polarity_there.denials}
    return said[0] if said and "except" in lost and denied.isdisjoint(_DENYING) else ""


def _set_apart_otherwise(both: Pair) -> bool:
    """Whether the answer sets apart by a bound or a clause of its own: "aged 12 and over" for "except children under 12"."""
    said = WITHOUT_EXCEPTION.search(both.candidate.plain)
    for denial in _exceptions(both):
        reach = denial.reach or denial.clause
        bounds = [f for i in reach if (f := both.reference.words[i].fact) and f.bound]
        sides = [{f.bound for f in both.candidate.facts if f.key == bound.key} for bound in bounds]
        if any(-bound.bound in side and bound.bound not in side for bound, side in zip(bounds, sides, strict=True)):
            return True
        told = [k for i in reach if (k := both.partner_back[i]) is not None]
        clauses = {both.candidate.words[k].clause for k in told}
        if said and len(told) == len(reach) and len(clauses) == 1 and not _in_clause(both.candidate, said, clauses):
            return not _TAKEN_IN.search(both.case.candidate)
    return False


def _exceptions(both: Pair) -> list[Denial]:
    """What the reference sets apart."""
    return [d for d in both.polarity_here.denials if both.reference.words[d.at].lemma in _APART]


def _in_clause(text: Text, said: re.Match[str], clauses: set[int]) -> bool:
    return any(w.clause in clauses for w in text.words if said.start() <= w.start < said.end())


def _not_all(both: Pair) -> list[Finding]:
    """ "not all are" against "none is"."""
    return _one_against_the_other(both, _NOT_ALL, _NONE_AT_ALL)


def _shared_out(both: Pair) -> list[Finding]:
    """ "two each" against "two between them"."""
    return _one_against_the_other(both, _EACH, _TOGETHER)


def _one_against_the_other(both: Pair, one: re.Pattern[str], other: re.Pattern[str]) -> list[Finding]:
    """What only `one` says in one of the texts, and only `other` in the other one."""
    here, there = both.reference.plain, both.candidate.plain
    for text, rival in ((here, there), (there, here)):
        said = one.search(text)
        instead = said and other.search(rival)
        if said and instead and not one.search(rival) and not other.search(text):
            reason = f"“{said[0]}” in one text is “{instead[0]}” in the other"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _exception_lifted(both: Pair) -> list[Finding]:
    """ "all but A" against "A as well": what was set apart is told to belong."""
    also = _AS_WELL.search(both.candidate.plain)
    apart = [d for d in _exceptions(both) if not besides(both.reference, d.at)]
    if not also or not apart or both.polarity_there.denials or "except" in _classes(both.candidate):
        return []
    for denial in apart:
        reach = denial.reach or denial.clause
        told = sum(both.partner_back[i] is not None for i in reach)
        if reach and told >= 0.6 * len(reach):
            reason = f"“{also[0]}” takes in what the reference sets apart (“{both.reference.words[denial.at].text}”)"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _joined_otherwise(both: Pair) -> list[Finding]:
    """ "both A and B" against "either A or B", 同时满足 against 满足一个, in a near copy."""
    joints = joined_otherwise(both)
    if joints is None or (as_a_pair(both.reference) and as_a_pair(both.candidate)):
        return []
    reason = f"“{joints[1]}” joins what the reference joins by “{joints[0]}”"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _one_or_both(both: Pair) -> list[Finding]:
    """ "a passport and a photo" against "a passport or a photo", where the rest is a copy."""
    if both.literal_here < COPY or both.literal_there < COPY or both.polarity_here.denials:
        return []
    here, there = ([w.lemma for w in t.words if w.lemma in _JOINED] for t in (both.reference, both.candidate))
    if len(here) != len(there):
        return []
    for ours, theirs in zip(here, there, strict=True):
        if (ours in _AND) != (theirs in _AND):
            reason = f"“{theirs}” stands where the reference says “{ours}”"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _after_all(text: Text, at: int) -> bool:
    """Whether "all", "every", "any" or "the" stands before the word: "every other product"."""
    near = {w.lemma for w in text.words[max(0, at - 2) : at]}
    return bool(near & {"all", "every", "any", "everything", "everyone", "anything", "anyone", "everybody"})


@remembered
def _classes(text: Text) -> dict[str, str]:
    """Class -> the word that shows it."""
    found: dict[str, str] = {}
    for at, word in enumerate(text.words):
        if only_but(text.words, at) or only_but(text.words, at - 1) or ends_any_but(text.words, at):
            found.setdefault("only", word.text)
            continue
        if word.lemma in ("anyone", "anybody", "anything", "anywhere") and any(
            ends_any_but(text.words, k) for k in (at + 1, at + 2) if k < len(text.words)
        ):
            continue
        if word.lemma == "but" and excepting_but(text.words, at):
            found.setdefault("except", word.text)
        if word.lemma == "only" and only_not(text, at):
            found.setdefault("except", word.text)
            continue
        if no_quantifier(text, at):
            continue
        if word.lemma in _REST and (word.lemma == "rest" or not word.text.isascii() or _after_all(text, at)):
            found.setdefault("except", word.text)
        for name in (word.text.casefold(), word.lemma):
            kind = _KINDS.get(name)
            if kind and not (kind == "except" and besides(text, at)):
                found.setdefault(kind, word.text)
    return found


_KINDS = MappingProxyType(  # a word of two classes belongs to the first
    {**{name: kind for kind, names in reversed(tuple(CLASSES.items())) for name in names.split()}, **_PHRASES}
)
