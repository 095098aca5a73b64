"""Which editor belongs to which kind of text fault."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from faults.semantic.active import Meeting
from faults.semantic.chat import TextEditor
from faults.semantic.edits import (
    Edit,
    Editor,
    PerToken,
    Reorder,
    Replace,
    Truncate,
    blur,
    drop,
    duplicate,
    mojibake,
    swap_words,
)
from faults.semantic.lexicon import Phrases, WordTable, load_blur, load_glossary, load_synonyms
from faults.semantic.spec import Kind
from faults.semantic.units import Pieces, Splitter, one_piece

OTHER_LANGUAGE = MappingProxyType({False: "\n\n请用中文回答。", True: "\n\nAnswer in English."})  # by: text is Chinese


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """The tokenizer and the word lists that editors work with."""

    pieces: Pieces
    synonyms: WordTable
    glossary: WordTable
    phrases: Phrases
    plain: Splitter

    def editor(self, meeting: Meeting, stale: str | None) -> TextEditor:
        """The editor of one fault for one text; `stale` is another request's answer, if there is one."""
        edit, splitter = self._edit(meeting, stale)
        return Editor(edit, splitter, lambda: meeting.over)

    def _edit(self, meeting: Meeting, stale: str | None) -> tuple[Edit, Splitter]:
        per_token: dict[str, Callable[[str], str | None]] = {
            "drop": drop,
            "duplicate": duplicate,
            "mojibake": mojibake,
        }
        tables = {"synonyms": self.synonyms, "language": self.glossary}
        what = meeting.spec.kind.partition("_")[2]
        if what in tables:
            table = tables[what]
            return PerToken(meeting, one_piece, swap_words(table, meeting)), table.splitter
        if what in per_token:
            pieces = self.pieces if what == "drop" else one_piece
            return PerToken(meeting, pieces, per_token[what]), self.plain
        whole: dict[str, Callable[[], Edit]] = {
            "reorder": lambda: Reorder(meeting),
            "truncate": lambda: Truncate(meeting, self.pieces),
            "stale": lambda: Replace(meeting, stale),
        }
        return whole[what](), self.plain

    def edit_prompt(self, text: str, meetings: Sequence[Meeting]) -> str:
        """Every prompt fault, one after the other."""
        for meeting in meetings:
            text = self._edit_prompt(text, meeting)
        return text

    def _edit_prompt(self, text: str, meeting: Meeting) -> str:
        if meeting.spec.kind is Kind.PROMPT_BLUR:
            return blur(text, self.phrases, meeting)
        if meeting.spec.kind is Kind.PROMPT_LANGUAGE:
            wish = OTHER_LANGUAGE[_is_chinese(text)]
            meeting.record(at=len(text), was="", now=wish)
            return text + wish
        editor = self.editor(meeting, None)
        return editor.feed(text) + editor.flush()

    def chain(self, meetings: Sequence[Meeting], stale: Callable[[Meeting], str | None]) -> TextEditor:
        """Every answer fault, one after the other, as one editor."""
        return Chain([self.editor(meeting, stale(meeting)) for meeting in meetings])


class Chain:
    """Editors in a row."""

    def __init__(self, editors: Sequence[TextEditor]) -> None:
        self._editors = editors

    def feed(self, text: str) -> str:
        for editor in self._editors:
            text = editor.feed(text)
        return text

    def flush(self) -> str:
        text = ""
        for editor in self._editors:
            text = editor.feed(text) + editor.flush()
        return text


def open_workshop(pieces: Pieces) -> Workshop:
    return Workshop(
        pieces=pieces, synonyms=load_synonyms(), glossary=load_glossary(), phrases=load_blur(), plain=Splitter([])
    )


def _is_chinese(text: str) -> bool:
    return sum("\u4e00" <= char <= "\u9fff" for char in text) * 3 > len(text)
