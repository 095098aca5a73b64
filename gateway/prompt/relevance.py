"""Which sentences of a text have to do with a question: shared words, the rarer the heavier. EN words, ZH bigrams."""

import math
import re
from collections.abc import Sequence

_WORD = re.compile(r"[A-Za-z]*[-_]?\d(?:[\w.,/-]*\w)?|[A-Za-z][A-Za-z'’]*", re.ASCII)
_HAN = re.compile(r"[㐀-鿿]{2,}")
_SUFFIX = re.compile(r"(?:abilit(?:y|ies)|ations?|ings?|able|ible|ment|ness|edly|ies|ied|ers?|ed|es|ly|s|e|y)$")
_FUNCTION_WORDS = """
a about above after all also am an and any are as at be been before being below but by can could did do does doing for
from had has have having he her here hers him his how i if in into is it its just may me might more most must my no nor
not of on only or other our ours out over please shall she should so some such than that the their them then there
these they this those to under until up us very was we were what when where which while who whom why will with would
you your answer answers question tell give say explain write use reply sentence sentences word words text following
based context briefly short
"""
_FUNCTION_BIGRAMS = """
什么 怎么 如何 请问 请用 回答 以上 下面 根据 是否 可以 我们 你们 他们 一个 这个 那个 多少 哪个 哪些 为什 问题
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
_STOP_HAN = frozenset(_FUNCTION_BIGRAMS.split())
_NEIGHBOUR_SHARE = 0.25  # of a sentence's score that goes to the ones beside it


def query_terms(question: str) -> frozenset[str]:
    """Stems of the question's content words, its numbers and identifiers, and its Chinese bigrams."""
    words = (word.lower() for word in _WORD.findall(question))
    stems = {_stem(word) for word in words if word not in _STOP_WORDS}
    runs = _HAN.findall(question)
    bigrams = {run[i : i + 2] for run in runs for i in range(len(run) - 1)} - _STOP_HAN
    return frozenset(stems | bigrams)


def scores(texts: Sequence[str], question: str) -> list[float]:
    """A relevance of 0 or more for each text; a neighbour of a relevant one gets a share of it."""
    terms = query_terms(question)
    if not terms:
        return [0.0] * len(texts)
    pattern = _pattern(terms)
    found = [frozenset(_hits(pattern, text)) for text in texts]
    often = {term: sum(term in hits for hits in found) for term in terms}
    weight = {term: _rarity(count, len(texts)) * _heft(term) for term, count in often.items()}
    longest = [1 + len(text) / 400 for text in texts]
    own = [sum(weight[t] for t in hits) / math.sqrt(long) for hits, long in zip(found, longest, strict=True)]
    padded = [0.0, *own, 0.0]
    return [mine + _NEIGHBOUR_SHARE * max(padded[i], padded[i + 2]) for i, mine in enumerate(own)]


def _stem(word: str) -> str:
    if any(character.isdigit() for character in word) or len(word) < 5:
        return word
    stem = _SUFFIX.sub("", word)
    return stem if len(stem) >= 4 else word


def _pattern(terms: frozenset[str]) -> re.Pattern[str]:
    """Stems match longer words too; each Chinese bigram is looked for at each position."""
    words = sorted((t for t in terms if t.isascii()), key=lambda t: (-len(t), t))
    bigrams = sorted(t for t in terms if not t.isascii())
    parts = []
    if words:
        either = "|".join(re.escape(word) for word in words)
        parts.append(rf"(?<![A-Za-z0-9])(?P<word>{either})[a-z]{{0,6}}(?![A-Za-z0-9])")
    if bigrams:
        parts.append(f"(?=(?P<han>{'|'.join(bigrams)}))")
    return re.compile("|".join(parts), re.IGNORECASE)


def _hits(pattern: re.Pattern[str], text: str) -> list[str]:
    return [match[match.lastgroup].lower() for match in pattern.finditer(text) if match.lastgroup]


def _rarity(count: int, of: int) -> float:
    return math.log(1 + (of + 1) / (count + 0.5))


def _heft(term: str) -> float:
    return 2.0 if any(character.isdigit() for character in term) else 1.0
