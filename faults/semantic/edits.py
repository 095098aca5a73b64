"""What the text faults do, one streaming editor each: `feed` text as it comes, `flush` at the end.

An editor sees units (words with their blanks), so the outcome does not depend on how a stream was cut into chunks.
"""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from faults.semantic.active import Meeting
from faults.semantic.lexicon import Phrases, WordTable
from faults.semantic.units import Pieces, Splitter, has_word

SENTENCE_ENDS = "。！？!?"


class Edit(Protocol):
    """The rule of an editor."""

    def unit(self, unit: str) -> str: ...
    def end(self) -> str:
        """What is still held when the text is over."""


class Editor:
    """Feeds units to an edit; lets everything through, unchanged, once the fault is gone."""

    def __init__(self, edit: Edit, splitter: Splitter, over: Callable[[], bool]) -> None:
        self._edit, self._splitter, self._over = edit, splitter, over
        self._rest = ""

    def feed(self, text: str) -> str:
        if self._over():
            held, self._rest = self._edit.end() + self._rest, ""
            return held + text
        units, self._rest = self._splitter.split_certain(self._rest + text)
        return "".join(map(self._edit.unit, units))

    def flush(self) -> str:
        rest, self._rest = self._rest, ""
        if self._over():
            return self._edit.end() + rest
        return "".join(map(self._edit.unit, self._splitter.split(rest))) + self._edit.end()


class PerToken:
    """Changes each token with probability `rate`; a change of None leaves the draw open for the next token."""

    def __init__(self, meeting: Meeting, pieces: Pieces, change: Callable[[str], str | None]) -> None:
        self._meeting, self._pieces, self._change = meeting, pieces, change
        self._at = 0
        self._owed = 0

    def unit(self, unit: str) -> str:
        return "".join(map(self._token, self._pieces(unit)))

    def _token(self, token: str) -> str:
        at, self._at = self._at, self._at + 1
        self._owed += self._meeting.rng.random() < self._meeting.spec.token_rate
        changed = self._change(token) if self._owed else None
        if changed is None or changed == token:
            return token
        self._owed -= 1
        self._meeting.record(at=at, was=token, now=changed)
        return changed

    def end(self) -> str:
        return ""


def drop(_token: str) -> str:
    return ""


def duplicate(token: str) -> str | None:
    return token + (token if token[:1].isspace() else f" {token}") if has_word(token) and token.isascii() else token * 2


def mojibake(token: str) -> str | None:
    """UTF-8 read as Latin-1; for plain ASCII, bytes read as UTF-16."""
    core = token.strip()
    if not core:
        return None
    if not core.isascii():
        return token.replace(core, core.encode().decode("latin-1"))
    data = core.encode() if len(core) % 2 == 0 else core.encode() + b" "
    return token.replace(core, data.decode("utf-16-le", errors="replace"))


def swap_words(table: WordTable, meeting: Meeting) -> Callable[[str], str | None]:
    return lambda token: table.swap(token, meeting.rng)


class Sentences:
    """Gathers units to sentences and gives each to `act`."""

    def __init__(self, act: Callable[[str], str]) -> None:
        self._act = act
        self._units: list[str] = []

    def unit(self, unit: str) -> str:
        done = ""
        if self._units and self._units[-1].endswith(".") and unit[:1].isspace():
            done = self._close()
        self._units.append(unit)
        return done + (self._close() if unit[-1] in SENTENCE_ENDS else "")

    def _close(self) -> str:
        sentence, self._units = "".join(self._units), []
        return self._act(sentence) if sentence else ""

    def end(self) -> str:
        return self._close()


class Reorder:
    """Swaps a sentence with the next one, with probability `rate` per pair."""

    def __init__(self, meeting: Meeting) -> None:
        self._meeting = meeting
        self._held = ""
        self._at = 0
        self._sentences = Sentences(self._sentence)

    def _sentence(self, sentence: str) -> str:
        at, self._at = self._at, self._at + 1
        if self._held:
            first, self._held = self._held, ""
            swapped = _with_blanks_of(first, sentence) + _with_blanks_of(sentence, first)
            self._meeting.record(at=at, was=first + sentence, now=swapped)
            return swapped
        if self._meeting.rng.random() < self._meeting.spec.token_rate:
            self._held = sentence
            return ""
        return sentence

    def unit(self, unit: str) -> str:
        return self._sentences.unit(unit)

    def end(self) -> str:
        last = self._sentences.end()
        held, self._held = self._held, ""
        return last + held


