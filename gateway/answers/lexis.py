"""Words, sentences, numbers and negations of English and Chinese text, as far as answers without a model need them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

from gateway.request import text_of

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^a-z\s])|(?<=[。！？；])|\n+")
_PARAGRAPHS = re.compile(r"\n\s*\n")
_RULE = re.compile(r"^[\s|:+=*`~-]*$")
_HAN = r"\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[a-z0-9]+(?:[-'’.:/_@][a-z0-9]+)*|[{_HAN}]+")
# A sentence of nothing but these asks nothing and tells nothing. "We do." does tell something: no free words here.
_PLEASANTRY = re.compile(
    r"(?:(?:hi|hello|hey|dear|there|please|thanks|many thanks|thank you|so much|very much|in advance"
    r"|good (?:morning|afternoon|evening|day))\b[\s,.!~]*)+"
    r"|(?:(?:请问|[你您]好|谢谢[你您]?|多谢|感谢|麻烦[你您]?了?|辛苦了|拜托了?)[\s,.!~，。！～]*)+",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile("[A-Za-z]")
_CODE_RUN = re.compile(r"[A-Za-z0-9_-]+\d?")  # whether a word is mixed is asked once for its run
_CODE_WORD = re.compile(r"\b[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|except|unless|excluding|unable|refuse[sd]?)\b"
    r"|\b\w+n['’]t\b|不|没有?|无法|未|勿|禁止|除外|除非|拒绝",
    re.IGNORECASE,
)
_NOT_NEGATING = re.compile(
    r"\b(?:no\.\s?\d|not only|no later than|no longer than)|不但|不仅|不超过|不少于|不论|不管|未来", re.I
)
_STOP_EN = """
a an the and or but if of to in on at by for from with as is are was were be been am do does did have has had it its
this that these those there i you we they he she me my your our their us them his her what which who whom when where
why how can could will would shall should may might must so than then too very just also about into out up any some
all more most much many get got one not no yes please still only ever again while because
"""
_STOP_ZH = """
我们 你们 他们 这个 那个 什么 怎么 多少 可以 能不 不能 还能 是不 不是 有没 没有 的话 一下 一个 请问 是否 如何 为什
需要 已经
"""
_ENDINGS = ("ies", "ing", "ed", "es", "s", "e")
_ENDINGS_LAST = frozenset(ending[-1] for ending in _ENDINGS)
_TELLING = ("user", "tool", "function")  # whose text may hold the answer
_STOP = frozenset(_STOP_EN.split())
_STOP_HAN = frozenset(_STOP_ZH.split())


class Question(NamedTuple):
    """What is asked, "" where no user said anything, and the text of the caller's own that may hold the answer."""

    asked: str
    context: tuple[str, ...]  # sentences


def split(messages: Sequence[Mapping[str, Any]]) -> Question:
    """The last user message's question, and all else that users and tools said: what a tool found is no question."""
    asking = asking_of(messages)
    asked = ""
    told = []
    for index, message in enumerate(messages):
        if index == asking:
            before, asked = _question_of(text_of(message))
            told.append(before)
        elif message["role"] in _TELLING:
            told.append(text_of(message))
    return Question(asked, tuple(part for text in told for part in sentences(text) if _tells(part)))


def asking_of(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """Index of the message that the question is read from: the user's last one; None without any."""
    asking = (index for index in range(len(messages) - 1, -1, -1) if messages[index]["role"] == "user")
    return next(asking, None)


def sentences(text: str) -> list[str]:
    """In order; lines of tables and logs count as sentences, rules and fences do not."""
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if part and not _RULE.match(part)]


def words(text: str) -> list[str]:
    """Content words in a crude stem, numbers and identifiers whole, Chinese as character bigrams."""
    found = []
    for token in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if token[0] >= "\u3400":
            pairs = [token[at : at + 2] for at in range(len(token) - 1)] or [token]
            found += [pair for pair in pairs if pair not in _STOP_HAN]
        elif token not in _STOP:
            found.append(_stem(token))
    return found


def weights(texts: Iterable[str]) -> dict[str, float]:
    """Inverse document frequency of each word, each text being one document."""
    counts: dict[str, int] = {}
    total = 0
    for text in texts:
        total += 1
        for word in set(words(text)):
            counts[word] = counts.get(word, 0) + 1
    return {word: log(1 + total / count) for word, count in counts.items()}


def numbers(text: str) -> set[str]:
    """The numbers as written, without thousands separators and trailing zeros of decimals."""
    plain = unicodedata.normalize("NFKC", text)
    return {_plain_number(found) for found in _NUMBER.findall(plain)}


def identifiers(text: str) -> set[str]:
    """Mixed words of letters and digits, such as order numbers, in one case."""
    plain = unicodedata.normalize("NFKC", text)
    if _DIGIT.search(plain) is None:
        return set()
    return {found.casefold() for run in _CODE_RUN.finditer(plain) for found in _mixed_words(plain, run)}


def is_negated(text: str) -> bool:
    """Whether a sentence denies something."""
    return _NEGATION.search(_NOT_NEGATING.sub(" ", text)) is not None


def overlap(asked: Iterable[str], sentence: Iterable[str], weight: Mapping[str, float]) -> float:
    """Share of the asked words' weight that the sentence holds, in [0, 1]; words the text never uses weigh nothing."""
    wanted = {word for word in asked if word in weight}
    total = sum(weight[word] for word in wanted)
    return sum(weight[word] for word in wanted & set(sentence)) / total if total else 0.0


def _mixed_words(text: str, run: re.Match[str]) -> Iterator[str]:
    """The words of a run that have a digit and a letter still to come in it when they begin."""
    last = run.start() + min(_last_of(_DIGIT, run[0]), _last_of(_LETTER, run[0]))
    if last < run.start():
        return
    for word in _CODE_WORD.finditer(text, run.start(), run.end() + 1):  # one more: whether the word goes on there
        if word.start() <= last:
            yield word[0]


def _last_of(sign: re.Pattern[str], text: str) -> int:
    """Where the last one is; -1 for none."""
    found = sign.search(text[::-1])
    return len(text) - found.end() if found else -1


def _question_of(text: str) -> tuple[str, str]:
    """(context, question): the last paragraph that asks something, else the last paragraph or sentence."""
    paragraphs = _told([part for part in _PARAGRAPHS.split(text) if part.strip()])
    asking = [index for index, part in enumerate(paragraphs) if part.rstrip().endswith(("?", "？"))]
    at = asking[-1] if asking else len(paragraphs) - 1
    if at > 0:
        return "\n\n".join(paragraphs[:at]), "\n".join(paragraphs[at:])
    parts = _told(sentences("\n\n".join(paragraphs)))
    cut = next((index for index, part in enumerate(parts) if part.endswith(("?", "？"))), max(0, len(parts) - 1))
    return "\n".join([*parts[:cut], *parts[cut + 1 :]]) if len(parts) > 1 else "", parts[cut] if parts else ""


def _told(parts: list[str]) -> list[str]:
    """Without greetings and thanks, which may stand anywhere; these alone where there is nothing else."""
    return [part for part in parts if _tells(part)] or parts


def _tells(part: str) -> bool:
    return _PLEASANTRY.fullmatch(part.strip()) is None


def _stem(word: str) -> str:
    if word[-1] not in _ENDINGS_LAST:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word.isalpha():
            return word[: -len(ending)]
    return word


def _plain_number(text: str) -> str:
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    if re.fullmatch(r"\d+\.\d+", plain):
        plain = plain.rstrip("0").rstrip(".")
    plain = plain.lstrip("0") or "0"
    return f"0{plain}" if plain.startswith(".") else plain
