"""Whether a model's answer may be trusted, judged by its own prompt alone: a model that is short of something
(memory, context, size) states numbers that nobody gave it, turns a "cannot" round, loops, or stops half-way."""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.answers.language import clearly_other, language_of
from gateway.answers.lexis import identifiers, is_negated, numbers, sentences, split, words
from gateway.answers.number_words import spelled_numbers
from gateway.policy import Grounding
from gateway.request import text_of

_LIST_MARK = re.compile(r"(?m)^[^\S\n]*+(?:[-*•]|\d{1,2}[.)、])\s++")
_CLAUSE = re.compile(r"[,;:，；：]\s*|(?<!\s)\s++(?:but|however|although)\s++|但是?|不过")
_LEADING_YES_NO = re.compile(r"^\s*(?:yes|no|not yet|sorry|是的?|不是|不)\s*[,.:，。：!！]\s*", re.IGNORECASE)
_ENDS = tuple(".!?。！？…\"”’')）]】}`|")
_ANY_LANGUAGE = re.compile(
    r"\b(?:english|chinese|mandarin|translat\w*|language)\b|英[文语]|中[文语]|汉语|翻译|双语", re.IGNORECASE
)
_LEAN_SHARE = 0.7  # of a clause's words that its source must hold to be its source
_LEAN_WORDS = 3
_TIE = 0.1  # sources whose shares are this close count alike
_EXACT = 1e-9
_LOOP_CHARS = 200
_LOOP_RATIO = 0.18  # zlib makes looping text smaller than this
_REPEATS = 3


def distrust(
    text: str,
    *,
    messages: Sequence[Mapping[str, Any]],
    finish_reason: str | None,
    is_json: bool,
    marks: Grounding,
) -> str | None:
    """Why not to trust `text`; None where nothing speaks against it. The reason quotes nothing of the prompt."""
    prompt = [text_of(message) for message in messages]
    asked, context = split(messages)
    if marks.repetition and loops(text):
        return "the answer repeats itself"
    if marks.cut and finish_reason == "length" and (is_json or not text.rstrip().endswith(_ENDS)):
        return "the answer was cut by length in the middle"
    if marks.numbers and (strange := unheard_of(text, prompt)):
        return f"the answer states {', '.join(sorted(strange)[:3])}, which its prompt does not"
    if is_json:
        return None
    if marks.language and _is_other_language(text, asked, prompt):
        return "the answer is in another language than the question"
    if marks.negation and flips(text, context):
        return "the answer turns a negation of its prompt round"
    if marks.min_support and support(text, prompt) < marks.min_support:
        return "the answer's words are not its prompt's"
    return None


def _is_other_language(text: str, asked: str, prompt: Sequence[str]) -> bool:
    """Never where the prompt itself speaks of languages: then the other one may have been asked for."""
    if any(_ANY_LANGUAGE.search(part) for part in prompt):
        return False
    return clearly_other(text, language_of([asked, *reversed(prompt)]))


def loops(text: str) -> bool:
    """Whether a text repeats itself as a degenerate model does."""
    parts = Counter(part.casefold() for part in sentences(text))
    if any(times >= _REPEATS and len(part) > 8 for part, times in parts.items()):
        return True
    raw = text.encode()
    return len(raw) >= _LOOP_CHARS and len(zlib.compress(raw)) < _LOOP_RATIO * len(raw)


def unheard_of(text: str, prompt: Iterable[str]) -> set[str]:
    """Numbers and identifiers of `text` that no part of the prompt holds, in digits or in words."""
    plain = _LIST_MARK.sub("", text)
    said_numbers, said_names = numbers(plain), identifiers(plain)
    if not said_numbers and not said_names:
        return set()
    prompt = list(prompt)
    strange_numbers = said_numbers.difference(*map(numbers, prompt))
    if strange_numbers:  # as they stand, that is: what takes longer to look for is looked for only then
        strange_numbers.difference_update(*(_with_parts(numbers(part)) | spelled_numbers(part) for part in prompt))
    if not said_names:
        return strange_numbers
    known_names = set().union(*map(identifiers, prompt))
    joined_names = " ".join(known_names)
    return strange_numbers | {name for name in said_names if name not in known_names and name not in joined_names}


def flips(text: str, context: Sequence[str]) -> bool:
    """Whether a clause says the opposite of the clause of the context that it leans on."""
    sources = _Sources(clause for sentence in context for clause in _clauses(sentence))
    return any(sources.turn_round(*clause) for sentence in sentences(text) for clause in _clauses(sentence))


def support(text: str, prompt: Iterable[str]) -> float:
    """Share of the answer's content words that the prompt holds, in [0, 1]; 1 where it has none."""
    said = set(words(text))
    known = {word for part in prompt for word in words(part)}
    return len(said & known) / len(said) if said else 1.0


class _Sources:
    """Clauses by their words, so that a clause meets only those that it may lean on."""

    def __init__(self, clauses: Iterable[tuple[str, frozenset[str]]]) -> None:
        self._sources = list(dict.fromkeys((held, is_negated(clause)) for clause, held in clauses))
        self._holders: dict[str, list[int]] = {}
        for index, (held, _) in enumerate(self._sources):
            for word in held:
                self._holders.setdefault(word, []).append(index)

    def turn_round(self, clause: str, said: frozenset[str]) -> bool:
        """Whether the clause, which has these words, says the opposite of all the clauses that it leans on."""
        if len(said) < _LEAN_WORDS:
            return False
        shares = [(len(said & held) / len(said), negated) for held, negated in self._near(said)]
        best = max((share for share, _ in shares), default=0.0)
        if best < _LEAN_SHARE:
            return False
        return all(negated != is_negated(clause) for share, negated in shares if share >= best - _TIE)

    def _near(self, said: frozenset[str]) -> list[tuple[frozenset[str], bool]]:
        """Every source that holds enough of these words: it must hold one of the rarest that it may not all lack."""
        may_lack = len(said) - math.ceil((_LEAN_SHARE - _TIE) * len(said) - _EXACT)
        rarest = sorted(said, key=lambda word: (len(self._holders.get(word, ())), word))[: may_lack + 1]
        found = sorted({index for word in rarest for index in self._holders.get(word, ())})
        return [self._sources[index] for index in found]


def _clauses(sentence: str) -> list[tuple[str, frozenset[str]]]:
    """With their words: the sentence itself where it has no clause worth the name, else its clauses."""
    parts = [(part, frozenset(words(part))) for part in _CLAUSE.split(_LEADING_YES_NO.sub("", sentence))]
    return [part for part in parts if len(part[1]) >= _LEAN_WORDS] or [(sentence, frozenset(words(sentence)))]


def _with_parts(found: set[str]) -> set[str]:
    """The numbers, the parts of times, dates and ranges, and afternoon hours on a 12-hour clock."""
    parts = {piece.lstrip("0") or "0" for number in found for piece in re.split(r"[:/-]", number)}
    hours = {str(int(piece) - 12) for piece in parts if _is_afternoon(piece)}
    clock = {f"{int(h) - 12}:{m}" for h, _, m in (n.partition(":") for n in found) if _is_afternoon(h)}
    return found | parts | hours | clock


def _is_afternoon(hour: str) -> bool:
    return len(hour) == 2 and hour.isdigit() and 12 < int(hour) < 24
