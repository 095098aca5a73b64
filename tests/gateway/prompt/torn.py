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


ROWS = frozenset(
    ("table", "json cells", "tabs", "commas", "long row", "one bar", "quoted cells", "grid", "columns", "html rows")
)


class Thing(NamedTuple):
    """`atoms` are pieces of the pattern, in order; `needs`: the number of the atom that every other one needs."""

    name: str
    atoms: tuple[str, ...]
    needs: int | None = None

    @property
    def has_rows(self) -> bool:
        return self.name in ROWS


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
    Thing("one bar", ("item {} | days {}\n--- | ---\n", "book. New {} | 14 {}\n", "never {} | 0. A {}\n"), needs=0),
    Thing("quoted cells", ("item {},note {}\n", '"Ann. B, {}",not {}. A\n', "no disc. C {},{}\n"), needs=0),
    Thing(
        "grid",
        ("+---+---+\n| item {} | days {} |\n+===+===+\n", "| book. A {} | not {} |\n", "+---+---+\n"),
        needs=0,
    ),
    Thing(
        "columns", ("ITEM {}   DAYS {}   NOTE\n", "book {}   14   Not {}. A\n", "disc {}   0   Run. {} B\n"), needs=0
    ),
    Thing(
        "html rows",
        (
            "<table>\n",
            "<tr><th>item {}. A</th><th>days {}</th></tr>\n",
            "<tr><td>never {}. B</td>\n<td>0. {}</td></tr>\n",
            "</table>\n",
        ),
        needs=1,
    ),
    Thing("indented", ("\nThe code {}:\n\n", "    x{} = f(1). A\n\n    print('a. b{}')\n    # never {}\n"), needs=0),
    Thing("indented by tabs", ("\nThe code {}:\n\n", "\tx{} = f(1). A\n\n\t\tnot {}\n"), needs=0),
    one("braces", "function f{}() {{\n  if (x) {{\n    return 1. {}\n  }}\n\n  return 2. {}\n}}\n"),
    one("python", "def f{}():\n    if x:\n        return 1. A{}\n\n    return not {}\n"),
    one("latex", "\\begin{{align}}\n a{} &= b. \\\\\n\n c &= d. {} Not \\\\\n\\end{{align}}\n"),
    one("pre", "<pre>\nx {}. A\n\nnot {}. B\n</pre>\n"),
    one("hunk", "@@ -1,3 +1,3 @@ f{}\n a. B {}\n-not. C {}\n+b. D {}\n e. F {}\n"),
    one("yaml", "spec{}:\n  replicas: 3. A {}\n  not:\n    b: no. {}\n"),
    one("stack trace", "Traceback (most recent call last):\n  File {}. A\n    not {}. B\nValueError: c. D {}\n"),
    one("log with continuation", "2026-01-02 03:04:05 ERROR it failed {}. A\n  not {}. B\n  at c {}. D\n"),
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


def listed(name: str, before: str, members: Sequence[str], after: str = "") -> Thing:
    """A sentence with a long list, whose members need `before`, or else `after`, which holds the negation."""
    if after:
        return Thing(name, (before, *members, after), needs=len(members) + 1)
    return Thing(name, (before + members[0], *members[1:]), needs=0)


_CLERKS = ["the clerk {} of the regional sales department, "] * 24
_FILES = ["客户的第{}号私人文件、"] * 60
LISTS = (
    listed("en list", "Refunds {} must never be paid to ", [*_CLERKS, "or the driver {}. "]),
    listed("en list of orders", "Translate {} into French ", [*_CLERKS, "and the driver {}. "]),
    listed("en list before", "Of the staff ", [*_CLERKS, "and the driver {} "], "must not be paid {}. "),
    listed(
        "en list of or",
        "Never give {} it to Ann ",
        [*["or the clerk {} of the sales department "] * 24, "or the driver {}. "],
    ),
    listed("zh list", "严禁{}向任何人透露", [*_FILES, "和客户的第{}号录音。"]),
    listed("zh list before", "", [*_FILES, "客户的第{}号录音，"], "都不得{}向任何人透露。"),
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
        if not _MARK.search(text):
            continue
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
