"""Comparisons: whether two texts rank, place or pair the same two things alike, in whatever form and words."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from collections.abc import Sequence

from harness.fidelity.reading.comparison_forms import CHINESE, ENGLISH, LESS, Comparison, further
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, Word

_AXES = tuple(  # more of something, and less of it
    (frozenset(up.split()), frozenset(down.split()))
    for up, down in (
        (
            "more higher greater bigger larger dearer costlier pricier dear costly expensive cost rise rose climb grow grew above exceed"
            " 多 高 大 多于 高于 大于 超过 胜过 贵 昂贵 贵于",
            "lower smaller cheaper cheap cheapest inexpensive fall fell drop decline below 低 小 少 少于 低于 小于 便宜 省钱 划算",
        ),
        (
            "longer slower slow later slowly time 慢 晚 慢于 晚于 久",
            "sooner faster fast quicker quick earlier quickly 快 早 快于 早于",
        ),
        (
            "busier busy louder loud noisier noisy noise fuller crowded 吵 忙",
            "quieter quiet calmer calm emptier empty silent 静 安静",
        ),
        ("deeper deep further farther 深 远", "shallower shallow nearer closer 浅 近"),
        ("taller tall longer 长", "shorter short 短"),
        ("heavier heavy weigh weight 重 沉", "lighter light 轻"),
        ("older elder old", "younger newer young new"),
        ("warmer hotter milder warm hot 热 暖和", "colder cooler chillier cold cool 冷"),
        ("better stronger strong 强 好 好过 优于", "worse weaker weak 弱 差 输给 不敌"),
        ("费电 耗电", "省电"),
        ("费时", "省时 快"),
        ("north northern 北", "south southern 南"),
        ("east eastern 东", "west western 西"),
        ("left 左", "right 右"),
    )
)


@remembered
def same_order(one: Text, other: Text) -> bool | None:
    """Whether both texts rank the same two things alike; None where they do not, or where it cannot be told."""
    here = comparison(one)
    there = comparison(other) if here is not None else None
    if here is None or there is None:
        return None
    told, retold = ([first, *further(text.plain, text.lang, first)] for text, first in ((one, here), (other, there)))
    if len(told) > 1 and len(retold) > 1:  # of several things each is compared with its like: faster, but dearer
        orders = {_same_order(one.lang, a, b) for a in told for b in retold if _axes(a) & _axes(b)} - {None}
        return False if False in orders else next(iter(orders), None)
    return _same_order(one.lang, here, there)


def _axes(found: Comparison) -> set[int]:
    """Which axes the words of a comparison lie on."""
    return {at for at, (up, down) in enumerate(_AXES) if (up | down) & found.how}


def _same_order(lang: str, here: Comparison, there: Comparison) -> bool | None:
    if here.equal or there.equal:
        ranked = any(_shared(a, b) for a in (here.one, here.two) for b in (there.one,)) and (
            _shared(here.one, there.two) or _shared(here.two, there.two)
        )
        return here.equal == there.equal if ranked and here.equal != there.equal else None
    turned = _opposed(lang, here.how, there.how)
    straight, crossed = _straight(here, there), _crossed(here, there)
    if straight == crossed:
        return None
    return turned == crossed


def _straight(here: Comparison, there: Comparison) -> bool:
    if here.all_others or there.all_others:
        return _shared(here.one, there.one)
    return _shared(here.two, there.two) and not _shared(here.two, there.one)


def _crossed(here: Comparison, there: Comparison) -> bool:
    if here.all_others or there.all_others:
        return _shared(here.one, there.two) or _shared(there.one, here.two)
    return _shared(here.two, there.one) and not _shared(here.two, there.two) and _shared(there.two, here.one)


def _shared(words: Sequence[Word], others: Sequence[Word]) -> bool:
    return any(_alike(word, other) for word in words for other in others)


def _alike(one: Word, other: Word) -> bool:
    return one.lemma == other.lemma or (bool(one.concepts) and not one.concepts.isdisjoint(other.concepts))


def _opposed(lang: str, one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether more of `one` is less of `other`: "cheaper", "costs more"; "less noise" is no opposite of "quieter"."""
    if bool(LESS & one) == bool(LESS & other):
        return _against(lang, one - LESS, other - LESS)
    less, more = (one - LESS, other) if LESS & one else (other - LESS, one)
    if _against(lang, less, more):
        return False
    return bool(less & more) or not more & _AXES[0][1]


def _against(lang: str, one: frozenset[str], other: frozenset[str]) -> bool:
    words = lexicon(lang)
    return any(words.opposed(a, b) for a in one for b in other) or any(
        up & a and not down & a and down & b and not up & b
        for up, down in _AXES
        for a, b in ((one, other), (other, one))
    )


@remembered
def comparison(text: Text) -> Comparison | None:
    """The first comparison of two things; None where there is none, or where a thing is compared with a value."""
    readers = CHINESE if text.lang == "zh" else ENGLISH
    return next((found for reader in readers if (found := reader(text.plain, text.lang)) is not None), None)


def compares(text: Text, at: int) -> bool:
    """Whether the word at `at` belongs to a comparison, as the "no" of "no plan is cheaper" does."""
    found = comparison(text)
    return found is not None and found.span[0] <= text.words[at].start < found.span[1]
