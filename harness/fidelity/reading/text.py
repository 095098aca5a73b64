"""A text cut into words and clauses, its facts found."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from harness.fidelity.reading.fact import Fact, Kind
from harness.fidelity.reading.holidays import holidays
from harness.fidelity.reading.identifiers import identifiers
from harness.fidelity.reading.least_or_most import with_bound
from harness.fidelity.reading.lexicon import MAX_PHRASE, NOTHING, Concepts, Lexicon, lexicon
from harness.fidelity.reading.moments import chinese_moments, english_moments
from harness.fidelity.reading.numbering import without_numbers
from harness.fidelity.reading.numerals import NUMBER_EN, english, round_number
from harness.fidelity.reading.quantities import (
    chinese_quantities,
    chinese_rates,
    english_quantities,
    english_rates,
    per_units,
)
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.stops import with_stops
from harness.fidelity.reading.value_forms import in_one_writing, without_typography
from harness.fidelity.reading.wordings_en import plain_english

CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z]{2} [A-Za-z]|[a-z]-[a-z]")
_TOKEN = re.compile(
    r"[A-Za-zÀ-ÿ]+(?:['-][A-Za-zÀ-ÿ]+)*|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|\d+(?:\.\d+)?|[^\w\s]"
)
_CLAUSE_MARKS = frozenset(",;:.!?，。；：！？—\n()（）")
_SENTENCE_ENDS = frozenset(".!?。！？")
_CLAUSE_WORDS = frozenset(
    ["but", "because", "if", "unless", "although", "though", "while", "whereas", "when", "so", "until", "however", "except",
     "但", "但是", "而", "不过", "否则", "如果", "若", "除非", "因为", "所以", "然而", "否则", "却"]
)  # fmt: skip
_RANGE = re.compile(r"\s*(?:-|to|and|or|~|至|到|—|或)\s*")
_AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "can",
        "cannot",
        "could",
        "may",
        "must",
        "will",
        "would",
        "should",
        "shall",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "not",
        "need",
        "be",
    ]
)
_EXPANSIONS = (
    (re.compile(r"\bcan't\b|\bcannot\b", re.I), "can not"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"\bshan't\b", re.I), "shall not"),
    (re.compile(r"\bain't\b", re.I), "is not"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"'ll\b", re.I), " will"),
    (re.compile(r"'re\b", re.I), " are"),
    (re.compile(r"'ve\b", re.I), " have"),
    (re.compile(r"'d\b", re.I), " would"),
    (re.compile(r"\b(Mrs?|Ms|Dr|Prof)\.(?=\s+[A-Z])"), r"\1"),  # ends no sentence
    (re.compile(r"\bplus or minus\s*|\bplus/minus\s*", re.I), "±"),
)
_CONTRACTED = re.compile(
    r"'|cannot|plus|(?:mrs?|ms|dr|prof)\.", re.I
)  # without any of these there is nothing to expand
_SPACED = re.compile(r"(?<=\d)\s+(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\s+(?=\d)")

_QUARTERS = re.compile(
    rf"\b(?P<whole>{NUMBER_EN}) and (?:an? |one )?(?:(?P<three>three )quarters|quarter)(?=\s+[a-z])", re.IGNORECASE
)

_STRAIGHT: dict[int, str | int | None] = {
    ord(char): instead
    for char, instead in {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "—", "−": "-"}.items()
}
_UNSEEN = re.compile(  # soft hyphens, joiners, marks of direction and of the order of bytes: they say nothing
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]"
)
_BLANKS = re.compile(r"[^\S\n]{2,}")
_TAG = re.compile(  # of a page: how a text looks, not what it says
    r"</?(?:p|br|hr|div|span|b|i|u|em|strong|small|sub|sup|ul|ol|li|h[1-6]|table|thead|tbody|tr|td|th|blockquote)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word, a phrase that counts as one, a fact, or a mark."""

    text: str
    lemma: str
    concepts: Concepts
    start: int
    clause: int
    function: bool = False
    mark: bool = False
    fact: Fact | None = None
    name: bool = False  # a known Chinese name of a place, firm or person
    content: bool = field(init=False, compare=False, repr=False)  # whether it carries content of its own; asked often

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", not (self.function or self.mark))


