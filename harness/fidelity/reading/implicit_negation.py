"""A denial that the other text says without one: "only members" for "not unless", "until Friday" for "not after"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Sequence

from harness.fidelity.reading.fact import Fact, Kind, same
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.polarity import Denial, polarity
from harness.fidelity.reading.text import Text, Word, read

_ONLY = frozenset(["only", "sole", "solely", "exclusively", "只有", "仅", "只", "才", "仅限", "只能", "限"])
_BARRING = frozenset(
    ["unless", "without", "if", "except", "until", "before", "除非", "没有", "非", "不是", "如果", "若", "前"]
)
_GIVEN = frozenset(
    ["if", "provided", "provided that", "as long as", "in case", "on condition", "only", "whenever", "when", "如果", "若", "要是",
     "假如", "只要", "只有", "倘若", "的话"]
)  # fmt: skip
_UNLESS = frozenset(["unless", "除非", "except if", "barring"])
_ELSE = frozenset(["otherwise", "or else", "else", "or", "否则", "不然", "要不然"])
_GOING_ON = re.compile(
    r"\b(?:still|being|in progress|under way|underway|pending|ongoing|currently|in the process|not yet)\b|还在|正在|仍在|在[^，。,]{1,6}中|处理中|审核中|进行中",
    re.IGNORECASE,
)
_FINISH = frozenset(
    ["finish", "finished", "complete", "completed", "done", "conclude", "end", "over", "through", "decide", "decided", "approve",
     "approved", "完", "完成", "结束", "做完", "办完", "好", "通过", "出来"]
)  # fmt: skip
_AFTER = re.compile(r"\b(?:after|past|later than|beyond|following)\s+(?:the )?$", re.IGNORECASE)
_AFTER_ZH = re.compile(r"^\s*(?:之后|以后|过后|后)")
_UNTIL = re.compile(
    r"\b(?:until|till|by|before|through|up to|no later than|latest|ends?|closes?|due|deadline|expires?)\b[^.,;]{0,14}$"
    r"|(?:截止|截至|最晚|最迟|不晚于)[^，。,]{0,6}$",
    re.IGNORECASE,
)
_UNTIL_ZH = re.compile(r"^\s*(?:之前|以前|前|为止|截止|结束)")


def said_otherwise(denial: Denial, own: Text, other: Text) -> bool:
    """Whether `other` says what `own` denies, in a way that needs no denial there."""
    return (
        _only(own, other)
        or others_barred(own, other)
        or _others_not(denial, own, other)
        or _unless(denial, own, other)
        or _or_else(own, other)
        or _going_on(denial, own, other)
        or _not_after(denial, own, other)
        or _answer_word(denial, own)
        or _not_too(denial, own, other)
        or _too_late(own, other)
        or _mended(denial, own, other)
        or _not_even(denial, own, other)
        or _held_back(denial, own, other)
        or _not_two(denial, own, other)
        or _left_to_decide(denial, own, other)
        or _not_by_itself(denial, own, other)
        or _still_to_be(denial, own, other)
    )


def _lemmas(words: Sequence[Word]) -> set[str]:
    return {form for word in words for form in (word.lemma, word.text.casefold())}


def _only(own: Text, other: Text) -> bool:
    """ "only members may" is "you may not unless you are a member", 不是会员就不能."""
    here, there = _lemmas(own.words), _lemmas(other.words)
    if here & _BARRING == {"if"} and _same_condition(own, other):
        return False  # "it does not start if the door is open" is not "it starts only if the door is open"
    barred = here & _BARRING or _NOT_BEING.search(own.plain)
    return bool(barred and there & _ONLY and not here & _ONLY)


_NOT_BEING = re.compile(r"不是[^，。；,;]{1,12}(?:[，,]|的?人?(?:就|都|一律)?(?:不|无法|没法))")


def _same_condition(own: Text, other: Text) -> bool:
    """Whether the other text says all that the condition of this one says, and denies nothing."""
    clauses = {w.clause for w in own.words if w.text.casefold() == "if"}
    supposed = {w.lemma for w in own.content if w.clause in clauses}
    return supposed <= {w.lemma for w in other.content} and not polarity(other).denials and bool(supposed)


def others_barred(own: Text, other: Text) -> bool:
    """ "only adults may" is "minors may not"."""
    words = lexicon(own.lang)
    here, there = _lemmas(own.content), _lemmas(other.content)
    barred = any(words.opposed(a, b) for a in here for b in there)
    return barred and bool(_lemmas(other.words) & _ONLY) and not _lemmas(own.words) & _ONLY


def _others_not(denial: Denial, own: Text, other: Text) -> bool:
    """ "other cards are not taken" is in "only cash is taken"."""
    clause = own.words[denial.at].clause
    others = _lemmas([w for w in own.words if w.clause == clause]) & _OTHERS
    there = _lemmas(other.words)
    beside = any(base in there or f"{base}s" in there for base in denial.bases) and bool(there & _OTHERS)
    return bool(others and there & _ONLY) or beside  # "non-members" is "everyone else" beside "members"


_OTHERS = frozenset(["other", "others", "else", "rest", "其他", "其它", "其余", "别的", "另外"])


def _unless(denial: Denial, own: Text, other: Text) -> bool:
    """ "provided it does not rain" is "unless it rains"."""
    clause = own.words[denial.at].clause
    given = _lemmas([w for w in own.words if w.clause == clause]) & _GIVEN
    return bool(given and _lemmas(other.words) & _UNLESS and not _lemmas(own.words) & _UNLESS)


def _or_else(own: Text, other: Text) -> bool:
    """ "pay in time, or else there is a fee" is "who does not pay in time has a fee"."""
    return bool(_lemmas(other.words) & (_ELSE - {"or"}) and not _lemmas(own.words) & _ELSE and len(own.words) > 4)


def _going_on(denial: Denial, own: Text, other: Text) -> bool:
    """ "not finished" is "still going on"."""
    near = _lemmas(own.words[denial.at + 1 : denial.at + 8])
    return bool(near & _FINISH) and bool(_GOING_ON.search(other.plain))


def _not_after(denial: Denial, own: Text, other: Text) -> bool:
    """ "not after Friday" is "until Friday"."""
    facts = [own.words[i].fact for i in (*denial.clause, *denial.reach)]
    return any(
        fact is not None
        and _stands(fact, own.plain, _AFTER, _AFTER_ZH)
        and _stands(rival, other.plain, _UNTIL, _UNTIL_ZH)
        for fact in facts
        for rival in other.facts
        if fact is not None and same(fact, rival)
    )


def _stands(fact: Fact, plain: str, before: re.Pattern[str], after: re.Pattern[str]) -> bool:
    return bool(
        before.search(plain[max(0, fact.start - 30) : fact.start]) or after.search(plain[fact.end : fact.end + 6])
    )


def _not_too(denial: Denial, own: Text, other: Text) -> bool:
    """ "not too big" is "fits"."""
    near = [w.lemma for w in own.words[denial.at + 1 : denial.at + 2]]
    return near == ["too"] and not any(w.lemma == "too" for w in other.words)


def _too_late(own: Text, other: Text) -> bool:
    """ "can no longer" is "it is too late to"."""
    return bool(_NO_LONGER.search(own.plain) and _TOO_LATE.search(other.plain))


def _mended(denial: Denial, own: Text, other: Text) -> bool:
    """不再闪退 is 修复了闪退问题."""
    if not own.words[denial.at].text.startswith(("不", "没")):
        return False
    what = {own.words[i].lemma for i in denial.reach}
    return any(what & _lemmas(read(found["what"], "zh").words) for found in _MENDED.finditer(other.plain))


_MENDED = re.compile(
    r"(?:修复|解决|修好|消除|排除|根治|改掉)了?(?P<what>[^，。；！？,;!?]{2,12}?)(?:的?(?:问题|故障|毛病|缺陷|现象|错误|漏洞|情况)|(?=[，。；,;]|$))"
)
_NO_LONGER = re.compile(
    r"\b(?:no longer|not\b[^.;]{0,40}\b(?:any ?more|any longer))\b|(?:不能|没法|无法|不可以)[^，。,]{0,10}了",
    re.IGNORECASE,
)
_TOO_LATE = re.compile(r"\btoo late\b|来不及|太晚|太迟|已经晚了|过了时间", re.IGNORECASE)


def _not_even(denial: Denial, own: Text, other: Text) -> bool:
    """ "not refunded, not even if all is returned" is "not refunded, even if all is returned"."""
    after = [w.lemma.split(" ")[0] for w in own.words[denial.at + 1 : denial.at + 2]]
    return after in (["even"], ["either"]) and bool(_REGARDLESS.search(other.plain))


_REGARDLESS = re.compile(
    r"\b(?:even|regardless|no matter|whether|irrespective|whatever|however|nor|neither)\b", re.IGNORECASE
)


def _held_back(denial: Denial, own: Text, other: Text) -> bool:
    """ "you miss it" is "you do not catch it": a verb that denies another one by itself."""
    begin = denial.at + 1 if own.lang == "en" else max(0, denial.at - 1)  # 想不起来
    near = _lemmas(own.words[begin : denial.at + 5])
    there = _lemmas(other.words)
    return any(near & denied and there & verbs for verbs, denied in _BY_ITSELF)


_BY_ITSELF = tuple(
    (frozenset(verbs.split("|")), frozenset(denied.split("|")))
    for verbs, denied in (
        ("miss", "catch|make|reach|attend|come|appear|show up|turn up|get|join|meet|keep"),
        ("forget|neglect|overlook", "remember|think|do|bring|see|notice|enter|include|return|pay|tick|sign|take|have"),
        ("ignore|disregard", "answer|reply|respond|react|follow|heed|open|click|act|mind|pay attention|read"),
        (
            "lack|want for|short of|miss|missing",
            "have|hold|own|possess|include|contain|come with|carry|there|enclose|attach",
        ),
        ("leave out|omit|skip", "include|mention|list|add|contain|fill in|take|do|stop|call|serve|give"),
        ("withhold|keep back|retain|keep", "release|pay out|return|give|pass on|refund|give back|hand over"),
        (
            "stay|remain|keep|be left",
            "change|leave|move|alter|go|touch|remove|turn off|switch off|take off|take out|take away|take|carry|bring out",
        ),
        ("忘|忘记|忘了|忘掉|遗忘", "想|想起|记得|记住|记起|起"),
        ("错过|误|误了", "赶上|赶|搭上"),
        ("differ|vary", "same|identical|equal|match"),
        ("spare|save", "need|have to|pay|charge"),
        ("fail|go wrong", "work|succeed|function|pass|manage|go through"),
        ("wait|hold|queue|stay put", "go|leave|start|depart|proceed|enter|move|send|begin"),
        ("deter|stop|block|keep out|refuse|turn away|reject", "let|allow|admit|accept|take|permit"),
    )
)


def _not_two(denial: Denial, own: Text, other: Text) -> bool:
    """ "not two at once" is "only one at a time"."""
    facts = [own.words[i].fact for i in denial.reach]
    several = any(f is not None and f.kind is Kind.NUMBER and f.value == 2.0 for f in facts)
    several = several or bool(_SEVERAL.search(own.plain[own.words[denial.at].start :]))
    return several and only_one(other)


def only_one(text: Text) -> bool:
    """Whether a text speaks of one at a time, or only of one."""
    return bool(_ONE_ONLY.search(text.plain))


_SEVERAL = re.compile(r"^\w+[^.;,]*\b(?:both|several|more than one|two|multiple)\b", re.IGNORECASE)
_ONE_ONLY = re.compile(
    r"\b(?:only|just|no more than|at most|a maximum of|up to) (?:to |with |for |on )?(?:one|a single|1)\b|\bone (?:\w+ ){0,2}(?:only|at a time)\b",
    re.IGNORECASE,
)


def _left_to_decide(denial: Denial, own: Text, other: Text) -> bool:
    """ "no decision yet" is "the decision is still open"."""
    near = _lemmas(own.words[denial.at + 1 : denial.at + 10])
    return bool(near & _DECIDED) and bool(_OPEN.search(other.plain))


_DECIDED = frozenset(
    ["decision", "decide", "make", "choose", "set", "fix", "settle", "determine", "agree", "confirm", "announce", "know", "known", "answer", "reply",
     "clear", "schedule", "receive", "hear", "find", "resolve", "solve", "rule", "verdict", "result"]
)  # fmt: skip
_OPEN = re.compile(
    r"\b(?:(?:is|are|was|were|remains?|still) (?:still |yet )?(?:open|undecided|unclear|unknown|outstanding|pending|awaited|uncertain|up in the air|unresolved|to be (?:made|taken|decided|announced|confirmed|seen|set|fixed|found))|yet to be \w+|awaiting|waiting (?:for|to hear)|in the dark|tbc|tba)\b",
    re.IGNORECASE,
)


def _still_to_be(denial: Denial, own: Text, other: Text) -> bool:
    """ "not shipped yet" is "still waiting to be shipped"."""
    found = _TO_COME.search(other.plain)
    if found is None:
        return False
    after = _lemmas([w for w in other.words if w.start >= found.end()][:4])
    return bool(after & _lemmas([own.words[i] for i in denial.reach]))


_TO_COME = re.compile(
    r"\b(?:wait(?:ing|s)?|remains?|still (?:has|have|needs?|is|are)|needs?|due|about|left|going) (?:still )?to (?:be )?|\bawait(?:s|ing) (?:its |their )?|\b(?:is|are|will be) (?:only |just )?to be ",
    re.IGNORECASE,
)


def _not_by_itself(denial: Denial, own: Text, other: Text) -> bool:
    """ "not automatically" is "only if you ask for it"."""
    near = _lemmas(own.words[denial.at + 1 : denial.at + 5])
    return bool(near & _BY_DEFAULT) and bool(_lemmas(other.words) & (_ONLY | _GIVEN | {"must", "have to", "need"}))


_BY_DEFAULT = frozenset(["automatically", "automatic", "itself", "themselves", "default", "unasked"])


def _answer_word(denial: Denial, own: Text) -> bool:
    """A "no," at the head of a sentence, which says by itself what is so; "yes" for "no" is another finding."""
    at = denial.at
    alone = at + 1 < len(own.words) and own.words[at + 1].mark and own.words[at].text.casefold() in _NO
    leads = at == 0 or own.words[at - 1].mark
    return alone and leads


_NO = frozenset(["no", "不", "不能", "不可以", "不行", "没有", "否", "不会", "不是"])
