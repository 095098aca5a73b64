"""Items of a list, whose order tells nothing: "a pencil, a ruler and a calculator", 身份证、医保卡和预约单."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from collections.abc import Iterator

from harness.fidelity.reading.text import Text, Word

JOINTS = frozenset([",", "，", "、", "and", "or", "as well as", "plus", "和", "或", "与", "及", "以及", "还有"])
ARTICLES = frozenset(["a", "an", "the", "your", "our", "his", "her", "their", "its", "some"])
_RANKED = frozenset(
    [
        "first",
        "then",
        "before",
        "after",
        "finally",
        "next",
        "second",
        "先",
        "再",
        "然后",
        "最后",
        "依次",
        "顺序",
        "order",
        "followed",
    ]
)

_DEPENDENT = frozenset(
    ["because", "because of", "due to", "since", "if", "when", "whenever", "once", "unless", "so", "therefore", "hence", "thus", "as soon as", "as long as", "while", "although", "though", "虽然", "尽管",
     "如果", "若", "假如", "要是", "只要", "一旦", "因为", "由于", "除非", "只有", "所以", "因此", "当", "的话", "时"]
)  # fmt: skip
_VERBS = frozenset(
    ["be", "is", "are", "was", "were", "will", "would", "can", "could", "must", "should", "may", "do", "does", "did", "has", "have", "had", "you", "we", "it",
     "they", "i", "that", "which", "who", "if", "but", "because", "then", "not", "can not", "是", "会", "将", "但", "并", "就", "则", "再", "被", "把", "不"]
)  # fmt: skip


def reordered(one: Text, other: Text) -> bool:
    """Whether the texts differ in nothing but the order of the items of a list."""
    ours, theirs = _tokens(one), _tokens(other)
    if len(ours) != len(theirs) or [w.lemma for w in ours] == [w.lemma for w in theirs]:
        return False
    start = 0
    while ours[start].lemma == theirs[start].lemma:
        start += 1
    end = len(ours)
    while end > start and ours[end - 1].lemma == theirs[end - 1].lemma:
        end -= 1
    here, there = _items(ours[start:end]), _items(theirs[start:end])
    if any(w.lemma in _DEPENDENT for w in ours[max(0, start - 1) : end]):
        return False  # "because the disk was full, the backup failed": clauses, and no items
    ranked = any(w.lemma in _RANKED for w in ours)
    tied = len(here) < 3 and any(w.content for w in ours[end:])  # "12 for adults, and children get in free"
    return not (ranked or tied) and len(here) > 1 and sorted(here) == sorted(there)


def _tokens(text: Text) -> list[Word]:
    return [w for w in text.words if w.lemma not in ARTICLES and not (w.mark and w.text not in JOINTS)]


def _items(words: list[Word]) -> list[tuple[str, ...]]:
    """The words between commas and "and", as items."""
    items: list[list[str]] = [[]]
    for word in words:
        if word.lemma in JOINTS or word.text in JOINTS:
            items.append([])
        else:
            items[-1].append(word.lemma)
    return [tuple(item) for item in items if item]


def listed(text: Text) -> Iterator[list[list[int]]]:
    """Lists of a text: per item the indices of its content words; the first item may hold what leads to the list."""
    items: list[list[int]] = [[]]
    joined = False
    for at, word in enumerate(text.words):
        joint = word.text in JOINTS or word.lemma in JOINTS
        if (word.mark and not joint) or word.lemma in _VERBS:
            if joined and len(items) > 1 and all(items):
                yield items
            items, joined = [[]], False
        elif joint:
            joined = joined or word.text not in (",", "，")
            if items[-1]:
                items.append([])
        elif word.content:
            items[-1].append(at)
    if joined and len(items) > 1 and all(items):
        yield items