@dataclass(frozen=True, kw_only=True, eq=False)  # read once: compared by identity, so that it can key a cache
class Text:
    """A text as read. `plain` is the normalised string that all offsets refer to."""

    plain: str
    lang: str
    facts: tuple[Fact, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words and marks, in order."""
        return tuple(_clauses(_words(self.plain, self.facts, lexicon(self.lang), self.lang)))

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words that carry content."""
        return tuple(word for word in self.words if word.content)

    @cached_property
    def said(self) -> frozenset[str]:
        """The base forms of all words, and the marks."""
        return frozenset(word.lemma for word in self.words)

    @cached_property
    def lemmas(self) -> frozenset[str]:
        """The base forms of the words that carry content."""
        return frozenset(word.lemma for word in self.content)

    @cached_property
    def meanings(self) -> Concepts:
        """All that these may mean."""
        return NOTHING.union(*(word.concepts for word in self.content))


def language(text: str) -> str | None:
    """ "zh", "en" (any text in letters), or None where there are no letters."""
    letters, ideographs = len(_LETTER.findall(text)), len(CJK.findall(text))
    if not letters:
        return None
    return "zh" if ideographs * 3 >= letters else "en"


def look_alike(one: str, other: str) -> bool:
    """Whether both look like one language: Chinese full of code looks English, but not as English does."""
    return language(one) == language(other) and bool(CJK.search(one)) == bool(CJK.search(other))


@remembered
def normalised(text: str) -> str:
    """One width, straight quotes, contractions written out."""
    plain = text
    if not text.isascii():
        plain = without_typography(_UNSEEN.sub("", text))
        plain = unicodedata.normalize("NFKC", plain).translate(_STRAIGHT)
        plain = _SPACED.sub("", plain)
    if "<" in plain:
        plain = _TAG.sub(" ", plain)
    plain = _BLANKS.sub(" ", plain)
    plain = in_one_writing(with_stops(plain, language(plain) or "en"))
    if _CONTRACTED.search(plain):
        for pattern, instead in _EXPANSIONS:
            plain = pattern.sub(instead, plain)
    plain = without_numbers(plain)
    if _LATIN.search(plain):
        plain = plain_english(plain)
    return _QUARTERS.sub(_with_quarters, plain) if "quarter" in plain.casefold() else plain


def _with_quarters(match: re.Match[str]) -> str:
    """ "two and a quarter hours" as "2.25 hours"."""
    whole = english(match["whole"])
    part = (0.75 if match["three"] else 0.25) * round_number(match["whole"])
    return match[0] if whole is None else f"{whole + part:,.15g}"


@remembered
def read(text: str, lang: str | None = None) -> Text:
    """Read `text` as `lang` (detected where None)."""
    plain = normalised(text)
    lang = lang if lang in ("en", "zh") else (language(plain) or "en")
    facts = tuple(with_bound(fact, plain) for fact in _facts(plain, lang))
    return Text(plain=plain, lang=lang, facts=facts)


def content_words(part: str, lang: str) -> list[Word]:
    """The content words of a part of a text."""
    return [word for word in read(part.strip(), lang).words if word.content]


def joined(words: Sequence[Word], most: int | None = None) -> str:
    """The first `most` words as they are written: Chinese without spaces."""
    return ("" if words and not words[0].text.isascii() else " ").join(word.text for word in words[:most])


def _facts(plain: str, lang: str) -> list[Fact]:
    """Facts in order; where two overlap, the longer wording counts."""
    finders = (
        (chinese_moments, chinese_rates, per_units, identifiers, chinese_quantities)
        if lang == "zh"
        else (english_moments, english_rates, per_units, identifiers, english_quantities)
    )
    found = [fact for finder in finders for fact in finder(plain)]
    found += holidays(plain, chinese=lang == "zh")
    if lang == "zh" and re.search("[A-Za-z]", plain):
        found += [fact for fact in english_moments(plain) if fact.text.isascii() and len(fact.text) > 2]
    taken: list[Fact] = []  # in order
    for fact in sorted(found, key=lambda f: f.start - f.end):
        at = bisect_left(taken, fact.start, key=lambda f: f.start)
        if (not at or taken[at - 1].end <= fact.start) and (at == len(taken) or fact.end <= taken[at].start):
            taken.insert(at, fact)
    return _whole(_ranges(taken, plain), plain)


_AND = re.compile(r"\s*(?:and\s+|,\s|零|又)?(?<!\n)")
_EACH_AGAIN = re.compile(r"\s*(?:per|each|every|/|an?\s)", re.IGNORECASE)
_SMALLER = frozenset({Kind.DURATION, Kind.MEASURE, Kind.MONEY})  # told in a unit and a smaller one


def _whole(facts: list[Fact], plain: str) -> list[Fact]:
    """1 h 20 min, 2 kg 500 g, 99元5角 as one value each."""
    for at, (great, small) in reversed(list(enumerate(pairwise(facts)))):
        if _is_rest(great, small, plain):
            value = float(f"{float(str(great.value)) + float(str(small.value)):.12g}")
            facts[at : at + 2] = [
                replace(great, value=value, end=small.end, text=plain[great.start : small.end], written=None)
            ]
    return facts


def _is_rest(great: Fact, small: Fact, plain: str) -> bool:
    """Whether `small` follows `great` in a smaller unit of the same kind, with less than one of the greater unit."""
    if great.kind is not small.kind or great.unit != small.unit or great.kind not in _SMALLER or not great.raw:
        return False
    if not isinstance(great.value, float) or not isinstance(small.value, float) or not small.raw:
        return False
    joined = _AND.fullmatch(plain, great.end, small.start) is not None
    one, least = great.value / great.raw, small.value / small.raw
    return joined and 0 < small.value < one and least < one and not _EACH_AGAIN.match(plain, small.end)


def _ranges(facts: list[Fact], plain: str) -> list[Fact]:
    """In "2 to 4 days" the 2 is in days too."""
    for at, (low, high) in reversed(list(enumerate(pairwise(facts)))):
        joined = low.kind is Kind.NUMBER and _RANGE.fullmatch(plain[low.end : high.start]) is not None
        if joined and high.kind is Kind.TIME and isinstance(low.value, float) and isinstance(high.value, float):
            facts[at] = _hour(low, low.value, high.value)
            continue
        if joined and _is_month(high) and low.raw is not None and low.raw in range(1, 13):
            facts[at] = replace(low, kind=Kind.DATE, value=(None, int(low.raw), None), raw=None, written=None)
            continue
        joined = joined and high.raw is not None
        if joined and isinstance(low.value, float) and isinstance(high.value, float) and high.kind is not Kind.NUMBER:
            value = _in_unit_of(low.value, high)
            facts[at] = replace(low, kind=high.kind, unit=high.unit, value=value, written=None)
    return facts


def _is_month(fact: Fact) -> bool:
    """ "3月" and not "3月5日": in "1-3月" the 1 is a month too."""
    return (
        fact.kind is Kind.DATE
        and not fact.unit
        and "月" in fact.text
        and isinstance(fact.value, tuple)
        and fact.value[2] is None
    )


def _in_unit_of(low: float, high: Fact) -> float:
    """`low`, a bare number, in the base unit of `high`."""
    if high.unit == "degree" and high.raw != high.value:  # written in Fahrenheit
        return round((low - 32) / 1.8, 1)
    return low * float(str(high.value)) / (high.raw or 1.0)


def _hour(low: Fact, hour: float, high_min: float) -> Fact:
    """In "2 to 4 in the afternoon" the 2 is an hour of the afternoon too."""
    if not (0 <= hour <= 24 and hour.is_integer()):
        return low
    later = hour < 12 and hour * 60 + 720 < high_min
    return replace(low, kind=Kind.TIME, value=hour * 60 + (720 if later else 0), raw=None, written=None)


def _words(plain: str, facts: tuple[Fact, ...], words: Lexicon, lang: str) -> Iterator[Word]:
    position = 0
    for fact in facts:
        yield from _between(plain, position, fact.start, words, lang)
        yield Word(text=fact.text, lemma=fact.key, concepts=NOTHING, start=fact.start, clause=0, fact=fact)
        position = fact.end
    yield from _between(plain, position, len(plain), words, lang)


def _between(plain: str, start: int, end: int, words: Lexicon, lang: str) -> Iterator[Word]:
    tokens: list[tuple[str, int]] = []
    for match in _TOKEN.finditer(plain, start, end):
        if not match[0].isascii() and CJK.match(match[0]):
            yield from _english_words(tokens, lexicon("en"))
            tokens = []
            yield from _chinese_words(match[0], match.start(), words if lang == "zh" else lexicon("zh"))
        else:
            tokens.append((match[0], match.start()))
    yield from _english_words(tokens, lexicon("en"))


def _english_words(tokens: list[tuple[str, int]], words: Lexicon) -> Iterator[Word]:
    lowered = [text.casefold().removesuffix("'s") for text, _ in tokens]
    lemmas = [_lemma(low) for low in lowered]
    at = 0
    while at < len(tokens):
        begins = lowered[at] in words.phrases or lemmas[at] in words.phrases
        size = _phrase_size(lowered, lemmas, at, words) if begins else 1
        text, start = tokens[at]
        if size > 1:
            phrase = next(
                p
                for p in (" ".join(lemmas[at : at + size]), " ".join(lowered[at : at + size]))
                if p in words.groups or p in words.antonyms or p in words.senses
            )
            yield Word(
                text=" ".join(t for t, _ in tokens[at : at + size]),
                lemma=phrase,
                concepts=words.concepts(phrase),
                function=all(low in words.functions for low in lowered[at : at + size]),
                start=start,
                clause=0,
            )
        else:
            labels = at > 0 and tokens[at - 1][0][:1].isalnum()  # "option A"; a sentence may begin with the article
            yield _english_word(text, lowered[at], lemmas[at], start, labels=labels)
        at += size


def _phrase_size(lowered: list[str], lemmas: list[str], at: int, words: Lexicon) -> int:
    if (
        lemmas[at] == "be"
        and at + 1 < len(lowered)
        and lowered[at + 1] != "be"
        and _phrase_size(lowered, lemmas, at + 1, words) > 1
    ):
        return 1  # "is set aside": not "is set"
    for forms in (lowered, lemmas):
        for phrase in words.phrases.get(forms[at], ()):
            if tuple(forms[at : at + len(phrase)]) == phrase:
                return len(phrase)
    first = lemmas[at]
    for phrase in words.phrases.get(first, ()):
        if (first, *lowered[at + 1 : at + len(phrase)]) == phrase and " ".join(
            lemmas[at : at + len(phrase)]
        ) == " ".join(phrase):
            return len(phrase)
    return 1


def _english_word(text: str, lowered: str, lemma: str, start: int, *, labels: bool = False) -> Word:
    mark = not (lowered[:1].isalnum())
    if text == "A" and labels:
        return Word(text=text, lemma="A", concepts=NOTHING, start=start, clause=0)
    function, concepts = _meaning(lowered, lemma)
    return Word(text=text, lemma=lemma, concepts=concepts, start=start, clause=0, function=function, mark=mark)


@lru_cache(maxsize=16384)
def _lemma(form: str) -> str:
    return lexicon("en").lemma(form)


@lru_cache(maxsize=16384)
def _meaning(lowered: str, lemma: str) -> tuple[bool, Concepts]:
    """Whether an English word is a little one, and what it may mean."""
    words = lexicon("en")
    function = lowered in words.functions or lemma in words.functions
    concepts = words.groups.get(lowered, NOTHING) | words.groups.get(lemma, NOTHING)
    if not function and lowered[:1].isalnum():
        concepts |= words.senses.get(lemma, NOTHING) | words.senses.get(lowered, NOTHING)
    return function, concepts


_SURNAMES = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦方白邹孟熊秦邱江尹薛阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
_PERSON = re.compile(
    rf"(?:小|老|阿)[{_SURNAMES}](?![\u4e00-\u9fff]?(?:费|额|型|路))"
    rf"|[{_SURNAMES}](?:总经理|经理|总监|总|主任|医生|大夫|律师|老师|教授|先生|女士|小姐|工程师|工|博士|处长|局长|院长|校长|护士|主管|师傅|同学|会计|部长|董事长|秘书|助理|顾问)"
)


def _chinese_words(run: str, start: int, words: Lexicon) -> Iterator[Word]:
    at = 0
    while at < len(run):
        person = _PERSON.match(run, at)
        size = (
            len(person[0])
            if person
            else next((n for n in range(min(MAX_PHRASE, len(run) - at), 1, -1) if run[at : at + n] in words.words), 1)
        )
        text = run[at : at + size]
        yield Word(
            text=text, lemma=text, concepts=words.groups.get(text, NOTHING), start=start + at, clause=0,
            function=text in words.functions, name=bool(person) or text in words.names,
        )  # fmt: skip
        at += size


def _clauses(found: Iterator[Word]) -> Iterator[Word]:
    words = list(found)
    clause, content, auxiliary = 0, 0, False
    for at, word in enumerate(words):
        joins = (
            word.lemma == "and"
            and auxiliary
            and any(w.lemma in _AUXILIARIES for w in words[at + 1 : at + 7] if not w.mark)
        )
        if ((word.mark and word.text in _CLAUSE_MARKS) or word.lemma in _CLAUSE_WORDS or joins) and (
            content or word.text in _SENTENCE_ENDS
        ):
            clause, content, auxiliary = clause + 1, 0, False
        content += word.content
        auxiliary = auxiliary or word.lemma in _AUXILIARIES
        if clause:
            object.__setattr__(word, "clause", clause)  # made just now, and seen by nobody yet
        yield word
