"""English ways to deny besides "not" and "no", and words that look like a denial and are none."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from collections.abc import Sequence
from types import MappingProxyType

from harness.fidelity.reading.text import Text, Word

PHRASES = frozenset(  # each denies what follows it, as "not" does
    ["advise against", "recommend against", "warn against", "caution against", "decide against", "speak against", "hold off", "refrain from", "keep from",
     "abstain from", "stay away from", "keep away from", "stay clear of", "steer clear of", "keep clear of", "stay out of", "keep out of", "keep off", "stay off",
     "do without", "go without", "out of the question", "in the dark", "rule out", "ruled out", "stop short of", "fall short of", "fell short of", "far from", "anything but", "nowhere near",
     "off the table", "by no means", "in no way", "under no circumstances", "not at all", "at no time", "on no account"]
)  # fmt: skip
NOUNS = MappingProxyType(  # a noun denies what its verb denies
    {"loss": "lose", "rejection": "reject", "refusal": "refuse", "prohibition": "prohibit", "exclusion": "exclude",
     "exemption": "exempt", "waiver": "waive", "absence": "absent", "omission": "omit"}
)  # fmt: skip
NOT_NEGATIVE = frozenset(
    ["unfortunately", "unfortunate", "undoubtedly", "unsurprisingly", "united", "uniting", "understanding", "unleashed", "underlying", "immediate",
     "immediately", "immediacy", "impatient", "impatiently", "impatience", "inconvenience", "inevitable", "inevitably", "infinite", "infinitely",
     "indispensable", "independent", "independently", "discharge", "discharged", "disinfect", "disclaimer", "disorder", "incredible", "incredibly", "injustice",
     "insane", "disarming", "imponderable", "distributary", "disembark", "disembarkation", "disadvantage", "inclement", "invaluable", "unless", "unveil",
     "unveiled", "uncover", "undo", "undergo", "undertake", "uncle", "unwind", "disappear", "disappears", "disappeared", "disappearing",
     *(f"{verb}{end}" for end in ("", "s") for verb in ("unlock", "unload", "unpack", "unplug", "unfold", "untie", "unwrap", "unsubscribe", "unmute", "uninstall", "unblock", "unscrew", "unzip", "unfasten", "unhook", "unroll", "unseal"))]
)  # fmt: skip
KNOWING = frozenset(  # unable to do this, one abstains
    ["tell", "say", "answer", "respond", "reply", "retrieve", "look", "check", "see", "open", "access", "give", "provide", "help", "assist", "deal", "find",
     "confirm", "verify", "reach", "get", "load", "fetch", "locate", "share", "comment", "advise", "assess", "show", "determine", "display"]
)  # fmt: skip
BARE_NEED = frozenset(  # a duty
    [
        "must",
        "have to",
        "need",
        "need to",
        "required",
        "require",
        "only",
        "必须",
        "须",
        "只有",
        "才",
        "才能",
        "务必",
        "得",
        "需",
        "需要",
        "要",
    ]
)
_ANY = frozenset(["anyone", "anybody", "anything", "anywhere", "any"])
_BUT = frozenset(["but", "except", "except for", "other than", "besides", "apart from", "aside from", "bar"])
_ANY_REACH = 7  # words between "not" and "anyone but"
_PLACE = frozenset(["at", "in", "for", "here", "there", "outside", "near", "by", "opposite"])
_BEFORE_A_PLACE = frozenset(
    ["a", "an", "the", "this", "that", "each", "every", "next", "last", "first", "bus", "tram", "train", "no", "one", "any", "same", "nearest", "rest"]
)  # fmt: skip


def only_any_but(words: Sequence[Word], at: int) -> int | None:
    """Where "but" stands of the "not … by anyone but" that begins at `at`, which is "only by"; None elsewhere."""
    for i in range(at + 1, min(len(words) - 1, at + 1 + _ANY_REACH)):
        if words[i].mark:
            return None
        if words[i].text.casefold() in _ANY:
            return next((k for k in (i + 1, i + 2) if k < len(words) and words[k].text.casefold() in _BUT), None)
    return None


def ends_any_but(words: Sequence[Word], at: int) -> bool:
    """Whether the word at `at` is the "but" of a "not … by anyone but"."""
    if words[at].text.casefold() not in _BUT:
        return False
    starts = (i for i in range(max(0, at - _ANY_REACH - 2), at) if words[i].text.casefold() in ("not", "never", "no"))
    return any(only_any_but(words, i) == at for i in starts)


def calls_at(words: Sequence[Word], at: int) -> bool:
    """Whether the "stop" at `at` is where something calls: a bus stop, it stops at the university."""
    after, before = words[at + 1 : at + 2], words[max(0, at - 2) : at]
    return any(w.lemma in _PLACE for w in after) or any(w.lemma in _BEFORE_A_PLACE for w in before)


def only_not(text: Text, at: int) -> bool:
    """Whether "the only" at `at` tells what is set apart: "the fifth is the only floor where it does not stop"."""
    words = text.words
    if at == 0 or words[at - 1].text.casefold() != "the":
        return False
    for word in words[at + 1 :]:
        if word.text in ".!?;":
            return False
        if word.text.casefold() in ("not", "never", "no", "without"):
            return True
    return False


def refers_back(words: Sequence[Word], at: int) -> bool:
    """Whether "not" denies a little verb with a pronoun: "we do not take those", which is what was named before."""
    after = [w.text.casefold() for w in words[at + 1 : at + 4]]
    return len(after) > 1 and after[0] in _LITTLE_VERBS and bool(_BACK & {*after[1:]})


_LITTLE_VERBS = frozenset(["take", "have", "get", "do", "make", "let", "go", "need"])
_BACK = frozenset(["it", "them", "those", "that", "these", "this", "one", "ones", "any"])


def costs(words: Sequence[Word], at: int) -> bool:
    """Whether the "nothing" at `at` is what something costs: "you pay nothing", "there is nothing to pay"."""
    before = {w.lemma for w in words[max(0, at - 2) : at]}
    after = [w.lemma for w in words[at + 1 : at + 4]]
    return bool(before & _PAYING) or (after[:1] == ["to"] and bool(_PAYING & {*after}))


_PAYING = frozenset(["pay", "cost", "charge", "owe", "spend"])


def goes_on(words: Sequence[Word], at: int) -> bool:
    """Whether the "nor" at `at` only goes on with a "neither" of its sentence."""
    for word in reversed(words[:at]):
        if word.text in ".!?;":
            return False
        if word.text.casefold() == "neither":
            return True
    return False


def free_of(words: Sequence[Word], at: int) -> frozenset[str] | None:
    """What the word at `at`, which ends in "free", denies: "nut-free" nuts, "free rooms" nothing; None where it is about a price."""
    low = words[at].text.casefold()
    stem = low.removesuffix("free").rstrip("-")
    if low != "free":
        return None if not low.endswith("-free") or stem in _PAID_ELSE else frozenset({stem, f"{stem}s"})
    before, after = words[at - 1 : at] if at else (), words[at + 1 : at + 4]
    if before and before[0].lemma in _SUBSTANCES:
        return frozenset({before[0].lemma, f"{before[0].lemma}s"})
    if len(after) > 1 and after[0].text.casefold() in ("of", "from") and after[1].lemma in _SUBSTANCES:
        return frozenset({after[1].lemma, f"{after[1].lemma}s"})
    if after and after[0].lemma in _PLACES and not (len(after) > 1 and after[1].content):
        return frozenset()
    return None


_PAID_ELSE = frozenset(["toll", "post", "duty", "rent", "hands", "royalty"])
_SUBSTANCES = frozenset(
    ["nut", "peanut", "gluten", "sugar", "lactose", "dairy", "milk", "egg", "soy", "wheat", "fat", "salt", "alcohol", "caffeine", "lead", "bpa",
     "oil", "meat", "gelatin", "latex", "nickel", "paraben", "plastic", "smoke", "nicotine", "fragrance", "cruelty", "chlorine", "acid", "yeast", "shellfish", "fluoride"]
)  # fmt: skip
_PLACES = frozenset(
    ["room", "rooms", "seat", "seats", "table", "tables", "slot", "slots", "bed", "beds", "spot", "spots", "appointment", "appointments", "berth", "berths"]
)  # fmt: skip


def bare_condition(words: Sequence[Word], at: int) -> bool:
    """Whether the denial at `at` is all that a condition says: "if not, …", "No one there? …"."""
    led = any(w.lemma == "if" for w in words[max(0, at - 2) : at])
    after = next((w for w in words[at + 1 :] if w.content or w.mark), None)
    return led and after is not None and after.mark and after.text == ","


def farther(low: str) -> bool:
    """Whether a word compares distances, which denies nothing."""
    return low.startswith(("farther ", "further ", "farthest ", "furthest "))


def far_away(words: Sequence[Word], at: int) -> bool:
    """Whether "far from" tells a distance: "far from the coast", "far from Rome"."""
    after = words[at + 1 : at + 2]
    return any(
        w.text.casefold() in ("the", "our", "your", "their", "my", "any", "it", "here", "home") or w.text[:1].isupper()
        for w in after
    )


def emptied(words: Sequence[Word], at: int) -> bool:
    """Whether "empty" is what is done to something: "empty the bin"."""
    return any(
        w.text.casefold() in ("the", "your", "it", "them", "all", "this", "every", "our")
        for w in words[at + 1 : at + 2]
    )


_ALSO = frozenset(["also", "too", "as well"])
_NOBODY_BESIDES = frozenset(
    ["not", "no", "never", "none", "nobody", "nothing", "no one", "nowhere", "any", "anyone", "anybody", "anything", "anywhere", "all", "every", "everyone",
     "everybody", "everything", "everywhere", "only", "other", "else"]
)  # fmt: skip


def adds(words: Sequence[Word], at: int) -> bool:
    """Whether a word that may set apart adds: "besides adults, children are welcome", "apart from the key you also get a map"."""
    low = words[at].text.casefold()
    if low not in ("besides", "apart from", "aside from"):
        return False
    begin = next((k + 1 for k in range(at - 1, -1, -1) if words[k].text in ".;!?"), 0)
    end = next((k for k in range(at, len(words)) if words[k].text in ".;!?"), len(words))
    said = {word.lemma for word in words[begin:end]}
    return not said.isdisjoint(_ALSO) or (low == "besides" and said.isdisjoint(_NOBODY_BESIDES))