def _with_blanks_of(model: str, sentence: str) -> str:
    return model[: len(model) - len(model.lstrip())] + sentence.lstrip()


class Truncate:
    """Lets `keep` chunks (tokens), words or sentences pass and swallows the rest, silently."""

    def __init__(self, meeting: Meeting, pieces: Pieces) -> None:
        self._meeting, self._pieces = meeting, pieces
        self._left = meeting.spec.keep
        self._full_stop = False
        self._lost = 0

    def unit(self, unit: str) -> str:
        counts = {"chunk": self._chunks, "word": self._words, "sentence": self._words_of_sentences}
        kept = counts[self._meeting.spec.at](unit)
        if kept != unit:
            self._lost += 1
            if self._lost == 1:
                self._meeting.record(at=self._meeting.spec.keep, was=unit, now=kept, lost="and all after it")
        return kept

    def _chunks(self, unit: str) -> str:
        kept = self._pieces(unit)[: max(0, self._left)]
        self._left -= len(kept)
        return "".join(kept)

    def _words(self, unit: str) -> str:
        if self._left <= 0 and (has_word(unit) or self._lost):
            return ""
        self._left -= has_word(unit)
        return unit

    def _words_of_sentences(self, unit: str) -> str:
        if self._full_stop and unit[:1].isspace():
            self._left -= 1
        if self._left <= 0:
            return ""
        self._full_stop = unit.endswith(".")
        if unit[-1] in SENTENCE_ENDS:
            self._left -= 1
        return unit

    def end(self) -> str:
        return ""


class Replace:
    """Gives another text in place of the whole."""

    def __init__(self, meeting: Meeting, text: str | None) -> None:
        self._meeting, self._text, self._lost = meeting, text, False

    def unit(self, unit: str) -> str:
        if self._text is None:
            return unit
        if self._lost:
            return ""
        self._lost = True
        self._meeting.record(was=unit, now=self._text)
        return self._text

    def end(self) -> str:
        return ""


def displaced(text: str, phrases: Phrases, meeting: Meeting) -> str:
    """Move sentences with a constraint to the end, or lose them; one sentence is always left."""
    spec = meeting.spec
    if spec.moved == spec.dropped == 0:
        return text
    kept: list[str] = []
    late: list[str] = []
    sentences = sentences_of(text)
    for at, sentence in enumerate(sentences):
        last = at + 1 == len(sentences)
        bound = any(pattern.search(sentence) for pattern, _ in phrases.rows)
        draw = meeting.rng.random() if bound else 1.0
        if draw < spec.dropped and (kept or late or not last):
            meeting.record(at=at, was=sentence, now="")
        elif spec.dropped <= draw < spec.dropped + spec.moved and not last:
            meeting.record(at=at, was=sentence, now="", moved="to the end")
            late.append(sentence)
        else:
            kept.append(sentence)
    return text if kept + late == sentences else in_a_row([*kept, *late])


def sentences_of(text: str) -> list[str]:
    """The sentences, each with the blanks before it."""
    found: list[str] = []

    def keep(sentence: str) -> str:
        found.append(sentence)
        return ""

    gather = Sentences(keep)
    for unit in Splitter([]).split(text):
        gather.unit(unit)
    gather.end()
    return found


def in_a_row(sentences: Sequence[str]) -> str:
    """The first one without blanks before it; between two of Latin script there is one."""
    text = sentences[0].lstrip()
    for sentence in sentences[1:]:
        text += sentence if sentence[:1].isspace() or text[-1] in "。！？" else f" {sentence}"
    return text


def blur(text: str, phrases: Phrases, meeting: Meeting) -> str:
    """Weaken verbs and constraints of an instruction; each phrase found, with probability `rate`."""
    text = displaced(text, phrases, meeting)
    for pattern, weak in phrases.rows:

        def weaken(match: re.Match[str], weak: str = weak) -> str:
            if meeting.rng.random() >= meeting.spec.token_rate:
                return match.group()
            meeting.record(at=match.start(), was=match.group(), now=weak)
            return weak[:1].upper() + weak[1:] if match.group()[:1].isupper() else weak

        text = pattern.sub(weaken, text)
    return text
