"""What is polite around a question and changes nothing in it: taken away at its two ends, never from its middle.

A word that is polite at the edge may be the matter in the middle ("How do I say thanks in French?"), and 请 opens 请假.
"""

import re
from typing import NamedTuple

_SIGN = r"[\s,.!:;。、~]"
_ON = r"(?=[a-z]|I\b)"  # a question goes on in small letters; "Hello Kitty" and "Hey Jude" are names
_LEAD = re.compile(
    r"\s*(?:(?i:(?:hi|hello|hey)\s+there|good\s+(?:morning|afternoon|evening|day)|(?:many\s+)?thanks|thank\s+you"
    rf"|excuse\s+me)\s*[,.!:;~]{_SIGN}*"
    rf"|(?i:hi|hello|hey)(?:\s*[,.!:;~]{_SIGN}*|\s+{_ON})"
    rf"|(?i:please|kindly)(?:\s*,\s*|\s+{_ON})"
    rf"|(?i:(?:can|could)\s+you\s+(?:please\s+)?tell\s+me)\s+(?=(?:wh(?:at|o|ose|ere|en|y|ich|ether)|how|if)\b)"
    rf"|(?i:tell\s+me)\s+(?=(?:wh(?:at|o|ose|ere|y|ich)|how)\b)"  # "Tell me when it ships" asks to be told then
    rf"|请问(?:一下)?(?!候){_SIGN}*|[你您]好(?:{_SIGN}+|(?=请问))|麻烦(?:[你您]|(?=请))"
    rf"|我?想知道{_SIGN}*|请(?![假求客教示安愿命战款柬托功问]))"
)
_WITHIN = re.compile(
    r"\b(?P<may>can|could|would|will)\s+(?P<who>you|i|we)\s+(?:please|kindly)\b(?!\s*[,.?!]|\s*$)", re.IGNORECASE
)
_ASK_WITHIN = re.compile(r"(?<=[,.?!;。、\s])请问(?:一下)?(?!候)")
_THANKS = r"(?:(?i:many thanks|thanks(?: a lot)?|thank you(?: very much)?|thx)|谢谢[你您]?|多谢)"
_TAIL = re.compile(
    rf"(?<=[,.?!;。、~\n])\s*{_THANKS}$"
    r"|(?<!\bsay)(?<!\bsaid)(?<!\bsays)(?<!\bmean)(?<!\bmeans)(?<!\bword)(?<!\bspell)(?<!\bwrite)(?<!\badd)"
    r"[\s,]\s*(?i:please)$"
)
_END = re.compile(r"(?:(?<!\d)!|[\s.?,;:~。、…])+$")
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
    """Ends in a word: no sign and no thanks behind it."""
    has_mark = False
    while True:
        end = _END.search(text)
        told = text[: end.start()] if end else text
        has_mark = has_mark or (end is not None and "?" in end[0])
        shorter = _TAIL.sub("", told)
        if shorter == told or not shorter.strip():
            return Bare(told, has_mark)
        text = shorter


PATTERNS = tuple(one.pattern for one in (_LEAD, _WITHIN, _ASK_WITHIN, _TAIL, _END, _QUOTE))
