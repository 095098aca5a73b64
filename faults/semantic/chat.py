"""Where text lies in a chat completion: the last user message, a JSON answer, the events of a stream."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable
from functools import partial
from typing import Any, Protocol

import msgspec


class TextEditor(Protocol):
    def feed(self, text: str) -> str: ...
    def flush(self) -> str: ...


MakeEditor = Callable[[], TextEditor]


def parse_object(body: bytes) -> dict[str, Any] | None:
    """The JSON object in `body`; None: it is something else."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def edit_prompt(body: bytes, edit: Callable[[str], str]) -> bytes:
    """Edit the text of the last user message; the same bytes when nothing changed or nothing is there to edit."""
    request = parse_object(body)
    messages = request.get("messages") if request else None
    users = (
        [m for m in messages if isinstance(m, dict) and m.get("role") == "user"] if isinstance(messages, list) else []
    )
    if not users:
        return body
    changed = edit_content(users[-1], edit)
    return msgspec.json.encode(request) if changed else body


def edit_content(message: dict[str, Any], edit: Callable[[str], str]) -> bool:
    """Edit `content` in place, a string or a list of text parts; True: it changed."""
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = edit(content)
        return bool(message["content"] != content)
    parts = content if isinstance(content, list) else []
    texts = [part for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    before = [part["text"] for part in texts]
    for part in texts:
        part["text"] = edit(part["text"])
    return [part["text"] for part in texts] != before


def edit_answer(body: bytes, make: MakeEditor) -> bytes:
    """Edit the content of every choice of a JSON answer; the same bytes when nothing changed."""
    answer = parse_object(body)
    if answer is None:
        return body
    changed = False
    for choice in choices_of(answer):
        message = choice.get("message")
        if isinstance(message, dict) and isinstance(message.get("content"), str):
            changed |= edit_content(message, partial(_edit_whole, make()))
    return msgspec.json.encode(answer) if changed else body


def _edit_whole(editor: TextEditor, text: str) -> str:
    return editor.feed(text) + editor.flush()


def choices_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    choices = answer.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


async def sse_events(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    """Cut a byte stream after each blank line; the concatenation is the stream."""
    rest = b""
    async for chunk in chunks:
        rest += chunk
        while (end := _event_end(rest)) > 0:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _event_end(data: bytes) -> int:
    ends = [found + len(mark) for mark in (b"\n\n", b"\r\n\r\n") if (found := data.find(mark)) >= 0]
    return min(ends, default=-1)


def event_payload(event: bytes) -> bytes:
    """The data of an event; empty: a comment or another field."""
    lines = event.splitlines()
    return b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))


def is_last(event: bytes) -> bool:
    """The stream says with this event that it is complete: a finish reason, or [DONE]."""
    payload = event_payload(event)
    if payload == b"[DONE]":
        return True
    answer = parse_object(payload)
    return answer is not None and any(choice.get("finish_reason") for choice in choices_of(answer))


class StreamEditor:
    """Edits the deltas of a stream, one editor per choice; finish reasons, usage and all else stay as they were."""

    def __init__(self, make: MakeEditor) -> None:
        self._make = make
        self._editors: dict[int, TextEditor] = {}
        self._last: dict[int, dict[str, Any]] = {}  # the last chunk with text, to carry what is flushed late

    def event(self, event: bytes) -> bytes:
        payload = event_payload(event)
        if payload == b"[DONE]":
            return self.end() + event
        answer = parse_object(payload)
        if answer is None:
            return event
        changed = [self._edit_choice(answer, choice) for choice in choices_of(answer)]
        return _event_of(answer) if any(changed) else event

    def _edit_choice(self, answer: dict[str, Any], choice: dict[str, Any]) -> bool:
        delta = choice.get("delta")
        index = choice.get("index", 0)
        if not isinstance(delta, dict) or not isinstance(index, int):
            return False
        before = delta.get("content")
        after = ""
        if isinstance(before, str):
            if index not in self._editors:
                self._editors[index] = self._make()
            after = self._editors[index].feed(before)
            self._last[index] = {**answer, "choices": [{**choice, "delta": {"content": ""}}]}
        if choice.get("finish_reason") and index in self._editors:
            after += self._editors.pop(index).flush()
        if after == (before or ""):
            return False
        delta["content"] = after
        return True

    def end(self) -> bytes:
        """Events with what the editors still hold, for a stream that ended without a finish reason."""
        events = b""
        for index, editor in self._editors.items():
            if text := editor.flush():
                chunk = self._last[index]
                chunk["choices"][0]["delta"]["content"] = text
                events += _event_of(chunk)
        self._editors.clear()
        return events


def _event_of(answer: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(answer) + b"\n\n"


def answer_text(answer: dict[str, Any]) -> str:
    """The text of the first choice of a JSON answer or of a stream's chunk; empty: it has none."""
    for choice in choices_of(answer)[:1]:
        message = choice.get("message") or choice.get("delta")
        content = message.get("content") if isinstance(message, dict) else None
        return content if isinstance(content, str) else ""
    return ""
