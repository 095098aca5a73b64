"""Which attribute belongs to which thing: "A 5, B 9" told as "B 5, A 9", in whatever words and order."""

from collections.abc import Sequence

from harness.fidelity.case import Finding
from harness.fidelity.reading.attachment import crossings, stretches
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.reversal import kin
from harness.fidelity.reading.text import Word

NAME = "attributes"
_PRONOUNS = frozenset(["it", "they", "them", "this", "that", "he", "him", "she", "her", "它", "它们", "他", "她"])
_BE = frozenset(["be", "get", "have", "will", "被"])


def check(both: Pair) -> list[Finding]:
    words = both.reference.words
    found = []
    for left, one, right, other in crossings(both):
        sure = kin(words[one], words[other]) or kin(words[left], words[right])
        if not sure and (_by_pronoun(both, left, one) or _by_pronoun(both, one, left)):
            continue
        named = (words[i].text for i in (one, left, other, right))
        reason = "“{}” goes with “{}” and “{}” with “{}” in the reference, not so in the answer".format(*named)
        found.append(Finding(check=NAME, severity=1.0 if sure else 0.8, reason=reason, certain=True))
    return sorted(found, key=lambda f: -f.severity)[:1]


def _by_pronoun(both: Pair, thing: int, deed: int) -> bool:
    """Whether the answer names a thing to which a deed is done, and elsewhere the deed with "it": "skips it"."""
    first, then = both.partner_back[thing], both.partner_back[deed]
    if first is None or then is None or first >= then or not _done_to(both.reference.words, thing, deed):
        return False
    fine, words = stretches(both.candidate)[-1], both.candidate.words
    at = then - 1
    while at > first and words[at].lemma in _BE:
        at -= 1
    passive = at < then - 1 and words[at].text.casefold() in _PRONOUNS
    active = then + 1 < len(words) and words[then + 1].text.casefold() in _PRONOUNS
    return fine[first] != fine[then] and (passive or active)


def _done_to(words: Sequence[Word], thing: int, deed: int) -> bool:
    """Whether the words say so: "skips the commit", "the commit is skipped"."""
    between = words[min(thing, deed) + 1 : max(thing, deed)]
    if deed < thing:
        return not any(word.content for word in between)
    return any(word.lemma in ("be", "被") for word in between)
