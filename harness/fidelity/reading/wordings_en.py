"""English wordings that are written in one way before a text is read: conditions told as a question or turned round, verbs parted from their particle."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.numerals import NUMBER_EN, english

_SUBJECT = r"(?:you|we|they|he|she|it|i|this|that|these|those|there|anyone|anybody|anything|someone|somebody|something|(?:the|your|our|a|an|any) [a-z-]+)"
_TURNED_ROUND = re.compile(  # "should you miss it, …", "had we known"
    rf"(?P<lead>^|[.!;:,]\s+|\b(?:but|and|or)\s+)(?P<mark>should|were|had) (?P<who>{_SUBJECT})\b(?=[^?.!]*(?:[.!]|$))",
    re.IGNORECASE,
)
_ASKS = "who|whom|whose|what|when|where|which|why|how|is|are|was|were|am|do|does|did|can|could|may|must|will|would|should|shall|has|have|had|need|any|questions?|anything|something|really|sounds|ready|and|or|but|so|not|right|ok|okay|sorry|pardon"
_SUPPOSED = re.compile(  # "Smell gas? Leave the building."
    rf"(?P<lead>^|[.!]\s+)(?!(?i:{_ASKS})\b)(?P<what>[A-Z][a-z']*(?: [\w'-]+){{1,8}})\?(?P<gap>\s+)(?P<next>[A-Z])"
)
_PARTED = re.compile(  # "turn the router off"
    r"\b(?P<verb>(?:turn|switch|put|take|pick|hand|fill|send|bring|call|plug|shut|log|cut|pull|push|give|throw|pass|sort|set|lay|wipe|pay|write|note|tear|top|clean|back|check|drop|lock|move|screw|unplug)(?:s|es|ed|ing|ned|ching|ting)?|took|taken|gave|given|brought|sent|threw|thrown|paid|wrote|laid)"
    r" (?P<what>(?:it|them|this|that|everything|(?:the|your|our|a|an|any|all|both|his|her|their|its|this|that|these|those|each) (?:[a-z]+ ){0,2}?[a-z]+))"
    r" (?P<back>back )?(?P<particle>off|on|out|up|down|back|away|over|in)\b(?=\s*(?:[.,;:!?)]|$|\b(?:and|or|before|after|for|when|if|again|then|at|by|once|until|as|so|to|with|while|unless|because|from|in|on|no later)\b))",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\bleave (?P<what>(?:all |any |the |your |these |those |every )?(?:[a-z]+ ){0,2}[a-z]+) alone\b|\b(?:keep (?:your )?)?hands off\b",
    re.IGNORECASE,
)
_KEPT_OFF = re.compile(  # "keep your feet off the seats"
    r"\bkeep (?P<what>(?:the |your |all |any |this |these |those |it |them )(?:[a-z]+ ){0,3}?)(?P<particle>off|out of|away from|clear of)\b(?! reach\b)",
    re.IGNORECASE,
)
_PER = re.compile(r"\bfor (?:each|every)(?= (?!one\b|other\b|of\b|and\b|single\b)[a-z]+)", re.IGNORECASE)
_SINGLE = re.compile(
    r"\ba single(?= (?!room|bed|ticket|fare|journey|trip|cabin|parent|mother|father|person|supplement|malt|market|currency|file|sign|man|woman|bedroom|glazed|day)[a-z])",
    re.IGNORECASE,
)
_BY_THE_WAY = re.compile(  # "swimming, though, is not advised"
    r"(?<=[a-z0-9]),? (?:though|however|therefore|too|of course|by the way|incidentally|for example|in that case|for instance|as usual|please note|in turn|meanwhile)(?:,(?= [a-z])|(?=\.(?:\s|$)))",
)
_REMEMBER = re.compile(r"\b(?:do not|never) (?:forget|neglect|omit|fail) to\b", re.IGNORECASE)
_DAY_ONE = re.compile(r"\b(?P<what>day|week|month|year|round|stage|phase) one\b", re.IGNORECASE)
_ALL_BUT = re.compile(  # "all but two of the twelve"
    rf"\ball (?:but|except) (?P<few>{NUMBER_EN}) of (?P<whole>(?:the |our |its |your |their )?(?P<many>{NUMBER_EN}))(?= [a-z])",
    re.IGNORECASE,
)
_WEIGHS = re.compile(r"\b(?:weighs?|weighed) (?P<how>more|less)(?= than\b)", re.IGNORECASE)
_FOLLOWING = re.compile(r"\bthe (?:following|coming) (?=(?:year|month|week|quarter)\b)", re.IGNORECASE)
_COMPOUND = re.compile(r"(?<![\w-])(?P<parts>[A-Za-z]{2,}(?:-[A-Za-z]{2,}){1,2})(?![\w-])")
_KEPT = frozenset(
    [
        "non",
        "un",
        "in",
        "co",
        "re",
        "pre",
        "post",
        "anti",
        "self",
        "ex",
        "semi",
        "sub",
        "over",
        "under",
        "multi",
        "mini",
        "mid",
        "off",
        "up",
        "on",
        "out",
        "down",
        "by",
        "to",
        "x",
        "e",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "sixty",
        "seventy",
        "eighty",
        "ninety",
        "hundred",
        "half",
        "third",
        "quarter",
        "quarters",
        "thirds",
        "fifth",
        "no",
        "all",
        "so",
        "well",
        "then",
        "and",
        "or",
        "of",
        "the",
    ]
)


def plain_english(text: str) -> str:
    """The text with such wordings written in the plain way."""
    text = _TURNED_ROUND.sub(lambda m: f"{m['lead']}if {m['who']}", text)
    if "?" in text:
        text = _SUPPOSED.sub(lambda m: f"{m['lead']}If you {_small(m['what'])},{m['gap']}{_small(m['next'])}", text)
    text = _ALONE.sub(lambda m: f"do not touch {re.sub(r'^(?:all|every) ', 'any ', m['what'] or '')}".rstrip(), text)
    text = _KEPT_OFF.sub(lambda m: f"keep {m['particle']} {m['what'].rstrip()}", text)
    text = _PARTED.sub(_joined, text)
    text = _REMEMBER.sub("remember to", text)
    text = _DAY_ONE.sub(r"first \g<what>", _BY_THE_WAY.sub("", text))
    text = _ALL_BUT.sub(_rest, _FOLLOWING.sub("next ", text))
    text = _WEIGHS.sub(lambda m: "is heavier" if m["how"].casefold() == "more" else "is lighter", text)
    text = _SINGLE.sub("one", _PER.sub("per", text))
    return _COMPOUND.sub(_parted, text) if "-" in text else text


def _joined(match: re.Match[str]) -> str:
    """ "turn the router off" as "turn off the router", where "turn off" is a verb of its own."""
    known = lexicon("en")
    verb = f"{known.lemma(match['verb'].casefold())} {match['particle'].casefold()}"
    if not any(verb in words for words in (known.groups, known.antonyms, known.senses)):
        return match[0]
    return f"{match['verb']} {match['particle']} {match['what']}{' back' if match['back'] else ''}"


def _rest(match: re.Match[str]) -> str:
    """ "all but two of the twelve" as "10 of the twelve"."""
    few, many = english(match["few"]), english(match["many"])
    return match[0] if few is None or many is None or few >= many else f"{many - few:g} of {match['whole']}"


def _small(words: str) -> str:
    return words[:1].lower() + words[1:]


def _parted(match: re.Match[str]) -> str:
    """ "second-floor" as two words; "check-in", which is one word, as it is."""
    whole, known = match["parts"], lexicon("en")
    low = whole.casefold()
    if whole != low or low in known.words or low in known.groups or low in known.antonyms or low in known.functions:
        return whole
    parts = low.split("-")
    return whole if _KEPT & {*parts} else " ".join(parts)
