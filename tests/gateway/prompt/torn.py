"""Texts made of things that must stay whole, each marked so that any part of it that is left is found again.

`{}` in a pattern becomes a mark that no other part of the text has. A thing's atoms are what stays or goes as one: a
sentence, a block, a row, a JSON value, a negation with all that it negates. What an atom needs (the header of a row,
the lead-in of an item) must be there where the atom is.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

_MARK = re.compile(r"z\d+q")
_FILLER = "and the porter of house {} keeps the key of every room on the long floor over there, "


class Thing(NamedTuple):
    """`atoms` are pieces of the pattern, in order; `needs`: the number of the atom that every other one needs."""

    name: str
    atoms: tuple[str, ...]
    needs: int | None = None

    @property
    def has_rows(self) -> bool:
        return self.name in ("table", "json cells", "tabs", "commas", "long row")


def one(name: str, text: str) -> Thing:
    return Thing(name, (text,))


SENTENCES = (
    one("en negation", "Software {} that was opened {} cannot be {} refunded {}. "),
    one("en exception", "Discs {} are returned {}. Except when the disc {} is broken {}. "),
    one("abbreviation", "Orders {} over 59.90 USD ship free, e.g. order A-1234 {} in Nov. {} of this year. "),
    one("quoted", 'The sign {} says "Do not enter {}!" in red {}. '),
    one("wrapped", "Nobody {} may,\nwithout {} leave,\nopen {} the\nseal {}. "),
    one("wrapped early", "Do not {}\nopen the {} seal {}. "),
    one("zh wrapped", "请{}不要\n打开{}封条{}。"),
    one("wrapped late", "The staff of the house {} may not on any day of the week {}\nopen the seal {} of it. "),
    one("zh negation", "北京{}今天没有{}下雨{}。"),
    one("zh exception", "北京{}今天有雨{}。但是上海{}不会下雨{}！"),
    one("zh rule", "除了{}设计组，所有人{}都必须参加{}。"),
    one("inline json", 'The order {} is {{"id": "{}", "paid": "no. not yet {}"}} by now {}. '),
    one("inline code", "Call `run. {}` and never `stop. {}` there {}. "),
    one("emoji", "The café {} is open daily 👩‍👩‍👧 🇫🇷 {}. "),
    one("quoted twice", 'The sign {} says "Do not enter. {} Not ever {}." to all {}. '),
    one("quoted in curls", "The sign {} says “Do not enter. {} Not ever {}.” to all {}. "),
    one("zh quoted", "牌子{}给大家{}写着“不要进入{}！永远{}。”"),
    one("question in brackets", "The rule (is it {} a rule? {}) was not {} written. "),
)
BLOCKS = (
    one("fence", "```python\nx{} = 1. \n\nprint('a. b{}')\n# never {}\n```\n"),
    one("fence in a fence", "````md\n```\ninner{}. \n```\nnot {}\n````\n"),
    one("fence with ticks", '```json\nx{}\n  {{"a": "```"}}\n not {}. \n\nand {}\n```\n'),
    one("tilde fence", "~~~\nx{} = 1. \n\n``` {}\n~~~\n"),
    one("json line", '{{"order": "{}", "note": "paid. not sent", "items": [1, 2, {{"a": "b! {}"}}]}}\n'),
    one(
        "json lines",
        '{{\n  "order": "{}",\n  "note": "paid. not sent! {}",\n\n'
        '  "items": [\n    {{"a": "| b | {}"}},\n    2\n  ]\n}}\n',
    ),
    one("json array", '[\n  "a. {}",\n  "```",\n  {{"never": "{}"}},\n  "z {}"\n]\n'),
    one("long json", '{{"first": "{}", "text": "' + "all of it. " * 80 + '", "last": "{}"}}\n'),
    Thing(
        "table",
        ("| item | days {} |\n|---|---|\n", "| book. {} new | 14 {} |\n", "| not {} a disc! | 0 {} |\n"),
        needs=0,
    ),
    Thing(
        "json cells",
        ("| item {} | what |\n|---|---|\n", '| book. {} | {{"a": "b. C! {}"}} is. Never {} |\n'),
        needs=0,
    ),
    Thing("tabs", ("item {}\tdays {}\n", "book. {}\t14 {}\n", "never {}\t0. {}\n"), needs=0),
    Thing("commas", ("item {},days,what {}\n", "book. {},14,{}\n", "no disc {},0,{}\n"), needs=0),
    Thing("list", ("Never {} do this {}:\n", "- open the {} seal {}\n", "- lose the {} receipt {}\n"), needs=0),
    Thing("heading", ("# Terms {}\n",)),
    one("long row", "| not {} this | " + "and so on. " * 70 + "| {} |\n"),
)
LONG = (
    Thing(
        "long sentence",
        (
            _FILLER * 4,
            "but nobody {} may ever open {} the seal of a disc {}, ",
            _FILLER * 4,
            "since it is not {} for the staff {} to lose a receipt {}, ",
            _FILLER * 4,
            "and it ends. ",
        ),
    ),
)
SCOPES = re.compile(r"^(?:but nobody|since it is not)")


class Marked(NamedTuple):
    """One atom as it stands in a text."""

    thing: str
    text: str
    marks: tuple[str, ...]
    needs: tuple[str, ...]  # marks of the atom that this one needs


def marked(things: Sequence[Thing]) -> tuple[str, list[Marked]]:
    """Sentences on one line, blocks on lines of their own; the text and its atoms."""
    numbers = count(1)
    text = ""
    atoms: list[Marked] = []
    before = None
    for thing in things:
        if thing in BLOCKS and text and not text.endswith("\n"):
            text += "\n"
        if thing.has_rows and before is not None and before.has_rows:
            text += "\n"  # or the two are one table
        before = thing
        written = [_written(atom, numbers) for atom in thing.atoms]
        text += "".join(written)
        atoms += _atoms(thing, written)
    return text, atoms


def _written(pattern: str, numbers: Iterator[int]) -> str:
    places = pattern.replace("{{", "").replace("}}", "").count("{}")
    return pattern.format(*(f"z{next(numbers)}q" for _ in range(places)))


def _atoms(thing: Thing, written: Sequence[str]) -> Iterator[Marked]:
    for index, text in enumerate(written):
        if thing in LONG and SCOPES.match(text) is None:
            continue  # what runs on for longer than a unit may is cut at its clauses
        needed = thing.needs is not None and index != thing.needs
        needs = _MARK.findall(written[thing.needs or 0]) if needed else []
        yield Marked(thing.name, text.strip(), tuple(_MARK.findall(text)), tuple(needs))


def torn(content: str, atoms: Sequence[Marked]) -> list[str]:
    """What is left of atoms that are neither whole nor gone, or lack what they need; [] where all is well."""
    found = []
    for atom in atoms:
        left = [mark for mark in atom.marks if mark in content]
        if left and content.count(atom.text) != 1:
            found.append(f"{atom.thing}: {len(left)} of {len(atom.marks)} marks of {atom.text!r}")
        if left and any(mark not in content for mark in atom.needs):
            found.append(f"{atom.thing}: {atom.text!r} without what it needs")
    return found
