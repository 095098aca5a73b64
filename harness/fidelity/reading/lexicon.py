"""What words mean to each other: base forms, groups that say the same, opposites. English and Chinese."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"
MAX_PHRASE = 6  # words in an English phrase, characters in a Chinese word
_SUFFIXES = (
    ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("zes", "z"),
    ("ses", "s"), ("ses", "se"), ("oes", "o"), ("ves", "f"), ("ves", "ve"), ("es", "e"), ("s", ""), ("ing", ""),
    ("ing", "e"), ("ed", ""), ("ed", "e"), ("est", ""), ("est", "e"), ("er", ""), ("er", "e"), ("iest", "y"),
    ("ier", "y"), ("ly", ""), ("ily", "y"), ("ably", "able"), ("men", "man"),
)  # fmt: skip
Concepts = frozenset[int]
NOTHING: Concepts = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Words of one language. Concepts are numbers; two words that share one can say the same."""

    groups: Mapping[str, Concepts]  # hand-made groups, of words and phrases
    senses: Mapping[str, Concepts]  # WordNet synsets (English)
    antonyms: Mapping[str, frozenset[str]]  # each word's opposites
    forms: Mapping[str, str]  # irregular form -> base form
    functions: frozenset[str]
    phrases: Mapping[str, tuple[tuple[str, ...], ...]]  # first word -> phrases, longest first (English)
    words: frozenset[str]  # everything that is one word
    names: frozenset[str] = frozenset()  # places and firms (Chinese)

    def concepts(self, word: str) -> Concepts:
        """What `word` may mean."""
        return self.groups.get(word, NOTHING) | self.senses.get(word, NOTHING)

    def lemma(self, form: str) -> str:
        """The base form of an English word, as far as it is known; other words come back as they are."""
        if form in self.forms:
            return self.forms[form]
        if form in _whole() or form in self.groups or len(form) < 4:
            return form
        for suffix, instead in _SUFFIXES:
            if form.endswith(suffix):
                base = form[: -len(suffix)] + instead
                if len(base) > 2 and base in self.words:
                    return base
                if (
                    suffix in ("ing", "ed", "er", "est")
                    and not instead
                    and base[-1:] == base[-2:-1]
                    and base[:-1] in self.words
                ):
                    return base[:-1]
        return form

    def opposed(self, one: str, other: str) -> bool:
        """Whether both words are opposites."""
        return other in self.antonyms.get(one, ())


@cache
def lexicon(lang: str) -> Lexicon:
    """The lexicon of "en" or "zh"."""
    return _english() if lang == "en" else _chinese()


def _lines(name: str) -> Iterator[str]:
    for line in (DATA / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


@cache
def _whole() -> frozenset[str]:
    return frozenset(word for line in _lines("whole_words_en.txt") for word in line.split())


def _functions(lang: str) -> frozenset[str]:
    section, words = "", set()
    for line in _lines("function_words.txt"):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == lang:
            words.update(line.split())
    return frozenset(words)


def _groups(name: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(_lines(name), start=1):
        for word in line.split(","):
            found[word.strip().casefold()].add(-number)
    return found


def _opposites(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in _lines(name):
        left, _, right = line.partition("|")
        lefts, rights = ({w.strip().casefold() for w in side.split(",") if w.strip()} for side in (left, right))
        for word in lefts:
            found[word] |= rights - {word}
        for word in rights:
            found[word] |= lefts - {word}
    return found


def _english() -> Lexicon:
    groups, opposites = _groups("groups_en.txt"), _opposites("opposites_en.txt")
    senses: dict[str, Concepts] = {}
    forms: dict[str, str] = {}
    for line in (DATA / "wordnet_en.tsv").read_text("utf-8").splitlines():
        word, ids, antonyms, irregular = line.split("\t")
        senses[word] = frozenset(map(int, ids.split())) if ids else NOTHING
        if antonyms:
            opposites[word].update(antonyms.split())
        for form in irregular.split():
            forms.setdefault(form, word)
    for word in (
        "left",
        "found",
        "felt",
        "saw",
        "lay",
        "ground",
        "rose",
        "best",
        "better",
        "worse",
        "worst",
        "less",
        "least",
        "more",
        "most",
    ):
        forms.pop(word, None)
    forms |= {
        "rose": "rise",
        "men": "man",
        "women": "woman",
        "children": "child",
        "people": "person",
        "paid": "pay",
        "shipping": "ship",
        "n't": "not",
        "changed": "change",
        "changing": "change",
        "writing": "write",
    }
    phrases: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    functions = _functions("en")
    for phrase in [*groups, *opposites, *(word for word in senses if " " in word)]:
        parts = tuple(phrase.split())
        known = phrase in groups or phrase in opposites or not functions.issuperset(parts)
        if len(parts) > 1 and known:
            phrases[parts[0]].add(parts)
    ordered = {first: tuple(sorted(found, key=lambda p: (-len(p), p))) for first, found in phrases.items()}
    return Lexicon(
        groups={w: frozenset(g) for w, g in groups.items()},
        senses=senses,
        antonyms={w: frozenset(o) for w, o in opposites.items()},
        forms=forms,
        functions=functions,
        phrases=ordered,
        words=frozenset(senses),
    )


def _chinese() -> Lexicon:
    groups, opposites = _groups("groups_zh.txt"), _opposites("opposites_zh.txt")
    functions = _functions("zh")
    names = frozenset(w for line in _lines("names_zh.txt") for w in line.split())
    words = {*groups, *opposites, *functions, *names, *(w for line in _lines("words_zh.txt") for w in line.split())}
    return Lexicon(
        groups={w: frozenset(g) for w, g in groups.items()},
        senses={},
        antonyms={w: frozenset(o) for w, o in opposites.items()},
        forms={},
        functions=functions,
        phrases={},
        words=frozenset(words),
        names=names,
    )
