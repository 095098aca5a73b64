"""Whether a text says a fact, in whichever wording."""

from evalsets.item import alternatives, mentions
from harness.fidelity.reading.fact import same
from harness.fidelity.reading.pair import alike
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, read


def mentioned(text: Text, fact: str) -> bool:
    """Whether `text` says any of the wordings (separated by " | ") of `fact`: literally, or by values and words."""
    if mentions(text.plain, fact):
        return True
    return any(_says(text, _read(wording, text.lang)) for wording in alternatives(fact) if wording)


@remembered
def _read(wording: str, lang: str) -> Text:
    return read(wording, lang)


def _says(text: Text, wanted: Text) -> bool:
    if not wanted.content:
        return False
    for word in wanted.content:
        if word.fact:
            if not any(same(word.fact, fact) for fact in text.facts):
                return False
        elif not any(alike(word, other) for other in text.words if not other.mark):
            return False
    return True
