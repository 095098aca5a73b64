"""What counts as one block of code or one row, and what does not."""

import pytest

from gateway.prompt.structure import code_blocks, json_values
from gateway.prompt.tables import tables


def _blocks(text: str) -> list[str]:
    return [text[span.start : span.end] for span in code_blocks(text)]


@pytest.mark.parametrize(
    ("before", "block", "after"),
    [
        ("Here:\n\n", "    x = f(1). Go.\n\n    y = 2\n", "\nNext."),
        ("Here:\n", "    x = f(1). Go.\n    y = 2\n", "Next."),
        ("Here\n\n", "\tx = f(1)\n\t\tnot y\n", "\nNext."),
        ("1. One\n\n    continued. More.\n\n", "        code(1). A\n", "\n2. Two"),
        ("", "~~~\na\n```\nb\n~~~\n", "Next."),
        ("", "`````\n```\n````\n`````\n", "Next."),
        ("A.\n", "def f(x):\n    if x:\n        return 1\n\n    return 2\n", "\nWhy?"),
        ("A.\n", "try:\n  f(1). A\nexcept E:\n  g()\n", "Why?"),
        ("A.\n", "function f(x) {\n  return 1;\n\n  not(2);\n}\n", "\nWhy?"),
        ("A.\n", "\\begin{equation*}\n a = b. \\\\\n\n c\n\\end{equation*}\n", "Why?"),
        ("A.\n", '<pre class="x">\na. B\n\nc\n</pre>\n', "Why?"),
        ("See:\n", "@@ -1,3 +1,2 @@ def f\n a. B\n-b. C\n c\n", "- item. Two.\n"),
        ("", "---\ntitle: a. B\nnot: c\n---\n", "Text."),
        ("A.\n", "spec:\n  replicas: 3. x\n  a:\n    b: not. C\n", "other: x\n"),
        ("", "2026-01-01 12:00 ERROR it failed. Badly\n  at x. Y\n  more. Z\n", "2026-01-02 fine.\n"),
        ("A.\n", "E in x: y. Z\n\tat a.b(c)\nCaused by: e. F\n\t... 3 more\n", "Why?"),
        ("A.\n", "Traceback (most recent call last):\n  File x. Y\n    a. B\nValueError: z. N\n", "Why?"),
    ],
)
def test_code_is_one_block_with_or_without_a_fence(before: str, block: str, after: str) -> None:
    assert _blocks(before + block + after) == [block]


@pytest.mark.parametrize(
    "text",
    [
        "List:\n\n    - a. B\n    - b\n\nEnd.",
        "Text.\n\n    It was a dark night in the town. It rained.\n\n    He did not open the door to anyone.\n\nEnd.",
        "Terms:\n  - never a. B\n  - never b\n",
        "An {open brace\nand no more. Of it.",
        "if you like it:\nso be it.",
        "\\begin{align} is never closed.\n\nSo it is.",
        "<pre> is never closed.\n\nSo it is.",
        '{\n    "a": "b. C",\n\n    "items": [\n        1\n    ]\n}\n',
        'Look:\n\n    {\n      "a": 1\n    }\n',
        "for all of you who read this:\n  Please do not open the door.\n  It is locked from the inside.\n",
        "with regards to the contract:\n  The fee is 5, and nobody pays it twice.\n",
    ],
)
def test_lists_prose_and_json_are_no_code(text: str) -> None:
    assert _blocks(text) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["a | b\n--- | ---\n", "x. Y | 2\n", "z | 3\n"],
        ["+---+---+\n| h | i |\n+===+===+\n", "| a. B | c |\n", "+---+---+\n"],
        ["name,note\n", '"Ann. Bo, x",y. Z\n', "b,c\n"],
        ["a;b;c\n", "1;x. Y;2\n", "3;4;5\n"],
        ["NAME   READY  STATUS\n", "pod-a  1/1    Run. Up\n", "pod-b  0/1    not\n"],
        ["<tr><th>h. A</th></tr>", "<tr><td>not. B</td>\n<td>c</td></tr>"],
    ],
)
def test_rows_of_a_table_have_its_header_above_them(lines: list[str]) -> None:
    text = "".join(lines)
    if "<tr>" in text:
        text = f"<table>\n{text}\n</table>"
    (table,) = tables(text, json_values(text, []))
    assert [text[line.start : line.end] for line in table.lines] == lines


@pytest.mark.parametrize(
    "text",
    [
        "There were 1,000 men.\nThere were 2,000 boys.\nThere were 3,000 girls.\n",
        "Either a | b. So.\nOr c | d. So.\n",
        "One.  Two.  Three.\nOne.  Two.  Three.\nOne.  Two.  Three.\n",
        "x = 1;\ny = 2;\nz = 3;\n",
    ],
)
def test_prose_is_no_table(text: str) -> None:
    assert tables(text, []) == []
