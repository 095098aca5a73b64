"""The answer is in the language of the reference."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from types import MappingProxyType

from harness.fidelity.case import Finding
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.scripts import other_script
from harness.fidelity.reading.text import language, look_alike

NAME = "language"


_FOREIGN = {  # the little words that no text of a language does without, as far as English has none like them
    "German": "der die das und ist nicht ein eine einen mit von für auf den dem sie wir ihr ihre sich auch nach bei uhr wird werden kann können im zum zur oder bitte",
    "French": "le la les et est des une un pas pour dans vous nous sur avec au aux votre que qui ce cette sont du être il elle à",
    "Spanish": "el la los las y es no un una para por con su del que se en al lo más está usted puede como",
    "Italian": "il lo la gli e è non un una per con di che del della si sono nel alla al può questo",
    "Portuguese": "o a os as e é não um uma para com do da que se em no na ao seu sua você pode",
    "Dutch": "de het een en is niet van voor met op te dat aan uw wordt kan zijn naar om bij of ook",
}
_WORDS = MappingProxyType({name: frozenset(words.split()) for name, words in _FOREIGN.items()})
_LETTERS = re.compile(r"[^\W\d_]+")
FEW = 3  # little words from which a text is taken to be in another language


def foreign(text: str) -> str:
    """The language of a text in Latin letters that is not English; "" for English and for texts too short to say."""
    said = [word.casefold() for word in _LETTERS.findall(text)]
    english = sum(word in lexicon("en").functions for word in said)
    counts = {name: sum(word in words for word in said) for name, words in _WORDS.items()}
    name = max(counts, key=lambda n: counts[n])
    return name if counts[name] >= FEW and counts[name] > english and counts[name] * 5 >= len(said) else ""


def check(both: Pair) -> list[Finding]:
    script = other_script(both.case.candidate)
    if script and other_script(both.case.reference) != script:
        return [Finding(check=NAME, severity=1.0, reason=f"the answer is in {script}, the reference is not")]
    other = foreign(both.candidate.plain) if both.candidate.lang == "en" else ""
    if other and not foreign(both.reference.plain):
        return [Finding(check=NAME, severity=1.0, reason=f"the answer is in {other}, the reference is not")]
    wanted = both.case.lang if both.case.lang in ("en", "zh") else language(both.case.reference)
    got = language(both.case.candidate)
    if wanted is None or got in (None, wanted) or len(both.candidate.content) < 2:
        return []
    if look_alike(both.case.reference, both.case.candidate):
        return []  # a reference full of names and code counts as it looks, too
    named = {"en": "English", "zh": "Chinese"}
    return [
        Finding(
            check=NAME, severity=1.0, reason=f"the answer is in {named[str(got)]}, the reference in {named[wanted]}"
        )
    ]
