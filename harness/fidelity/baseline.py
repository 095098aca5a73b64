"""Measure what unrelated texts score with an encoder: the zero point of rescaled BERTScore."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness.errors import ConfigError
from harness.fidelity.bertscore import Baseline, BertScore, bertscore
from harness.fidelity.pairs import RowError, object_of, shown
from harness.fidelity.reading.text import language
from harness.fidelity.score_file import numbered
from harness.fidelity.scorer import Pair, Scorer, blocks

FIELD = "reference"  # of a row of JSON lines


def compute_baseline(scorer: Scorer, texts: Sequence[str], *, pairs: int, rng: Random) -> Baseline:
    """Mean raw score of random pairs of different texts in one language; pairs that cannot be measured are left out.

    Raises ConfigError where there is no such pair.
    """
    raw = list(raw_scores(scorer, drawn(texts, pairs, rng)))
    if not raw:
        raise ConfigError(
            f"not one of {pairs} pairs could be measured: the texts are too long or empty for the encoder"
        )
    p, r, f1 = (sum(scores) / len(raw) for scores in zip(*raw, strict=True))
    return Baseline(p=p, r=r, f1=f1, revision=scorer.revision, layer=scorer.layer, pairs=len(raw))


def drawn(texts: Sequence[str], pairs: int, rng: Random) -> list[Pair]:
    """`pairs` times a text, and another one in its language: two languages are further apart than unrelated texts."""
    by_language: dict[str | None, list[str]] = {}
    for text in sorted({text.strip() for text in texts} - {""}):
        by_language.setdefault(language(text), []).append(text)
    groups = [group for group in by_language.values() if len(group) > 1]
    if not groups or pairs < 1:
        found = sum(map(len, by_language.values()))
        raise ConfigError(f"a baseline needs 2 different texts in one language and 1 pair, got {found} and {pairs}")
    sizes = [len(group) for group in groups]
    chosen = (rng.sample(group, 2) for group in rng.choices(groups, weights=sizes, k=pairs))
    return [(first, second) for first, second in chosen]


def raw_scores(scorer: Scorer, pairs: Sequence[Pair]) -> Iterator[BertScore]:
    """Not rescaled, in bounded memory."""
    for block in blocks(pairs):
        encoded = scorer.encode(text for pair in block for text in pair)
        for left, right in ((encoded[one], encoded[other]) for one, other in block):
            if left.measured and right.measured and not (left.empty or right.empty):
                yield bertscore(left, right)


def load_texts(name_or_path: str) -> list[str]:
    """The references of an evaluation set or of JSON lines, or the lines of another text file.

    Raises ConfigError naming file and line, EvalsetError for an unknown set.
    """
    path = Path(name_or_path)
    if not path.is_file():
        from evalsets.lint import records_file

        path = records_file(name_or_path)
    with path.open("rb") as lines:
        return [text_of(line, number, path) for number, line in numbered(lines)]


def text_of(line: bytes, number: int, path: Path) -> str:
    try:
        if path.suffix != ".jsonl":
            return line.decode("utf-8-sig" if number == 1 else "utf-8")
        value = object_of(line, number).get(FIELD)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}:{number}: not UTF-8 at byte {error.start}") from None
    except RowError as error:
        raise ConfigError(f"{path}:{number}: {error}") from None
    if not isinstance(value, str):
        raise ConfigError(f"{path}:{number}: field {FIELD!r} has to be a text, got {shown(value)}")
    return value
