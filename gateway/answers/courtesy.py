"""What is polite around a question and changes nothing in it: taken away at its two ends, never from its middle.

A word that is polite at the edge may be the matter in the middle ("How do I say thanks in French?"), and 请 opens 请假.
"""

import re
from typing import NamedTuple

_SIGN = r"[\s,.!;。、~]"  # no colon: "Thanks: what does it mean?" asks about the word
_ON = r"(?=[a-z]|I\b)"  # a question goes on in small letters; "Please Please Me" is a name
_LEAD = re.compile(
    r"\s*(?:(?i:(?:hi|hello|hey)\s+there|good\s+(?:morning|afternoon|evening|day)|(?:many\s+)?thanks|thank\s+you"
    rf"|excuse\s+me)\s*[,.!;~]{_SIGN}*"
    rf"|(?i:hi|hello|hey)\s*[,.!;~]{_SIGN}*"
    rf"|(?i:please|kindly)(?:\s*,\s*|\s+{_ON})"
    rf"|(?i:(?:can|could)\s+you\s+(?:please\s+)?tell\s+me)\s+(?=(?:wh(?:at|o|ose|ere|en|y|ich|ether)|how|if)\b)"
    rf"|(?i:tell\s+me)\s+(?=(?:wh(?:at|o|ose|ere|y|ich)|how)\b)"  # "Tell me when it ships" asks to be told then
    rf"|请问(?:一下)?+(?![候:]){_SIGN}*|[你您]好(?:{_SIGN}+|(?=请问))|麻烦(?:[你您]|(?=请))"
    rf"|我?想知道(?!:){_SIGN}*|请(?![假求客教示安愿命战款柬托功问]))"
)
_WITHIN = re.compile(
    r"\b(?P<may>can|could|would|will)\s+(?P<who>you|i|we)\s+(?:please|kindly)\b(?!\s*[,.?!]|\s*$)", re.IGNORECASE
)
_ASK_WITHIN = re.compile(r"(?<=[,.?!;。、\s])请问(?:一下)?(?!候)")
_THANKS = r"(?:(?i:many thanks|thanks(?: a lot)?|thank you(?: very much)?|thx)|谢谢[你您]?|多谢)"
# Blanks are read once: each run from its beginning only, and never given back.
_TAIL = re.compile(
    rf"(?<=[,.?!;。、~])\s*+{_THANKS}$|(?<!\s)[^\S\n]*+\n\s*+{_THANKS}$|(?<![\s,])"
    r"(?<!\bsay)(?<!\bsaid)(?<!\bsays)(?<!\bmean)(?<!\bmeans)(?<!\bword)(?<!\bspell)(?<!\bwrite)(?<!\badd)"
    r"[\s,]++(?i:please)$"
)
_END = ".?,;:~。、…"  # and "!", where it is no factorial
_TAILS = 3  # "…, please. Thanks! Many thanks"
_QUOTE = re.compile(r"[\"“”‘「『《〈«`]|(?<!\w)'")


class Bare(NamedTuple):
    """A question without its politeness, and whether a question mark stood behind it."""

    text: str
    has_mark: bool


def bare(text: str) -> Bare:
    """Without greeting, thanks and "please"; all of it where there is nothing else."""
    told, has_mark = _without_tail(text)
    at = 0
    while (lead := _LEAD.match(told, at)) and lead.end() < len(told):
        at = lead.end()
    told = told[at:].strip()
    return Bare(told if quotes(told) else _ASK_WITHIN.sub("", _WITHIN.sub(_asked, told)), has_mark)


def quotes(text: str) -> bool:
    """Whether it names something in quotation marks, which is to stay as it stands."""
    return _QUOTE.search(text) is not None


def _asked(found: re.Match[str]) -> str:
    """ "Could you please" asks what "can you please" asks; without "please" it may ask about the past."""
    may = "can" if found["may"].lower() == "could" else found["may"]
    return f"{may} {found['who']}"


def _without_tail(text: str) -> Bare:
    """Ends in a word: no sign and no thanks behind it. After a colon it is the matter ("Translate: thanks")."""
    at = _end(text)
    told, has_mark = text[:at], "?" in text[at:]
    for _ in range(_TAILS):
        shorter = told if ":" in told else _TAIL.sub("", told)
        if shorter == told or not shorter.strip():
            break
        at = _end(shorter)
        told, has_mark = shorter[:at], has_mark or "?" in shorter[at:]
    return Bare(told, has_mark)


def _end(text: str) -> int:
    """Where the signs and blanks at the end begin."""
    at = len(text)
    while at and (
        text[at - 1].isspace()
        or text[at - 1] in _END
        or (text[at - 1] == "!" and not text[at - 2 : at - 1].isdecimal())
    ):
        at -= 1
    return at


PATTERNS = (*(one.pattern for one in (_LEAD, _WITHIN, _ASK_WITHIN, _TAIL, _QUOTE)), _END, _TAILS)
