"""L2 when intents are measured: a language model behind an OpenAI-compatible URL names the intent."""

import json
import urllib.request
from collections.abc import Sequence

from harness.errors import HarnessError
from harness.gatekeepers.labelled import LabelledQuestion
from harness.gatekeepers.measure import Level

_TIMEOUT_S = 60


def by_model(url: str, model: str, intents: Sequence[str]) -> Level:
    """`url` up to and with /v1. A word that is no intent counts as an answer that is wrong."""
    names = ", ".join(intents)
    system = f"Name the topic of the customer's question. Answer with one of these words only: {names}."

    def level(question: LabelledQuestion) -> str | None:
        said = _ask(url, model, system, question.question).casefold()
        return next((intent for intent in intents if intent in said), said[:40] or None)

    return level


def _ask(url: str, model: str, system: str, question: str) -> str:
    """Raises HarnessError when there is no answer."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    body = json.dumps({"model": model, "messages": messages, "max_tokens": 8, "temperature": 0}).encode()
    request = urllib.request.Request(
        f"{url.rstrip('/')}/chat/completions", data=body, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
            return str(json.load(response)["choices"][0]["message"]["content"])
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise HarnessError(f"{url}: {model} gave no answer: {error}") from None
