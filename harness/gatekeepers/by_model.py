"""L2 when intents are measured: a language model behind an OpenAI-compatible URL names the intent."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence

from harness.errors import HarnessError
from harness.gatekeepers.labelled import LabelledQuestion
from harness.gatekeepers.measure import Level

Say = Callable[[str], None]


def _nothing(_: str) -> None:
    """Nobody listens."""


def by_model(url: str, model: str, intents: Sequence[str], *, timeout_s: float = 60.0, say: Say = _nothing) -> Level:
    """`url` up to and with /v1. A word that is no intent counts as an answer that is wrong, one too late as none.

    Each question is asked once, however often it is measured. `say` hears of each answer.
    """
    known: dict[str, str | None] = {}
    names = ", ".join(intents)
    system = f"Name the topic of the customer's question. Answer with one of these words only: {names}."

    def level(question: LabelledQuestion) -> str | None:
        if question.id not in known:
            said = _ask(url, model, system, question.question, timeout_s=timeout_s).casefold()
            known[question.id] = next((intent for intent in intents if intent in said), said[:40] or None)
            say(f"{len(known)}: {question.id}: {known[question.id]}, is {question.intent}")
        return known[question.id]

    return level


def _ask(url: str, model: str, system: str, question: str, *, timeout_s: float) -> str:
    """What the model says; "" where that takes too long. Raises HarnessError when there is no answer."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    body = json.dumps({"model": model, "messages": messages, "max_tokens": 8, "temperature": 0}).encode()
    request = urllib.request.Request(
        f"{url.rstrip('/')}/chat/completions", data=body, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            return str(json.load(response)["choices"][0]["message"]["content"])
    except TimeoutError:
        return ""
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            return ""
        raise HarnessError(f"{url}: {model} gave no answer: {error}") from None
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise HarnessError(f"{url}: {model} gave no answer: {error}") from None
