"""A case as the checks see it: both texts read, and which words of one say what which words of the other say."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from harness.fidelity.case import Case
from harness.fidelity.reading.abbreviations import written_out
from harness.fidelity.reading.acts import courtesies
from harness.fidelity.reading.asides import spare_spans
from harness.fidelity.reading.dependent_clauses import moved_whole
from harness.fidelity.reading.fact import Fact, Kind, NearValues, in_part_of_day, same
from harness.fidelity.reading.lists import reordered
from harness.fidelity.reading.other_forms import as_the_reference
from harness.fidelity.reading.outcomes import told_settled
from harness.fidelity.reading.plain_yes import completed, without_opening
from harness.fidelity.reading.polarity import Polarity, polarity
from harness.fidelity.reading.same_forms_en import in_words_of
from harness.fidelity.reading.same_forms_zh import in_one_form
from harness.fidelity.reading.text import Text, Word, look_alike, read

REACH = 150  # words looked at on either side of a place in a long text


class Edit(NamedTuple):
    """A stretch in which the texts differ between stretches in which they agree; either side may be empty."""

    removed: tuple[Word, ...]
    added: tuple[Word, ...]


@dataclass(frozen=True, kw_only=True, eq=False)  # one per case: compared by identity, so that it can key a cache
class Pair:
    """Reference and candidate, read and aligned. Indices count the words of `Text.words`."""

    case: Case
    reference: Text
    candidate: Text
    partner: tuple[int | None, ...]  # per word of the candidate: the word of the reference it stands for
    partner_back: tuple[int | None, ...]  # per word of the reference

    @cached_property
    def support(self) -> Text:
        """Prompt and context, read once: what the answer may lean on besides the reference."""
        return read(f"{self.case.prompt}\n{self.case.context}", self.reference.lang)

    @cached_property
    def polarity_here(self) -> Polarity:
        """What the reference denies."""
        return polarity(self.reference)

    @cached_property
    def polarity_there(self) -> Polarity:
        """What the candidate denies."""
        return polarity(self.candidate)

    @cached_property
    def same_facts(self) -> tuple[tuple[Fact, Fact], ...]:
        """The facts of the reference and of the candidate that say one value, in pairs."""
        return tuple(same_facts(self.reference.facts, self.candidate.facts))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The candidate's words, each named as the word of the reference that it stands for."""
        return tuple(
            word.lemma if at is None else self.reference.words[at].lemma
            for word, at in zip(self.candidate.words, self.partner, strict=True)
        )

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """What was replaced, removed and added, marks and articles left out."""
        return tuple(_edits(self))

    @cached_property
    def closeness(self) -> float:
        """Share of words that stand in the same order in both texts, in [0, 1]; 1: the same sentence."""
        ours, theirs = self.compared
        equal = sum(a1 - a0 for tag, a0, a1, _, _ in self.changes if tag == "equal")
        return 2 * equal / (len(ours) + len(theirs)) if ours and theirs else 0.0

    @cached_property
    def differs(self) -> bool:
        """Whether more than courtesy is different, or stands elsewhere, the order of a list and whole clauses apart."""
        if self.reordered or self.moved_whole:
            return False
        words = (word for edit in self.edits for word in (*edit.removed, *edit.added))
        return any(word.lemma not in _COURTEOUS for word in words)

    @cached_property
    def reordered(self) -> bool:
        """Whether nothing but the order of a list differs."""
        return reordered(self.reference, self.candidate)

    @cached_property
    def moved_whole(self) -> bool:
        """Whether nothing but the place of whole clauses differs."""
        return moved_whole(self.reference, self.candidate)

    @cached_property
    def spare_here(self) -> frozenset[int]:
        """Words of the reference that an honest answer may leave out, and that this one does leave out."""
        spans = spare_spans(self.reference, self.case.prompt)
        return _within(self.reference, spans, self.echo_back)

    @cached_property
    def spare_there(self) -> frozenset[int]:
        """Words of the candidate that are courtesy, or a reason in passing."""
        spans = [*spare_spans(self.candidate, "why"), *courtesies(self.candidate.plain)]
        return _within(self.candidate, spans, self.echo)

    @cached_property
    def closeness_letters(self) -> float:
        """Share of pairs of neighbouring letters that both texts have, wherever they stand, in [0, 1]."""
        ours, theirs = _letter_pairs(self.reference.plain), _letter_pairs(self.candidate.plain)
        return 2 * (ours & theirs).total() / max(1, ours.total() + theirs.total())

    @cached_property
    def compared(self) -> tuple[list[tuple[str, Word]], list[tuple[str, Word]]]:
        """Both texts as (name, word), marks and articles left out."""
        return _comparable(self)

    @cached_property
    def changes(self) -> list[tuple[str, int, int, int, int]]:
        """What turns the one sequence of `compared` into the other, as difflib's opcodes."""
        ours, theirs = self.compared
        return list(_matcher([n for n, _ in ours], [n for n, _ in theirs]).get_opcodes())

    @cached_property
    def missing(self) -> tuple[Word, ...]:
        """Content words of the reference that the candidate says in no way."""
        return _unsaid(self.reference.words, self.echo_back, self.spare_here)

    @cached_property
    def added(self) -> tuple[Word, ...]:
        """Content words of the candidate that the reference says in no way, those of mere courtesy left out."""
        return _unsaid(self.candidate.words, self.echo, self.spare_there)

    @cached_property
    def echo(self) -> tuple[bool, ...]:
        """Per word of the candidate: whether the reference says it, perhaps only once for several times here."""
        return _echoes(self.candidate.words, self.partner, self.reference.words)

    @cached_property
    def echo_back(self) -> tuple[bool, ...]:
        """The same per word of the reference."""
        return _echoes(self.reference.words, self.partner_back, self.candidate.words)

    @cached_property
    def literal_here(self) -> float:
        """Share of the reference's content words that the candidate repeats as they are, in [0, 1]."""
        return _literal(self.reference.words, self.partner_back, self.candidate.words)

    @cached_property
    def literal_there(self) -> float:
        """Share of the candidate's content words that repeat the reference, in [0, 1]."""
        return _literal(self.candidate.words, self.partner, self.reference.words)

    @cached_property
    def untold(self) -> float:
        """Share of what the reference adds to the question that the candidate leaves unsaid; 0 without a question."""
        asked = read(self.case.prompt, self.reference.lang)
        new = [w for w in self.reference.content if not says(asked, w)] if asked.content else []
        gone = {id(w) for w in self.missing}
        return sum(id(w) in gone for w in new) / len(new) if new else 0.0

    @cached_property
    def recall(self) -> float:
        """Share of the reference's content words that the candidate says, in [0, 1]."""
        return 1.0 - len(self.missing) / max(1, len(self.reference.content))

    @cached_property
    def precision(self) -> float:
        """Share of the candidate's content words that the reference says, in [0, 1]."""
        return 1.0 - len(self.added) / max(1, len(self.candidate.content))


