"""What becomes of a plan: it goes ahead ("pressing ahead", 拍板, 开工), or it does not ("put on hold", 撤回, 暂缓)."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from typing import NamedTuple

from harness.fidelity.reading.fact import Kind, same
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

_GOING = re.compile(
    r"\b(?:press(?:es|ed|ing)? (?:ahead|on)|push(?:es|ed|ing)? (?:ahead|on|through)|(?:go(?:es|ing)?|gone|went|forge[sd]?|forging|mov(?:e|es|ed|ing)) (?:straight |right )?ahead|(?:given|gave|got|has|have|get) the go-?ahead|green-?lit|green light|rubber-?stamped"
    r"|(?:has|have|is|are|was|were|been) (?:now |finally |firmly )?decided (?:on|to)|(?:been|is|are|was|were) (?:now |finally )?approved|(?:building|construction|work|works|digging|drilling|felling) (?:will |is to |are to |shall )?(?:start|starts|begin|begins|started|began|starting)|break(?:s|ing)? ground|broke ground|will (?:start|begin)|is (?:set|due) to (?:start|begin)|under ?way)\b"
    r"|拍板|敲定|定了下来|已经?(?:定下|决定|批准|通过|获批|确定)|获批|批准了|开工|动工|上马|照常(?:推进|进行|实施)|如期(?:推进|进行|实施|开工)|全面(?:推进|启动|铺开)|正式启动|已经?启动|继续推进|执意推进|开建",
    re.IGNORECASE,
)
_HALTED = re.compile(
    r"\b(?:on (?:hold|ice)|(?:put|puts) off|postpon(?:e|es|ed|ing)|shelv(?:e|es|ed|ing)|withdr(?:aw|aws|awn|ew|awing)|pull(?:s|ed)? (?:the plug on|out of)|suspend(?:s|ed)?|abandon(?:s|ed)?|scrap(?:s|ped)|drop(?:s|ped) (?:its|the|their|his|her) (?:plans?|bid|application|project|idea|scheme)|defer(?:s|red)?|back(?:s|ed|ing)? (?:down|away|out)|called off|halt(?:s|ed)?|paus(?:e|es|ed)|moth-?balled|kicked into the long grass)\b"
    r"|撤回|撤销|撤下|暂缓|搁置|推迟|延后|缓建|缓办|叫停|中止|终止|放弃|作罢|取消|停建|停工|叫停|暂停",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|never|no longer|n't|without|unless|again|resum\w+|if|whether|before|could|might|may|would|refus\w+|den(?:y|ies|ied)|rul(?:e|es|ed) out|against|instead of|rather than|no|nor|nothing|objection\w*|appeal\w*|complaint\w*)\b|n['’]t\b|[不没未无非否拒若如]|之前|以前|才能|尚|反对|异议|恢复|重新",
    re.IGNORECASE,
)
_PUT_OFF = re.compile(r"\b(?:postpon|put|defer)|推迟|延后", re.IGNORECASE)
_MOMENTS = frozenset({Kind.DATE, Kind.TIME, Kind.WEEKDAY, Kind.DAY})
_CLAUSE = re.compile(r"[^.;:!?,。；：，！？、]+")


class Turned(NamedTuple):
    """The words that tell what became of the plan, in the one text and in the other."""

    here: str
    there: str


def turned_plan(one: Text, other: Text) -> Turned | None:
    """The words by which one text has a plan go ahead that does not in the other; None where both may tell the same."""
    here, there = _told(one), _told(other)
    if here is None or there is None or here[0] == there[0]:
        return None
    if any(_PUT_OFF.search(words) for _, words in (here, there)) and _one_moment(one, other):
        return None  # what is put off to Friday will begin on Friday
    return Turned(here[1], there[1])


def _one_moment(one: Text, other: Text) -> bool:
    """Whether both texts tell one date, day or time."""
    return any(a.kind in _MOMENTS and same(a, b) for a in one.facts for b in other.facts)


@remembered
def _told(text: Text) -> tuple[bool, str] | None:
    """Whether a plan goes ahead, and the words that say so; None where nothing, both, or nothing for sure is said."""
    found = {}
    for clause in _CLAUSE.findall(text.plain):
        for goes, pattern in ((True, _GOING), (False, _HALTED)):
            match = pattern.search(clause)
            if match is None:
                continue
            if _UNSURE.search(clause.replace(match[0], " ")):
                return None
            found[goes] = match[0]
    return next(iter(found.items())) if len(found) == 1 else None
