"""Code that no fence encloses: by indentation, by the marks of a language, by its look."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gateway.prompt.anchors import Protected, Span, merged

_MOST_UNMARKED_CHARS = 4_000  # what only looks like code is kept whole up to here
_INDENT_COLUMNS = 4
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_INDENTED = re.compile(r"^(?: {4}|\t)[ \t]*[^\s]", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+•·]|\(?\d{1,3}[.)、]|\(?[a-z][.)])\s")
_ANNOUNCES = (":", "：", "{", "(", "[")
_PROSE_SIGNS = re.compile(r"[{}\[\]<>=;#$@*_/\\|`]")
_PAIRS = re.compile(
    r"^[ \t>]*\\(?P<begin>begin)\{(?P<env>equation|align|gather|multline|eqnarray|array|tabularx?|[bpvV]?matrix|cases"
    r"|split|verbatim|lstlisting|minted|algorithm|algorithmic|tikzpicture|displaymath)(?P<star>\*?)\}"
    r"|\\(?P<end>end)\{(?P<env_end>\w{1,20})(?P<star_end>\*?)\}"
    r"|^[ \t>]*<(?P<tag>pre|script|style|svg|textarea)\b[^<>]{0,400}(?<!/)>"
    r"|</(?P<tag_end>pre|script|style|svg|textarea)\s*>",
    re.MULTILINE | re.IGNORECASE,
)
_HUNK = re.compile(
    r"^@@ -\d{1,9}(?:,(?P<old>\d{1,9}))? \+\d{1,9}(?:,(?P<new>\d{1,9}))? @@[^\n]*(?:\n|\Z)", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:(?!---|\.\.\.)[^\n]*\n){1,200}(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_UNDER = r"(?:[ \t][^\n]*(?:\n|\Z)|\n++(?=[ \t]))"  # an indented line, or empty ones before such
_SUITE = re.compile(  # of Python; prose may begin like one
    rf"^(?:@\w[^\n]*\n){{0,9}}(?:async|def|class|if|for|while|with|try)\b[^\n]*:[ \t]*\n{_UNDER}++"
    rf"(?:(?:else|elif|except|finally)\b[^\n]*:[ \t]*\n{_UNDER}++)*",
    re.MULTILINE,
)
_UNMARKED = (
    re.compile(
        r"^Traceback \(most recent call last\):\n(?:[ \t][^\n]*(?:\n|\Z))++(?:\S[^\n]*(?:\n|\Z))?", re.MULTILINE
    ),
    re.compile(
        r"^\S[^\n]*\n(?:[ \t]+at \S[^\n]*(?:\n|\Z)|Caused by: [^\n]*(?:\n|\Z)|[ \t]+\.\.\. \d+ [^\n]*(?:\n|\Z))++",
        re.MULTILINE,
    ),
    re.compile(
        r"^\[?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:)[^\n]*\n(?:[ \t]+\S[^\n]*(?:\n|\Z))++",
        re.MULTILINE,
    ),
    re.compile(rf"^(?:\S[^\n]*)?[{{(\[][ \t]*\n{_UNDER}++\n?[}})\]][^\n]*(?:\n|\Z)", re.MULTILINE),
    re.compile(
        r"^[\w.\"'/-]{1,80}:[ \t]*\n(?=[ \t]+(?:- )?[\w.\"'/-]{1,80}:(?:[ \t]|$))(?:[ \t][^\n]*(?:\n|\Z))++",
        re.MULTILINE,
    ),
)


class _Line(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def columns(self) -> int:
        """How far it is indented."""
        expanded = self.text.expandtabs(_INDENT_COLUMNS)
        return len(expanded) - len(expanded.lstrip(" "))


def unfenced_blocks(text: str, fenced: Sequence[Span]) -> list[Span]:
    """Code by indentation, LaTeX, preformatted HTML, diff hunks, YAML, stack traces: whole lines, disjoint."""
    found = [*_indented(text, fenced), *_paired(text), *_hunks(text), *_spans(_FRONT_MATTER, text)]
    unmarked = [*_suites(text), *(span for pattern in _UNMARKED for span in _spans(pattern, text))]
    found += [span for span in unmarked if span.end - span.start <= _MOST_UNMARKED_CHARS]
    taken = Protected(fenced)
    return merged([span for span in found if not taken.within(*span)])


def _spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [Span(match.start(), match.end()) for match in pattern.finditer(text)]


def _suites(text: str) -> list[Span]:
    """Loops, branches and definitions of Python; with prose under it "for all of you who read:" is none."""
    found = []
    for span in _spans(_SUITE, text):
        _, *under = text[span.start : span.end].splitlines()
        if not _is_prose([line for line in under if line.strip()]):
            found.append(span)
    return found


def _indented(text: str, fenced: Sequence[Span]) -> list[Span]:
    """Lines indented by four blanks or a tab, under an empty line or one that announces them; not text, not lists."""
    if _INDENTED.search(text) is None:
        return []
    runs: list[list[_Line]] = []
    run: list[_Line] = []
    may_open, in_item = True, False
    for line in _lines(text, fenced):
        stripped = line.text.strip()
        if not stripped:
            may_open = True
            continue
        deep = line.columns >= _INDENT_COLUMNS * (2 if in_item else 1)
        if deep and (run or (may_open and _ITEM.match(line.text) is None)):
            run.append(line)
            continue
        runs.append(run)
        run = []
        if line.columns < _INDENT_COLUMNS:
            in_item = _ITEM.match(line.text) is not None or (in_item and line.columns > 0)
        may_open = stripped.endswith(_ANNOUNCES)
    runs.append(run)
    return [Span(run[0].start, run[-1].end) for run in runs if run and not _is_prose([line.text for line in run])]


def _lines(text: str, fenced: Sequence[Span]) -> Iterator[_Line]:
    """Each line; a fenced block as if it were one line without a sign."""
    position = 0
    for block in [*fenced, Span(len(text), len(text))]:
        for line in _LINE.finditer(text, position, block.start):
            if line.end() > line.start():
                yield _Line(line.start(), line.end(), line.group())
        if block.end > block.start:
            yield _Line(block.start, block.end, "```")
        position = block.end


def _is_prose(texts: Sequence[str]) -> bool:
    """Whether most lines are five words or more without any sign of code: paragraphs whose first line is indented."""
    return sum(len(text.split()) >= 5 and _PROSE_SIGNS.search(text) is None for text in texts) > len(texts) / 2


def _paired(text: str) -> list[Span]:
    """Environments of LaTeX and preformatted elements, with the lines that they begin and end on."""
    found: list[Span] = []
    opened: dict[str, list[int]] = {}
    for mark in _PAIRS.finditer(text):
        name = _pair_name(mark)
        if mark["begin"] or mark["tag"]:
            opened.setdefault(name, []).append(mark.start())
        elif opened.get(name):
            newline = text.find("\n", mark.end())
            found.append(Span(opened[name].pop(), len(text) if newline < 0 else newline + 1))
    return found


def _pair_name(mark: re.Match[str]) -> str:
    if mark["begin"]:
        return f"\\{mark['env']}{mark['star']}"
    if mark["end"]:
        return f"\\{mark['env_end']}{mark['star_end']}"
    return str(mark["tag"] or mark["tag_end"]).lower()


def _hunks(text: str) -> list[Span]:
    """Hunks of a unified diff, as many lines as their heads say."""
    found: list[Span] = []
    for head in _HUNK.finditer(text):
        old, new = (int(head[side]) if head[side] else 1 for side in ("old", "new"))
        end = head.end()
        while (old > 0 or new > 0) and end < len(text):
            line = _LINE.match(text, end)
            if line is None or line.group()[0] not in " +-\\\n":
                break
            old -= line.group()[0] in " -\n"
            new -= line.group()[0] in " +\n"
            end = line.end()
        found.append(Span(head.start(), end))
    return found
