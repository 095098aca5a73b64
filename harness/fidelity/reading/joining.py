"""How conditions are joined: all of them must hold ("both", 同时), or one is enough ("either", 任一)."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Sequence

from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.polarity import Polarity
from harness.fidelity.reading.text import Text, Word

NEAR_COPY = 0.6  # closeness from which a change of a joint tells
_ALL = re.compile(
    r"\bboth\b|\ball (?:of )?(?:the |these |those |its |your |them\b)?(?:\w+)?|\beach of\b|\bevery one of\b|\btogether\b|同时|都|均|全部|所有|缺一不可|一并|两者皆|皆",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\beither\b|\b(?:at least |just |only |any )?one (?:of (?:the|these|those|them)|is enough|will do|suffices)\b|\bwhichever\b|\b(?:one|either) or the other\b"
    r"|任一|任意一|任何一|其中(?:之)?一|其一|之一|(?:满足|符合|具备|达到|有)(?:其中)?(?:任意|任何)?一[个项条种样点]|一[个项条种样](?:即可|就行|就可|就够|就会|便可)|二选一|择一",
    re.IGNORECASE,
)
_ANY = re.compile(r"\bany of\b", re.IGNORECASE)
_AND = frozenset(["and", "并且", "且", "和", "与", "及", "以及", "并", "而且"])
_OR = frozenset(["or", "或者", "或", "或是", "要么"])
_DEMANDING = re.compile(
    r"\b(?:if|when|whenever|once|unless|until|provided|must|has to|have to|need\w*|requir\w+|only|conditions?|meets?|fulfil\w*|criteria|as long as|where)\b|如果|若|要是|一旦|只有|才|须|需|必须|应|条件|满足|符合|具备|的话|时|凭",
    re.IGNORECASE,
)


def joined_otherwise(both: Pair) -> tuple[str, str] | None:
    """The joint of the reference and the one in its place, where one joins all and the other any one; else None.

    Only in a near copy; not where a denial stands beside the joint: "not A and not B" is "neither A nor B".
    """
    if both.closeness < NEAR_COPY:
        return None
    removed = [word for edit in both.edits for word in edit.removed]
    added = [word for edit in both.edits for word in edit.added]
    here = _joint(both.reference, both.polarity_here, removed)
    there = _joint(both.candidate, both.polarity_there, added)
    if here is None or there is None or here[0] == there[0]:
        return None
    return here[1], there[1]


def _joint(text: Text, said: Polarity, changed: Sequence[Word]) -> tuple[bool, str] | None:
    """Whether all must hold, and the words that say so, among the words `changed`; None where nothing, or both, is said."""
    denied = {i for denial in said.denials if not denial.lexical for i in (denial.at, *denial.clause)}
    clauses = {text.words[i].clause for i in denied}
    places = [word for word in changed if word.clause not in clauses]
    told = {every: _phrase(text, pattern, places) for every, pattern in ((True, _ALL), (False, _ONE))}
    if told[True] and told[False]:
        return None
    for every, phrase in told.items():
        if phrase:
            return every, phrase
    return _little(text, places)


def _phrase(text: Text, pattern: re.Pattern[str], places: Sequence[Word]) -> str:
    """The first match of `pattern` in which one of the words lies; "" where none does."""
    for match in pattern.finditer(text.plain):
        if any(word.start < match.end() and match.start() < word.start + len(word.text) for word in places):
            return match[0].strip()
    return ""


def _little(text: Text, places: Sequence[Word]) -> tuple[bool, str] | None:
    """The same by "and", "or" and "any of", in a sentence that demands something."""
    if not _DEMANDING.search(text.plain):
        return None
    any_of = _phrase(text, _ANY, places)
    every = next((w.text for w in places if w.lemma in _AND), "")
    single = any_of or next((w.text for w in places if w.lemma in _OR), "")
    if bool(every) == bool(single):
        return None
    return bool(every), every or single
