"""English wordings that say one thing: "the majority of guests" and "most guests", "you may" and "you can"."""

import re

_MAJORITY = re.compile(r"\b(?:the |a )majority of(?: the| our| all| all the)?(?= )", re.IGNORECASE)
_MOST = re.compile(r"\bmost\b(?! of\b)", re.IGNORECASE)
_MOST_OF = re.compile(r"\bmost of(?: the| our)?\b", re.IGNORECASE)
_LEAVE = re.compile(r"\b(?P<who>[a-z]+) (?P<verb>may|can)\b(?! (?:not|be|have|already)\b|['’])", re.IGNORECASE)


def in_words_of(text: str, other: str) -> str:
    """`text` with such wordings put as `other` puts them."""
    if _MAJORITY.search(text) and not _MAJORITY.search(other):
        if of := _MOST_OF.search(other):
            text = _MAJORITY.sub(of[0].lower(), text)
        elif _MOST.search(other):
            text = _MAJORITY.sub("most", text)
    told = {found["who"].casefold(): found["verb"] for found in _LEAVE.finditer(other)}
    return _LEAVE.sub(lambda found: f"{found['who']} {told.get(found['who'].casefold(), found['verb'])}", text)
