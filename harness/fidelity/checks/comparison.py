"""Which of two things has more: "A is faster than B" told as "B is faster than A", or as "A is slower than B"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from typing import NamedTuple

from harness.fidelity.case import Finding
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.text import Text, Word, content_words, joined, read

NAME = "comparison"
_EN = re.compile(
    r"(?P<one>[^.;!?]*?)\b(?P<how>more|less|fewer|better|worse|rather|sooner|(?!(?:after|over|under|other|another|number|never|ever|whether|together|either|neither|however|per|order|customer|water|paper|letter|later on|offer|computer|printer|charger|user|member)\b)\w{2,}er)\b(?P<mid>[^.;!?]*?)\bthan\b(?P<two>[^.;:!?,]+)",
    re.IGNORECASE,
)
_ZH = re.compile(
    r"(?P<one>[^。；！？，]*?)比(?P<two>[^。；！？，]{1,12}?)(?P<how>更|还要?|要|[高低大小多少快慢早晚好差贵长短重轻远近])(?P<mid>[^。；！？]*)"
)
_THAN, _THAN_ZH = re.compile("than", re.IGNORECASE), re.compile("比")  # without which there is none
_LESS = frozenset(["less", "fewer", "worse"])
_BOUNDS = frozenset(["no", "not"])
_UP = frozenset(["more", "higher", "greater", "bigger", "larger", "dearer", "costlier", "pricier"])
_DOWN = frozenset(["less", "lower", "fewer", "smaller", "cheaper"])

_SLOW = frozenset(["longer", "slower", "later", "slowly"])
_FAST = frozenset(["sooner", "faster", "quicker", "earlier", "quickly"])


class Comparison(NamedTuple):
    """What is told of which thing, as against which other one."""

    one: list[Word]
    two: list[Word]
    how: tuple[str, ...]


def check(both: Pair) -> list[Finding]:
    here = _comparison(both.reference)
    there = here and _comparison(both.candidate)
    if here is None or there is None or len(both.polarity_here.denials) != len(both.polarity_there.denials):
        return []
    straight = _kept(here.two, there.two) and not _kept(here.two, there.one)
    crossed = _kept(here.two, there.one) and not _kept(here.two, there.two) and _kept(there.two, here.one)
    turned = _opposed(both.reference.lang, here.how, there.how)
    if (crossed and not turned) or (straight and turned and _kept(here.one, there.one)):
        reason = f"“{joined(there.two, 4)}” is the lesser in the answer, and the greater in the reference"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _comparison(text: Text) -> Comparison | None:
    """The first comparison of two things; None where there is none, or where a thing is compared with a value."""
    link, pattern = (_THAN_ZH, _ZH) if text.lang == "zh" else (_THAN, _EN)
    found = link.search(text.plain) and pattern.search(text.plain)
    if not found:
        return None
    one, two, mid = (content_words(found[name], text.lang) for name in ("one", "two", "mid"))
    if not two or any(w.fact for w in two[:1]):
        return None
    how = tuple(
        w.lemma if w.text.casefold() not in _LESS else w.text.casefold()
        for w in read(found["how"] + " " + found["mid"], text.lang).words
    )
    if text.lang != "zh":
        one = one + mid
        how = (found["how"].casefold(), *how)
    own = [w for w in one if not any(w.lemma == other.lemma for other in two)]
    return Comparison(own, [w for w in two if not any(w.lemma == other.lemma for other in one)], how)


def _kept(words: list[Word], others: list[Word]) -> bool:
    return any(alike(word, other) for word in words for other in others)


def _opposed(lang: str, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    words = lexicon(lang)
    if any(words.opposed(a, b) for a in one for b in other):
        return True
    if any(
        _SLOW & {*a} and _FAST & {*b} and not _FAST & {*a} and not _SLOW & {*b} for a, b in ((one, other), (other, one))
    ):
        return True
    up, down = (
        (bool(_UP & {*side} and not _DOWN & {*side}) for side in (one, other)),
        (bool(_DOWN & {*side} and not _UP & {*side}) for side in (other, one)),
    )
    if any(a and b for a, b in zip(up, down, strict=True)):
        return True
    return bool(_LESS & {*one}) != bool(_LESS & {*other})
