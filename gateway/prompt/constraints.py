"""Sentences of a prompt that say nothing that another one does not say already; only where that is proved.

Proved are two things: a sentence that is said again in the same words, and a bound on the same amount that another one
keeps in any case. Words that two sentences do not share narrow or widen what they say ("all staff", "all senior staff")
and are never taken for less or more, but for a closed list that does neither ("please").
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gateway.prompt.anchors import intent_anchors, is_instruction, negation_scopes

_LEAST_STATEMENT_CHARS = 40  # of a statement that is not said twice; orders may be shorter

_MODAL = re.compile(
    r"\b(?:must|should|shall|may|always|never|only|do not|don['’]t|use|keep|write|answer|reply|respond|avoid|include"
    r"|limit|ensure)\b|必须|应当?|不得|不要|只能|务必|禁止|请|使用|避免",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:(?P<most>at most|no more than|not exceed|up to|a maximum of|maximum|最多|至多|不超过|不多于)"
    r"|(?:at least|no fewer than|no less than|a minimum of|minimum|至少|不少于|最少))"
    r"\s*(?P<amount>\d{1,9})(?!\d)\s*(?P<unit>[a-z]+|[一-鿿])",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[一-鿿]|(?:(?![一-鿿])\w)+(?:['’.-](?:(?![一-鿿])\w)+)*|[^\w\s]")
_UNITS = "word sentence line character token 字 句 行 词"
_FILLERS = """
answer reply respond response output use write keep limit your the a an in to with please within be is must
请 用 回 答 使 的 在 内 以 必 须
"""
_ANSWER_UNITS = frozenset(_UNITS.split())
_ANSWER_WORDS = frozenset(_FILLERS.split())
_COUNTED = re.compile(
    r"(?:please )?(?:list|name|give|write|use|include|mention|cite|provide|select|pick|show|suggest)\s*$", re.IGNORECASE
)
_AFTER_COUNTED = re.compile(r"\s*(?:[.!]|$|(?:of|from|in|for|per|with|about|on)\b)", re.IGNORECASE)
_POLITE = re.compile(
    r"(?:(?:please|kindly|always|you must|be sure to|make sure to|remember to)\s+|请务必|请一定要|务必|一定要|请你?)+",
    re.IGNORECASE,
)
_POLITE_END = re.compile(r",? please$|，?谢谢$", re.IGNORECASE)
_PROSE = re.compile(r"""["“'(（]?[^\W\d_].*[.!。！]["”’'」』)）]*\s*$""", re.DOTALL)
_BULLET = re.compile(r"(?<![ \t])[ \t]*+[-*+•·]\s++")
_LEANS = re.compile(
    r"\b(?:it|its|itself|they|them|their|this|that|these|those|he|him|his|she|her|hers|such|there|here|former|latter"
    r"|above|below|then|so|also|too|same|next|again|otherwise|first|second|third|finally|but|however|and then|another"
    r"|others?|both|each|either|neither|one|ones)\b|[它他她其该此这那另]|上述|以上|以下|前者|后者|同样|然后|但|否则|首先|最后|接着",
    re.IGNORECASE,
)
_RULES = re.compile(
    r"(?:use|keep|avoid|include|exclude|limit|ensure|never|do|don['’]t|ignore|使用|用|按|根据|不要|不得|必须|请勿|忽略|保留)$",
    re.IGNORECASE,
)
_MANNER = re.compile(r"(?:as|in|with|at|only|briefly|using|by|no|up)\b|用|使用|最多|至少", re.IGNORECASE)
_CODE = re.compile(r"[{}<>=;|\t]")
_ANSWERS = frozenset(("answer", "reply", "respond", "回答"))


class Sentence(NamedTuple):
    """A sentence of a text. `under`: the headings and lead-ins that it stands under, each by a number of its own.

    `alone`: nothing else needs it or goes on from it, so that it may go, or stand for another one. `final`: part of the
    final instruction, which stays. `leant_on`: the one after it may speak of what it says.
    """

    text: str
    under: tuple[int, ...] = ()
    alone: bool = True
    final: bool = False
    leant_on: bool = False


class Meaning(NamedTuple):
    """What sentences have in common of which one may stand for another, and how strict this one is."""

    same: tuple[str, ...]
    strictness: int = 0
    is_bound: bool = False


class _Read(NamedTuple):
    """A sentence as far as it is understood. `task`: it asks for something, and does not only say how."""

    sentence: Sentence
    meaning: Meaning
    task: bool


def spare(sentences: Sequence[Sentence]) -> dict[int, int]:
    """Indexes of the sentences that may go, each with that of another one that stays and says as much or more.

    Both stand under the same heading and serve the same task: what is asked for once for the title and once for the
    body is asked for twice. Of two that say the same the earlier goes. What is asked for as a task may be a step that
    comes twice, and goes only where the final instruction says it again.
    """
    read = [_read(sentence) for sentence in sentences]
    scopes = _scopes(read)
    alike: dict[object, list[int]] = defaultdict(list)
    for index, one in enumerate(read):
        if one.sentence.alone:
            alike[one.meaning.same, one.sentence.under, scopes[index]].append(index)
    return {index: other for group in alike.values() if len(group) > 1 for index, other in _said_by(read, group)}


def _said_by(read: Sequence[_Read], group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Those of a group that say no more than one of it that stays, with that one."""
    rank = {index: (read[index].meaning.strictness, read[index].sentence.final, index) for index in group}
    best = max(group, key=rank.__getitem__)
    best_final = max((index for index in group if read[index].sentence.final), key=rank.__getitem__, default=None)
    for index in group:
        one = read[index]
        stays = best_final if one.task and not one.meaning.is_bound else best
        if stays is not None and rank[stays] > rank[index] and _may_go(one.sentence):
            yield index, stays


def meaning(sentence: str) -> Meaning:
    """Its bound, where it is on the answer's length or on what is counted right behind the verb; else its words."""
    plain = _plain(sentence)
    bounds = list(_BOUND.finditer(plain))
    if len(bounds) != 1 or plain.endswith(("?", "？")):
        return Meaning((plain,))
    bound = bounds[0]
    before, after = plain[: bound.start()], plain[bound.end() :]
    rest = f"{before} {after}"
    if negation_scopes(rest) or any(character.isdigit() for character in rest):
        return Meaning((plain,))
    unit = bound["unit"].lower()
    unit = unit.removesuffix("s") if unit.removesuffix("s") in _ANSWER_UNITS else unit
    topic = tuple(word.lower() for word in _TOKEN.findall(rest))
    own_length = unit in _ANSWER_UNITS and all(word in _ANSWER_WORDS for word in topic)
    counted = _COUNTED.fullmatch(before) is not None and _AFTER_COUNTED.match(after) is not None
    if not own_length and not counted:
        return Meaning((plain,))
    side, strictness = ("most", -int(bound["amount"])) if bound["most"] else ("least", int(bound["amount"]))
    return Meaning((side, unit, *(() if own_length else topic)), strictness, is_bound=True)


def leans(sentence: str) -> bool:
    """Whether it speaks of something that stands before it."""
    return _LEANS.search(sentence) is not None


def _plain(sentence: str) -> str:
    """Without white space, the full stop, a bullet, and words before and after an order that do not narrow it."""
    plain = " ".join(_BULLET.sub("", sentence, count=1).split()).rstrip(".!。！")
    polite = _POLITE.match(plain)
    if polite is not None and _starts_as_order(plain[polite.end() :]):
        plain = plain[polite.end() :]
    if is_instruction(plain):
        plain = _POLITE_END.sub("", plain)
    return plain[:1].lower() + plain[1:]


def _starts_as_order(text: str) -> bool:
    anchors = intent_anchors(text)
    return bool(anchors) and anchors[0].span.start == 0


def _may_go(sentence: Sentence) -> bool:
    """Prose that stands by itself; not code, a line of a log, a numbered item, or what speaks of something before.

    Of items only orders: others may be records, and how many of them are equal may be what is asked.
    """
    text = _BULLET.sub("", sentence.text, count=1)
    if sentence.final or sentence.leant_on or _PROSE.match(text) is None or _CODE.search(text) or leans(text):
        return False
    if _BULLET.match(sentence.text):
        return _starts_as_order(_plain(sentence.text))
    order = _MODAL.search(text) is not None or _BOUND.search(text) is not None or is_instruction(text)
    return order or len(text.strip()) >= _LEAST_STATEMENT_CHARS


def _read(sentence: Sentence) -> _Read:
    what = meaning(sentence.text)
    return _Read(sentence, what, _is_task(sentence.text, what))


def _is_task(text: str, what: Meaning) -> bool:
    if not is_instruction(text) or (what.is_bound and len(what.same) == 2):
        return False
    anchors = intent_anchors(_plain(text))
    if not anchors:
        return True  # a question
    verb, manner = anchors[0].verb, _MANNER.match(anchors[0].object)
    return not (_RULES.match(verb) or (verb in _ANSWERS and manner))


def _scopes(read: Sequence[_Read]) -> list[tuple[str, ...] | None]:
    """For each sentence the task before it; None where none is, or where the text has no two tasks beside it."""
    tasks = {one.meaning.same for one in read if one.task}
    found: list[tuple[str, ...] | None] = []
    latest: list[tuple[str, ...]] = []  # the last two tasks that differ
    for one in read:
        same = one.meaning.same
        before = next((task for task in latest if task != same), None)
        found.append(before if len(tasks) - (same in tasks) > 1 else None)
        if one.task:
            latest = [same, *(task for task in latest if task != same)][:2]
    return found
