"""Bring the facts in CARD.md beside the bundled questions up to date: `python -m harness.gatekeepers.write_card`."""

from evalsets.card import counted, file_sha256, write_card
from harness.gatekeepers.hit_rate import REWORDED, load_reworded
from harness.gatekeepers.labelled import BUNDLED, load_questions


def facts() -> list[tuple[str, str]]:
    """Rows of the card's table, before the file and its sha256."""
    questions, reworded = load_questions("questions"), load_reworded()
    return [
        ("questions", str(len(questions))),
        ("languages", counted(one.lang for one in questions)),
        ("topics", counted(one.intent for one in questions)),
        ("rewordings", f"{len(reworded)} of {len({one.of for one in reworded})} of them, `{REWORDED.name}`"),
        (f"sha256 of `{REWORDED.name}`", f"`{file_sha256(REWORDED)}`"),
        ("source", "written for Truefall"),
        ("licence", "Apache-2.0"),
    ]


if __name__ == "__main__":
    print(write_card(BUNDLED, facts()))
