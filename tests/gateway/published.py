"""Responses against OpenAI's own published types."""

from typing import Any

from openai.types import ErrorObject
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel
from served import Answer


def conforms(body: Any, kind: type[BaseModel]) -> None:
    """Valid by the published type, required fields and literals included."""
    kind.model_validate(body, strict=True)


def has_published_shape(answer: Answer) -> None:
    """Any answer of the chat endpoint: whole, streamed, refused, or an error in the stream."""
    if not answer.headers.get("Content-Type", "").startswith("text/event-stream"):
        body = answer.json
        if "error" in body:
            conforms(body["error"], ErrorObject)
        else:
            conforms(body, ChatCompletion)
        return
    assert answer.events
    for event in answer.events:
        if event == "[DONE]":
            continue
        if "error" in event:
            conforms(event["error"], ErrorObject)
        else:
            conforms(event, ChatCompletionChunk)
