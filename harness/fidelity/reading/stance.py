"""What an answer says first: yes or no, allowed or forbidden, go ahead or not yet."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from enum import StrEnum
from typing import NamedTuple


class Stance(StrEnum):
    """The four that an answer to a question of yes or no, or of may or may not, can begin with."""

    YES = "yes"
    NO = "no"
    MAY = "may"
    MAY_NOT = "may not"


class Opening(NamedTuple):
    """A stance with the words it rests on."""

    stance: Stance
    text: str


OPPOSITES = frozenset(
    {(Stance.YES, Stance.NO), (Stance.YES, Stance.MAY_NOT), (Stance.MAY, Stance.MAY_NOT)}
)  # not (may, no): "No need to come, you can stay at home"
_WHO_EN = r"(?:you|they|he|she|we|i|it|one|members|guests|visitors|customers)"
_END_EN, _END_ZH = r"(?=[,.;:!–—-]|\s*$)", r"(?=[,.;:!，。；：！、的哦呢啊呀]|\s*$)"
_OPENINGS = {
    Stance.MAY_NOT: rf"{_WHO_EN} (?:can ?not|can[’']t|may not|must not|mustn[’']t)\b(?! (?:miss|go wrong)\b)|please (?:do not|don[’']t)\b(?! (?:hesitate|worry)\b)"
    rf"|不行{_END_ZH}|不能|不可以|不得(?!不)|不允许|不准|没有办法|没办法|没法(?!律)|切勿(?!担心)|请勿(?!担心)|请不要(?!担心)|还不能",
    Stance.NO: rf"(?:no|nope){_END_EN}|not (?:yet|really|quite|at all|any ?more|for now|until|possible|allowed)\b|(?:i[’']m |i am )?(?:afraid|sorry),? (?:not|no)\b"
    rf"|(?:不|不会|不是|不对|没有|还没|还没有|尚未|暂不|否){_END_ZH}",
    Stance.YES: rf"(?:yes|yeah|yep|sure|certainly|of course|absolutely|definitely|correct|exactly|no problem|go ahead|by all means){_END_EN}|(?:yes|go ahead|no problem)\b"
    rf"|(?:是|对|行|会|有|能|好|当然|没问题|没错|是啊){_END_ZH}|是的|好的|没问题",
    Stance.MAY: rf"{_WHO_EN} (?:can|may)\b(?! not\b|not\b|[’']t)|feel free\b|可以|能(?![否源力量耗效见干手不])|允许",
}
_OPENING = re.compile("|".join(f"(?P<{one.name}>{pattern})" for one, pattern in _OPENINGS.items()), re.IGNORECASE)
_BEFORE = re.compile(  # greetings and the like, and what hedges
    r"(?:(?:hi|hello|hey|thanks|thank you|well|ok|okay|good news|sorry|unfortunately|您好|你好|抱歉|很抱歉|非常抱歉|不好意思|对不起|嗯|哦|亲|亲爱的)"
    r"[^.,;:!，。；：！]{0,15}[.,;:!，。；：！]|一般(?:来说)?|通常|目前|暂时|当然|please note[,:]|[*_“\"（(\s]+)\s*",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:sure|certainly|of course|absolutely|definitely|no problem|好的?|没问题|当然)\s*[,.!:，。！：]\s*",
    re.IGNORECASE,
)
_MOST_BEFORE = 3


def opening(text: str) -> Opening | None:
    """None where it begins with none of them."""
    start = 0
    for _ in range(_MOST_BEFORE + 1):
        if found := _opening_at(text, start):
            courtesy = _COURTESY.match(text, start)  # "Sure! You cannot check in before three."
            return (_opening_at(text, courtesy.end()) if courtesy else None) or found
        skipped = _BEFORE.match(text, start)
        if skipped is None:
            return None
        start = skipped.end()
    return None


def _opening_at(text: str, start: int) -> Opening | None:
    found = _OPENING.match(text, start)
    return Opening(Stance[found.lastgroup], found[0].strip()) if found and found.lastgroup else None
