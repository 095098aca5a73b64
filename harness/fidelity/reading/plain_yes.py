"""A yes or no by itself as the answer to a question, and one at the beginning of an answer that agrees with the other text."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.case import Case
from harness.fidelity.reading.polarity import polarity
from harness.fidelity.reading.stance import Stance, opening
from harness.fidelity.reading.text import Text, Word, read

_WHO = r"(?:you|it|they|we|i|he|she|there|that|this)"
_DO = r"(?:can|may|is|are|do|does|will|has|have|did|was|were|must|should|could|am)"
_YES = re.compile(
    rf"\W*(?:(?:yes|yeah|yep|correct|right|exactly|of course|certainly|absolutely|indeed)(?:\W+{_WHO} {_DO}(?: indeed)?)?"
    r"|(?:是的?|对的?|对啊|可以的?|能的?|行的?|会的?|有的?|需要的?|要的|支持的?|没错|当然(?:可以|能|有|是)?的?|是可以的|好的)[啊哦呢呀]?)\W*",
    re.IGNORECASE,
)
_NO = re.compile(
    rf"\W*(?:(?:no|nope|none|not at all)(?:\W+{_WHO} {_DO}(?: not|n't))?"
    r"|(?:不|不是的?|不对|不可以的?|不能的?|不行的?|不会的?|没有的?|无|不需要的?|不用的?|不支持的?|否|没有任何|都没有)[啊哦呢呀]?)\W*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:^|[.!?,;:]\s*|\b(?:and|but|so|hi|hello|please)\b\W+)(?:can|could|is|are|was|were|do|does|did|will|would|may|must|should|has|have|am)\b(?! not|n't)[^.!?]{0,300}\?"
    r"|(?<!不)(?<!没)(?:[^，。；！,;!]{1,30}[吗么嘛][?？]?\s*$|(?:是否|能否|可否|有无|能不能|可不可以|有没有|会不会|是不是|要不要|需不需要|行不行|支不支持))",
    re.IGNORECASE,
)
_ASKS_WHICH = re.compile(r"\b(?:any|what|which)\b[^.!?]{0,300}\?|(?:有哪些|有什么|有几|哪些|什么)", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|no|never|none|cannot|nothing)\b|n't\b|[不没无未勿]", re.IGNORECASE)
_NO_DENIAL = re.compile(  # denials that belong to a yes, and what only regrets
    r"\b(?:at|for|with|without|of) (?:no|any) (?:\w+ )?(?:charge|cost|fee)s?\b|\bno (?:extra|additional) (?:charge|cost|fee)s?\b|\bnot (?:only|just)\b|\bno problem\b|\b(?:unfortunately|sadly|sorry|i am afraid|i['’]m afraid)\b|无(?:理由|条件|忧|障碍|限|线)|不[仅但限]|没问题",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"[.!?;]\s|[。；！？\n]|\b(?:but|however|though|although|except|unless|if|as long as)\b|但|不过|除"
)
_OF_VERB = re.compile(r"not|never|can ?not|\w*n['’]t|[不没未勿]\w{0,2}", re.IGNORECASE)
_MAY = re.compile(
    r"\b(?:possible|allowed|permitted|available|accepted|offered|the case)\b|允许|可能|提供|支持|可以|不行",
    re.IGNORECASE,
)
_AMISS = re.compile(  # what denies without a word for it
    r"\b(?:closed|forbidden|prohibited|banned|refused|rejected|cancelled|canceled|sold out|suspended|unavailable|impossible)\b|禁止|关闭|闭馆|停业|售罄|取消|拒绝|谢绝",
    re.IGNORECASE,
)
_EITHER = re.compile(r"(?P<a>[是有能会要行])[不没](?P=a)|有没有|有无")
_OPENS_YES = re.compile(
    r"^\W*(?:(?:yes|yeah|yep)\b|(?:是的|对的|没错|对|是)(?=[，,。.!！]))[\s,.!:;，。！：；—–-]+(?=\w)", re.IGNORECASE
)
_OPENS_NO = re.compile(
    r"^\W*(?:(?:no|nope)\b(?=\s*[,.!:;—–-])|(?:不是|不|没有|不可以|不行|不能)(?=[，,。.!！]))[\s,.!:;，。！：；—–-]+(?=\w)",
    re.IGNORECASE,
)
_MARKS = ' \t\n,.!:;，。！：；—–-"“(（'
HEAD = 24  # characters within which a text begins with its yes or no, after a greeting
_NOES = (Stance.NO, Stance.MAY_NOT)


def answers_as_told(case: Case) -> bool:
    """Whether the answer is a yes or no and nothing else, to a question that the reference answers with the same."""
    return _agrees(case) is True


def answers_the_opposite(case: Case) -> bool:
    """The same where the reference answers with the opposite."""
    return _agrees(case) is False


def _agrees(case: Case) -> bool | None:
    """Whether a mere yes or no says what the reference says to the question; None where it is none, or none is asked."""
    yes, no = _YES.fullmatch(case.candidate), _NO.fullmatch(case.candidate)
    if not (yes or no) or not (_ASKS.search(case.prompt) or (no and _ASKS_WHICH.search(case.prompt))):
        return None
    if _DENIES.search(case.prompt) and not _EITHER.search(case.prompt):
        return None  # who says yes to "Is it not open?" says either
    first = opening(case.reference)
    denied = _denied(case) if first is None else first.stance in _NOES
    return None if denied is None else bool(no) == denied


def _denied(case: Case) -> bool | None:
    """Whether the reference denies what is asked; None where it denies something else, or tells of another day or thing."""
    reference = _NO_DENIAL.sub(" ", case.reference)
    head = _FURTHER.split(reference, maxsplit=1)[0]
    asked, told = read(case.prompt, case.lang), read(head, case.lang)
    amiss, denials = _AMISS.search(head), [d for d in polarity(told).denials if not d.lexical or told.lang == "zh"]
    if amiss and amiss[0].casefold() not in case.prompt.casefold():
        days = {f.key for f in asked.facts}, {f.key for f in told.facts}
        return None if _DENIES.search(head) or (all(days) and days[0].isdisjoint(days[1])) else True
    if _DENIES.search(head) and not told.content:
        return True  # "It is not."
    for denial in denials:
        of_verb = bool(_OF_VERB.fullmatch(told.words[denial.at].text))
        near = [told.words[i] for i in (denial.clause if of_verb else denial.reach)]
        if any(_says(asked, word) for word in near) or (of_verb and (not near or _MAY.search(head))):
            return True
    elsewhere = _DENIES.search(reference) or (not amiss and _AMISS.search(reference))
    return None if elsewhere else False


def completed(case: Case) -> str:
    """The answer; the reference in the place of a mere yes or no, where it tells no more than the question and that."""
    if not answers_as_told(case):
        return case.candidate
    first = opening(case.reference)
    asked = read(case.prompt, case.lang)
    said = first.text.casefold() if first else ""
    told = [word for word in read(case.reference, case.lang).content if word.text.casefold() not in said]
    return case.reference if all(_says(asked, word) for word in told) else case.candidate


def _says(asked: Text, word: Word) -> bool:
    return word.lemma in asked.lemmas or not word.concepts.isdisjoint(asked.meanings)


def without_opening(text: str, other: str) -> str:
    """`text` without the yes or no at its beginning, where the other text has none and says nothing against it."""
    beside = opening(other)
    if beside is not None and beside.stance in (Stance.YES, Stance.NO):
        return text
    found = _OPENS_YES.match(text) or _OPENS_NO.match(text)
    if found is None or _begins_with(found[0].strip(_MARKS), other):
        return text
    rest = text[found.end() :]
    if found.re is _OPENS_YES:
        return text if _DENIES.search(rest) else rest
    return rest if _DENIES.search(rest) and _DENIES.search(other) else text


def _begins_with(word: str, text: str) -> bool:
    """Whether a text begins with that yes or no, perhaps after a greeting."""
    return bool(re.search(rf"(?<![A-Za-z]){re.escape(word)}\s*[,，.。!！:：;；—–-]", text[:HEAD], re.IGNORECASE))
