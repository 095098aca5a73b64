"""Write `wordnet_en.tsv` from a WordNet 3.0 database folder: `python build_wordnet.py FOLDER`.

One line per word or verb with a particle ("set aside"): itself, numbers of its first synsets
(own and derivationally related), antonyms, irregular forms.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
WORD = re.compile(r"[a-z]+(-[a-z]+)?")
PHRASAL = re.compile(r"[a-z]{3,}_(?:up|down|out|off|over|away|back|aside|apart|through|along|forward|around)")
SENSES = 3  # untagged senses kept per part of speech; tagged ones are kept up to 5


class Synset(NamedTuple):
    words: list[str]
    pointers: list[tuple[str, str, str, str]]  # symbol, offset, part of speech, source and target word (4 hex digits)


def read_synsets(folder: Path) -> dict[tuple[str, str], Synset]:
    found = {}
    for name, part in PARTS.items():
        for line in (folder / f"data.{name}").read_text().splitlines():
            if line.startswith("  "):
                continue
            fields = line.split("|")[0].split()
            count = int(fields[3], 16)
            words = [re.sub(r"\(.*\)", "", word).lower() for word in fields[4 : 4 + 2 * count : 2]]
            rest = fields[5 + 2 * count :]
            pointers = [
                (rest[4 * i], rest[4 * i + 1], rest[4 * i + 2], rest[4 * i + 3])
                for i in range(int(fields[4 + 2 * count]))
            ]
            found[part, fields[0]] = Synset(words, pointers)
    return found


def read_senses(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Word, part of speech and the offsets of the senses kept."""
    for name, part in PARTS.items():
        for line in (folder / f"index.{name}").read_text().splitlines():
            fields = line.split()
            phrasal = name == "verb" and PHRASAL.fullmatch(fields[0])
            if line.startswith("  ") or not (WORD.fullmatch(fields[0]) or phrasal) or len(fields[0]) < 2:
                continue
            pointers = int(fields[3])
            tagged = int(fields[5 + pointers])
            if tagged or len(fields[0]) > 3:
                yield fields[0], part, fields[6 + pointers :][: max(SENSES if tagged else 1, min(tagged, 5))]


def related(synset: Synset, position: int, synsets: dict[tuple[str, str], Synset]) -> Iterator[tuple[str, str]]:
    """(symbol, key or word) of the lexical pointers that start at the word at `position`."""
    for symbol, offset, part, ends in synset.pointers:
        if symbol in "+!" and int(ends[:2], 16) == position + 1:
            target = synsets[part.replace("s", "a"), offset]
            word = target.words[int(ends[2:], 16) - 1]
            yield (symbol, word) if symbol == "!" else (symbol, f"{part.replace('s', 'a')}{offset} {word}")


def build(folder: Path) -> Iterator[str]:
    synsets = read_synsets(folder)
    numbers: dict[str, int] = {}
    concepts: dict[str, list[int]] = defaultdict(list)
    antonyms: dict[str, set[str]] = defaultdict(set)
    for word, part, offsets in read_senses(folder):
        for offset in offsets:
            concepts[word].append(numbers.setdefault(part + offset, len(numbers)))
            synset = synsets[part, offset]
            for symbol, target in related(synset, synset.words.index(word), synsets):
                if symbol == "!" and WORD.fullmatch(target):
                    antonyms[word].add(target)
                elif symbol == "+" and target.split()[1][:4] == word[:4]:
                    concepts[word].append(numbers.setdefault(target.split()[0], len(numbers)))
    forms: dict[str, set[str]] = defaultdict(set)
    for name in PARTS:
        for line in (folder / f"{name}.exc").read_text().splitlines():
            form, *bases = line.split()
            if WORD.fullmatch(form) and bases and bases[0] in concepts and bases[0] != form:
                forms[bases[0]].add(form)
    shared: dict[int, int] = defaultdict(int)
    for ids in concepts.values():
        for number in set(ids):
            shared[number] += 1
    for word in sorted(concepts):
        ids = sorted({i for i in concepts[word] if shared[i] > 1})
        if ids or antonyms[word] or forms[word] or len(word) > 2:
            lists = (map(str, ids), sorted(antonyms[word]), sorted(forms[word]))
            yield "\t".join([word.replace("_", " "), *(" ".join(one) for one in lists)])


if __name__ == "__main__":
    Path(__file__).with_name("wordnet_en.tsv").write_text("\n".join(build(Path(sys.argv[1]))) + "\n")
