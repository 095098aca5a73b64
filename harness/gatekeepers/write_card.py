"""Bring the facts in CARD.md beside the bundled questions up to date: `python -m harness.gatekeepers.write_card`."""

from evalsets.card import counted, write_card
from harness.gatekeepers.labelled import BUNDLED, load_questions


def facts() -> list[tuple[str, str]]:
    """Rows of the card's table, before the file and its sha256."""
    questions = load_questions("questions")
    return [
        ("questions", str(len(questions))),
        ("languages", counted(one.lang for one in questions)),
        ("topics", counted(one.intent for one in questions)),
        ("source", "written for Truefall"),
        ("licence", "Apache-2.0"),
    ]


if __name__ == "__main__":
    print(write_card(BUNDLED, facts()))
