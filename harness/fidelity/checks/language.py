"""The answer is in the language of the reference."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
import unicodedata
from collections.abc import Container
from types import MappingProxyType

from harness.fidelity.case import Finding
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.scripts import other_script
from harness.fidelity.reading.text import language, look_alike

NAME = "language"


_FOREIGN = {  # the little words that no text of a language does without, as far as English has none like them
    "German": "der die das und ist nicht ein eine einen mit von für auf den dem sie wir ihr ihre sich auch nach bei uhr wird werden kann können im zum zur oder bitte ihnen nur bis vom aus einem einer sind haben über wenn",
    "French": "le la les et est des une un pas pour dans vous nous sur avec au aux votre que qui ce cette sont du être il elle à de par mon vos notre ou où",
    "Spanish": "el la los las y es no un una para por con su del que se en al lo más está usted puede como de fue sus a la hasta desde o",
    "Italian": "il lo la gli e è non un una per con di che del della si sono nel alla al può questo da le alle dalle ogni ore vostro il suo sua i",
    "Portuguese": "o a os as e é não um uma para com do da que se em no na ao seu sua você pode de foi dos das às até ou",
    "Dutch": "de het een en is niet van voor met op te dat aan uw wordt kan zijn naar om bij of ook uur tot u er je heeft",
    "Swedish": "och att det är en ett inte på för med som av till den från du kan har din ditt vi ni om",
    "Danish": "og at det er en et ikke på for med som af til den fra du kan har din dit vi på",
    "Norwegian": "og å det er en et ikke på for med som av til den fra du kan har din ditt vi på",
    "Polish": "i w na z się nie jest do od dla że o za po przez jak twoje twój można oraz został została ma są",
    "Czech": "a v na z se je do od pro že o za po jak vaše můžete není s ve který",
    "Turkish": "ve bir bu için ile de da mi ne daha saat olarak değil var yok sizin kadar te",
    "Indonesian": "dan di ke dari yang untuk dengan ini itu pada tidak anda akan atau lalu pukul telah adalah dapat sudah",
    "Vietnamese": "và là của có không được cho các một này với trong đã sẽ bạn lúc từ đến vào",
    "Finnish": "ja on ei se että joka tai kun myös voit sinun klo ovat",
    "Hungarian": "a az és nem van egy hogy meg ez de vagy is kell lehet órakor",
    "Romanian": "și în la de pe cu nu este sunt un o pentru din care sau vă al ale",
}
_WORDS = MappingProxyType({name: frozenset(words.split()) for name, words in _FOREIGN.items()})
_LETTERS = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"`[^`]{0,200}`")
_CODE = re.compile(r"[_/\\@.=<>{}$&|~]\w|\w-\w|[^\W\d_]\d|^--?\w")  # a word with any of these is none of a language
_BEGINS = ".!?:;\n"  # after these begins what is written with a capital letter
_BOTH = lexicon("en").functions  # English has them, too
MOST, MOST_LETTERS = 60, 2000  # words and characters of a text that are looked at
FEW = 3  # little words from which a text is taken to be in another language


def foreign(text: str, known: Container[str] = ()) -> str:
    """The language of a text in Latin letters that is not English; "" for English and for texts too short to say.

    `known`: words in small letters that say nothing of a language, as those of the question.
    """
    said = [word.casefold() for word in _LETTERS.findall(text)]
    english = sum(word in lexicon("en").functions for word in said)
    counts = {name: sum(word in words for word in said) for name, words in _WORDS.items()}
    name = max(counts, key=lambda n: counts[n])
    if counts[name] >= FEW and counts[name] > english and counts[name] * 5 >= len(said):
        return name
    return _briefly_foreign(text, known)


def _briefly_foreign(text: str, known: Container[str]) -> str:
    """The same of a short text: hardly a word of it is English, names and code apart."""
    plain = " ".join("`" if _CODE.search(word) else word for word in _QUOTED.sub("`", text[:MOST_LETTERS]).split(" "))
    tokens = list(_LETTERS.finditer(plain))[:MOST]
    if len(tokens) < FEW or _is_list(text):
        return ""
    begins = {match.start() for match in tokens if plain[: match.start()].rstrip(" \"'“(«¿¡*-")[-1:] in _BEGINS}
    said = [
        match[0].casefold()
        for match in tokens
        if len(match[0]) > 1 and (match[0].islower() or match.start() in begins) and match[0].casefold() not in known
    ]
    counts = {name: sum(word in words for word in said) for name, words in _WORDS.items()}
    name = max(counts, key=lambda n: counts[n])
    little = [word for word in said if word in _WORDS[name] and not (word in _BOTH and counts[name] < 2)]
    rest = [word for word in said if word not in little]
    unknown = [word for word in rest if not _english(word)]
    accented = [word for word in unknown if not word.isascii()]
    if len(unknown) + len(little) < FEW or not unknown or (len(said) - len(unknown) - len(little)) * 2 > len(said) - 1:
        return ""
    if little or accented:
        return name if little else "another language"
    return "another language" if len(unknown) >= FEW and len(unknown) == len(rest) else ""


def _is_list(text: str) -> bool:
    """Whether a text is nothing but a list of names or things, each of a few words."""
    items = [item for item in re.split(r"[,;/\n]", text) if item.strip()]
    return len(items) >= FEW and all(len(_LETTERS.findall(item)) <= FEW for item in items)


def _english(word: str) -> bool:
    """Whether a word in small letters is one of English, however it is inflected, and with or without its accents."""
    words = lexicon("en")
    bare = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    return any(
        form in words.functions or form in words.words or form in words.groups or form in words.forms
        for one in {word, bare}
        for form in (one, words.lemma(one))
        if one
    )


def check(both: Pair) -> list[Finding]:
    script = other_script(both.case.candidate)
    if script and other_script(both.case.reference) != script:
        return [Finding(check=NAME, severity=1.0, reason=f"the answer is in {script}, the reference is not")]
    other = foreign(both.case.candidate, _known(both)) if both.candidate.lang == "en" else ""
    if other and not foreign(both.case.reference):
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


def _known(both: Pair) -> frozenset[str]:
    """The words of reference, question and context."""
    texts = (both.case.reference, both.case.prompt, both.case.context)
    return frozenset(word.casefold() for text in texts for word in _LETTERS.findall(text))