def _unsaid(words: Sequence[Word], echo: Sequence[bool], spare: frozenset[int]) -> tuple[Word, ...]:
    return tuple(w for i, w in enumerate(words) if w.content and not echo[i] and i not in spare)


def _within(text: Text, spans: Iterable[tuple[int, int]], echo: Sequence[bool]) -> frozenset[int]:
    """Words of those stretches (start, end) of which the other text says hardly anything."""
    found: set[int] = set()
    for start, end in spans:
        span = [i for i, w in enumerate(text.words) if start <= w.start < end]
        content = [i for i in span if text.words[i].content]
        if content and sum(echo[i] for i in content) * 3 <= len(content):
            found.update(span)
    return frozenset(found)


def _letter_pairs(plain: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise(" ".join(plain.casefold().split())))


def _literal(words: Sequence[Word], partner: Sequence[int | None], others: Sequence[Word]) -> float:
    content = [(w, at) for w, at in zip(words, partner, strict=True) if w.content]
    equal = sum(at is not None and (others[at].lemma == w.lemma or bool(w.fact)) for w, at in content)
    return equal / len(content) if content else 0.0


def _echoes(words: Sequence[Word], partner: Sequence[int | None], others: Sequence[Word]) -> tuple[bool, ...]:
    said = {other.lemma for other in others if other.content}
    valued = any(word.fact is not None for word in words)
    facts = NearValues(list({other.lemma: other.fact for other in others if other.fact}.values()) if valued else ())
    hours = [other.fact for other in others if other.fact is not None and other.fact.kind is Kind.TIME]
    return tuple(
        at is not None
        or (word.content and (word.lemma in said or (word.fact is not None and facts.says(word.fact))))
        or any(in_part_of_day(word.lemma, hour) for hour in hours)
        for word, at in zip(words, partner, strict=True)
    )


def pair(case: Case) -> Pair:
    """Read and align the texts of `case`. Never raises."""
    here, there = in_one_form(case.reference, told_settled(completed(case), case.reference))
    here, there = without_opening(here, there), without_opening(there, here)
    there = in_words_of(there, here)
    here = in_words_of(here, there)
    reference = read(here, case.lang)
    lang = case.lang if look_alike(case.reference, case.candidate) else None
    candidate = read(written_out(as_the_reference(there, case.reference), case.reference), lang)
    forth = _align(reference.words, candidate.words)
    back: list[int | None] = [None] * len(reference.words)
    for at, target in enumerate(forth):
        if target is not None:
            back[target] = at
    return Pair(case=case, reference=reference, candidate=candidate, partner=tuple(forth), partner_back=tuple(back))


