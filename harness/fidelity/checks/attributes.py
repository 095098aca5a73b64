"""Which attribute belongs to which thing: "A 5, B 9" told as "B 5, A 9", in whatever words and order."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.attachment import crossings
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.reversal import kin

NAME = "attributes"


def check(both: Pair) -> list[Finding]:
    words = both.reference.words
    found = []
    for left, one, right, other in crossings(both):
        sure = kin(words[one], words[other]) or kin(words[left], words[right])
        named = (words[i].text for i in (one, left, other, right))
        reason = "“{}” goes with “{}” and “{}” with “{}” in the reference, not so in the answer".format(*named)
        found.append(Finding(check=NAME, severity=1.0 if sure else 0.8, reason=reason, certain=True))
    return sorted(found, key=lambda f: -f.severity)[:1]
