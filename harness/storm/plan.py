"""Which requests a storm is made of: drawn from a seed, the same for every column of the table."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random

QUESTION = "In one short sentence: how many days do returns take?"
SENTENCES = (
    "Returns take five days once the parcel has arrived.",
    "The shop opens at nine and closes at six.",
    "Parcels are sent from the warehouse twice a day.",
    "A receipt is needed for every repair.",
    "Gift cards can be used in every branch.",
    "The newsletter is sent on the first Monday of a month.",
)
WORDS_PER_SENTENCE = 9


class Size(StrEnum):
    """How long a request's prompt is."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "very long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Shares in [0, 1] that sum to 1, and lengths in words; about 1.25 tokens a word."""

    short_share: float = 0.5
    medium_share: float = 0.25
    short_words: int = 40
    medium_words: int = 400
    long_words: int = 2000

    def words(self, size: Size) -> int:
        return {Size.SHORT: self.short_words, Size.MEDIUM: self.medium_words, Size.LONG: self.long_words}[size]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One request."""

    number: int
    size: Size
    prompt: str


def plan(count: int, *, seed: int, mix: Mix) -> tuple[Planned, ...]:
    """The same for the same seed; the question is always at the end."""
    rng = Random(f"storm/{seed}")
    return tuple(_one(number, rng, mix) for number in range(count))


def _one(number: int, rng: Random, mix: Mix) -> Planned:
    drawn = rng.random()
    if drawn < mix.short_share:
        size = Size.SHORT
    else:
        size = Size.MEDIUM if drawn < mix.short_share + mix.medium_share else Size.LONG
    sentences = max(1, mix.words(size) // WORDS_PER_SENTENCE)
    text = [SENTENCES[0], *(rng.choice(SENTENCES[1:]) for _ in range(sentences - 1))]
    return Planned(number=number, size=size, prompt=f"Note {number}. {' '.join(text)}\n\n{QUESTION}")