def alike(one: Word, other: Word) -> bool:
    """Whether two words can say the same: equal base form, a shared concept, or one value."""
    if one.fact and other.fact:
        return same(one.fact, other.fact)
    return one.lemma == other.lemma or (bool(one.concepts) and not one.concepts.isdisjoint(other.concepts))


def says(text: Text, word: Word) -> bool:
    """Whether a content word of `text` is `alike`."""
    if word.fact:
        return any(alike(word, other) for other in text.content)
    return word.lemma in text.lemmas or not word.concepts.isdisjoint(text.meanings)


def same_facts(one: Sequence[Fact], other: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    """Pairs of facts that say one value, each used once, exact wordings first."""
    free: dict[str, list[int]] = {}
    for at, fact in enumerate(other):
        free.setdefault(fact.key, []).append(at)
    used: set[int] = set()
    rest = []
    for fact in one:
        exact = free.get(fact.key)
        if exact:
            used.add(exact[0])
            yield fact, other[exact.pop(0)]
        else:
            rest.append(fact)
    if not rest or len(used) == len(other):
        return
    near = NearValues(other)
    for fact in rest:
        found = next((at for at in near.near(fact) if at not in used and same(fact, other[at])), None)
        if found is not None:
            used.add(found)
            yield fact, other[found]


def _align(reference: Sequence[Word], candidate: Sequence[Word]) -> list[int | None]:
    forth: list[int | None] = [None] * len(candidate)
    used: set[int] = set()
    names = [w.lemma for w in reference], [w.lemma for w in candidate]
    for block in _matcher(*names).get_matching_blocks():
        for step in range(block.size):
            forth[block.b + step] = block.a + step
            used.add(block.a + step)
    ratio = len(reference) / max(1, len(candidate))
    for equal in (True, False):
        free = [i for i, other in enumerate(reference) if i not in used and not other.mark]
        for at, word in enumerate(candidate):
            if forth[at] is None and not word.mark:
                near = _near(free, round(at * ratio))
                fits = [
                    i for i in near if (word.lemma == reference[i].lemma if equal else _stands_for(reference[i], word))
                ]
                if fits:
                    chosen = min(fits, key=lambda i: abs(i - at * ratio))
                    forth[at] = chosen
                    used.add(chosen)
                    free.remove(chosen)
    return forth


def _near(free: list[int], middle: int) -> list[int]:
    """The indices within reach of `middle`: all of a short text, `REACH` on either side in a long one."""
    if len(free) <= 2 * REACH:
        return free
    at = bisect_left(free, middle)
    return free[max(0, at - REACH) : at + REACH]


def _matcher(one: list[str], other: list[str]) -> "SequenceMatcher[str]":
    """In long texts the commonest words do not count, or the time would grow with the square of the length."""
    return SequenceMatcher(None, one, other, autojunk=max(len(one), len(other)) > 2 * REACH)


_STRICT = frozenset(  # little words whose order or force is compared by itself
    ["之前", "以前", "前", "先", "早于", "之后", "以后", "后", "再", "然后", "接着", "随后", "晚于", "可以", "可", "能",
     "能够", "得以", "支持", "需要", "需", "须", "要", "必须", "得", "应", "应该", "会", "不能", "不可", "不得", "勿"]
)  # fmt: skip


def _stands_for(one: Word, other: Word) -> bool:
    """Chinese little words are verbs and adverbs as well: 左右 stands for 大约, 起 for 开始."""
    if one.function != other.function and (one.text.isascii() or {one.lemma, other.lemma} & _STRICT):
        return False
    return alike(one, other)


_COURTEOUS = frozenset(
    [
        "thank",
        "thanks",
        "you",
        "for",
        "ask",
        "sorry",
        "hello",
        "hi",
        "dear",
        "kindly",
        "also",
        "any",
        "just",
        "then",
        "and",
        ",",
        "也",
        "和",
        "就",
        "您",
        "好",
        "您好",
        "谢谢",
        "亲",
    ]
)
_SKIPPED = frozenset(["a", "an", "the", "的", "了", "please", "请"])


def _comparable(both: Pair) -> tuple[list[tuple[str, Word]], list[tuple[str, Word]]]:
    spare_here, spare_there = both.spare_here, both.spare_there
    ours = [
        (w.lemma, w)
        for i, w in enumerate(both.reference.words)
        if not w.mark and w.lemma not in _SKIPPED and i not in spare_here
    ]
    theirs = [
        (n, w)
        for i, (n, w) in enumerate(zip(both.names, both.candidate.words, strict=True))
        if not w.mark and w.lemma not in _SKIPPED and i not in spare_there
    ]
    return ours, theirs


def _edits(both: Pair) -> Iterator[Edit]:
    ours, theirs = both.compared
    for tag, a0, a1, b0, b1 in both.changes:
        if tag != "equal":
            yield Edit(tuple(w for _, w in ours[a0:a1]), tuple(w for _, w in theirs[b0:b1]))
