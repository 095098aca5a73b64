"""If, unless, only if, even if: what a statement depends on."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from types import MappingProxyType

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.polarity import polarity
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

NAME = "conditions"
_MARKS = MappingProxyType(
    {
        "if": "if|provided|provided that|as long as|in case|come with|bring|whenever|given|on condition|subject to|with|once|when|depending on|where|如果|若|假如|要是|倘若|只要|的话|一旦|凭|须|视|当|需",
        "unless": "unless|except if|except when|if not|除非|如果不",
        "regardless": "regardless|whether|whether or not|even if|even though|no matter|anyway|irrespective|despite|无论|不论|不管|即使|即便|哪怕|任何情况",
        "only": "only|只有|仅|只|才|仅限",
    }
)
_LIFTED = re.compile(
    r"\beven (?:without|when|where|with no)\b|\b(?:whoever|whatever|whichever)\b|\bwhenever (?:you|they|he|she|it) (?:like|want|please|suit|wish|choose)s?\b|\bat any time you\b|\bno questions asked\b|就算(?=[^，。；！]{0,14}[，,]?[^，。；！]{0,8}[也都照])|随便什么时候|什么时候都|谁都(?=可以|能)|怎么都",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"\beven (?:without|with no|when|if)\b|(?:就算|哪怕|即使|即便|不管)(?:没|不|未)", re.IGNORECASE)
_NOTHING_TO_DO = re.compile(
    r"\b(?:(?:do|does|need) not (?:have to |need to )?(?:bring|send|pay|sign|fill in|submit|provide|prepare|carry|hand in) (?:anything|a thing)|nothing (?:more |else |further )?(?:is |will be )?(?:needed|required|to do|expected)|(?:is|are) not anything (?:more |else |further )?(?:that )?(?:you |to |for you )(?:need |have |to )*do|there is nothing (?:more |else |further )?(?:left )?(?:for you )?to do|no (?:further |other )?(?:action|steps?) (?:is |are )?(?:needed|required|necessary)|(?:do|does|need) not (?:have to |need to |needed to )?do (?:anything|a thing)|nothing (?:more |else |further )?(?:you |for you )(?:need |have )?to do)\b"
    r"|(?:无需|不用|不必|不需要)(?:您|你)?(?:再)?(?:做)?(?:任何|其他|什么)(?:操作|事|动作|手续)?|什么都不用(?:做|管)|无需操作",
    re.IGNORECASE,
)
_BIDS = re.compile(
    r"\bplease (?!note\b|be aware\b|wait\b|accept\b|see\b|bear\b|contact\b|let\b|do not\b)[a-z]+|\bit is up to you to\b|\byou (?:must|have to|need to|are required to)\b|(?<!不用)(?<!无需)(?<!不)请(?!稍|耐心|放心|注意|勿|见谅|您放心)(?:您)?[^，。,]{1,8}|您(?:必须|需要|须|得|还要)",
    re.IGNORECASE,
)
_ONLY_IF = re.compile(r"\bonly (?:if|when|where|once|with)\b|只有", re.IGNORECASE)
_WISHED = re.compile(  # a wish binds nobody: "if you want an invoice, press …"
    r"\bif (?:you|one|they|he|she|anyone|somebody|someone) (?:ever |just |really )?(?:want|wish|would|need|like|prefer|have any|are looking|feel)\b|\bif (?:needed|necessary|required|desired|possible|any)\b"
    r"|(?:如果?|若|要是|假如)(?:您|你)?(?:还|有|想|要|需要|希望|愿意|打算)",
    re.IGNORECASE,
)
_ONLY_THEN = re.compile(  # 除非下雨才取消; "outdoors unless it rains, in which case …"
    r"\b(?:in which case|in that case|if so|otherwise|or else|then)\b|除非[^。；;]*才", re.IGNORECASE
)
_IN_WHICH_CASE = re.compile(r"\b(?:in which case|in that case|then)\b", re.IGNORECASE)
_AT_ANY_TIME = re.compile(
    r"\b(?:at any time|any ?time|at all times|even (?:after|before|once))\b|随时|任何时候", re.IGNORECASE
)
_ELSE = frozenset(["otherwise", "or else"])
_NAMES = tuple((kind, frozenset(names.split("|"))) for kind, names in _MARKS.items())
_ALL_MARKS = frozenset[str]().union(*(members for _, members in _NAMES))
_STRONG = frozenset(
    ["if", "provided", "provided that", "unless", "as long as", "in case", "on condition", "subject to", "如果", "若", "假如", "要是", "倘若", "只要",
     "的话", "除非", "只有", "凭"]
)  # fmt: skip


_LOOSE = frozenset(
    ["with", "where", "given", "bring", "come with", "come", "comes with", "depending on", "brings", "bringing", "视", "当", "需", "须", "凭"]
)  # fmt: skip
_UNLESS = frozenset(_MARKS["unless"].split("|"))
_ASKING = frozenset(
    ["check", "see", "know", "ask", "sure", "certain", "decide", "find out", "tell", "confirm", "verify", "determine", "unclear", "wonder", "learn", "test",
     "show", "say", "inquire", "enquire", "choose", "look", "watch", "unknown", "open", "question", "uncertain", "examine", "establish", "note", "prove",
     "checked", "asked", "told", "shows", "indicate", "doubt", "clear", "inform", "specify", "state", "clarify", "on", "of", "about"]
)  # fmt: skip
_SUPPOSES = re.compile(
    r"\banything (?:less|more|lower|higher|below|above|under|over|shorter|longer|smaller|larger|else)\b|\bin the event (?:of|that)\b|\bor else\b|\botherwise\b"
    r"|\b(?:anyone|anybody|everyone|those|people|customers|guests|passengers|visitors|members|students|drivers|patients|tenants) (?:who|that|with|without|whose)\b|\bwhoever\b",
    re.IGNORECASE,
)


def check(both: Pair) -> list[Finding]:
    ours, theirs = _marks(both.reference), _marks(both.candidate)
    if "unless" in theirs and "unless" not in ours and _ONLY_THEN.search(both.candidate.plain):
        theirs = {"if": theirs["unless"], **{k: v for k, v in theirs.items() if k != "unless"}}
    if "unless" in ours and "unless" not in theirs and _IN_WHICH_CASE.search(both.reference.plain):
        ours = {"if": ours["unless"], **{k: v for k, v in ours.items() if k != "unless"}}
    if "regardless" in theirs and _AT_ANY_TIME.search(both.reference.plain):
        ours = {**ours, "regardless": theirs["regardless"]}
    balance = _denials(both, here=True) - _denials(both, here=False)
    found = []
    only_if = any(not d.lexical for d in both.polarity_here.denials) and _ONLY_IF.search(both.candidate.plain)
    strong = {k: v for k, v in theirs.items() if v.casefold() not in _LOOSE}
    literal = not _UNLESS.isdisjoint(both.reference.said | both.candidate.said)
    if literal and "unless" in ours and "unless" not in theirs and "if" in strong and balance % 2 == 0 and not only_if:
        found.append(
            _finding(1.0, f"“{theirs['if']}” stands where the reference says “{ours['unless']}”", certain=True)
        )
    given = ours.get("if", "").casefold() not in _LOOSE | _ELSE
    if any(not d.lexical for d in both.polarity_there.denials) and _ONLY_IF.search(both.reference.plain):
        given = False  # "only if it rains" is "not unless it rains"
    if literal and "unless" in theirs and "unless" not in ours and "if" in ours and given and balance % 2 == 0:
        found.append(
            _finding(1.0, f"“{theirs['unless']}” stands where the reference says “{ours['if']}”", certain=True)
        )
    if "regardless" in theirs and "regardless" not in ours and ours.keys() & {"if", "unless", "only"}:
        found.append(
            _finding(0.9, f"“{theirs['regardless']}” lifts the condition “{next(iter(ours.values()))}”", certain=True)
        )
    refuses = any(both.reference.words[d.at].lemma != "without" for d in both.polarity_here.denials)
    told = "regardless" not in ours and not found and (refuses or len(both.polarity_here.denials) > 1)
    lifted = _WITHOUT.search(both.candidate.plain) if told else None
    if lifted:
        found.append(_finding(0.9, f"“{lifted[0]}” lifts what the reference demands"))
    if "regardless" in ours and "regardless" not in theirs and theirs.keys() & {"if", "unless", "only"}:
        found.append(_finding(0.7, f"“{next(iter(theirs.values()))}” is a condition that the reference rules out"))
    return [*(found or _dropped(both, ours, theirs)), *_duty(both)]


def _duty(both: Pair) -> list[Finding]:
    """Nothing is left to do in one text, and something has to be done in the other."""
    here, there = (_nothing_to_do(t.plain) for t in (both.reference, both.candidate))
    if bool(here) == bool(there):
        return []
    told, bids = (there, _BIDS.search(both.reference.plain)) if there else (here, _BIDS.search(both.candidate.plain))
    if told is None or bids is None:
        return []
    return [_finding(1.0, f"“{told[0]}” stands against “{bids[0]}”", certain=True)]


@remembered
def _nothing_to_do(plain: str) -> re.Match[str] | None:
    return _NOTHING_TO_DO.search(plain)


def _finding(severity: float, reason: str, *, certain: bool = False) -> Finding:
    return Finding(check=NAME, severity=severity, reason=reason, certain=certain)


def _dropped(both: Pair, ours: dict[str, str], theirs: dict[str, str]) -> list[Finding]:
    """A condition of the reference that left no trace, or one that the candidate made up."""
    lost = [_clause_loss(both.reference, both.partner_back, at) for at in _strong(both.reference)]
    new = [_clause_loss(both.candidate, both.partner, at) for at in _strong(both.candidate)]
    found = []
    if lost and max(lost) > 0.5 and not theirs.keys() & {"if", "unless", "only"}:
        whole = max(lost) >= 1.0 and not _WISHED.search(both.reference.plain)
        reason = f"the condition “{next(iter(ours.values()), '')} …” of the reference is missing"
        found.append(_finding(0.9 if whole else 0.8, reason, certain=whole))
    if new and max(new) > 0.5 and not ours.keys() & {"if", "unless", "only"}:
        found.append(_finding(0.6, f"the condition “{next(iter(theirs.values()), '')} …” is not in the reference"))
    return found


@remembered
def _strong(text: Text) -> list[int]:
    return [i for i, w in enumerate(text.words) if w.lemma in _STRONG or w.text.casefold() in _STRONG]


def _clause_loss(text: Text, partner: tuple[int | None, ...], at: int) -> float:
    """Share of the words of the clause after the mark that the other text lacks."""
    words = [
        i for i, w in enumerate(text.words) if i >= at and w.clause == text.words[at].clause and w.content and i != at
    ]
    return sum(partner[i] is None for i in words) / len(words) if words else 0.0


@remembered
def _marks(text: Text) -> dict[str, str]:
    found: dict[str, str] = {}
    for at, word in enumerate(text.words):
        if (word.lemma not in _ALL_MARKS and word.text.casefold() not in _ALL_MARKS) or asked(text, at):
            continue
        if word.text.casefold() == "if not" and [w.text for w in text.words[at + 1 : at + 2]] == [","]:
            found.setdefault("if", "otherwise")
            continue
        for kind, members in _NAMES:
            if word.lemma in members or word.text.casefold() in members:
                found.setdefault("unless" if kind == "if" and _if_not(text, at) else kind, word.text)
    lifted = next((m for m in _LIFTED.finditer(text.plain) if not _names_one(m, text.plain)), None)
    if lifted:
        found.setdefault("regardless", lifted[0])
    supposed = _SUPPOSES.search(text.plain)
    if supposed:
        found.setdefault("if", supposed[0])
    return found


def _names_one(mark: re.Match[str], plain: str) -> bool:
    """Whether a "whoever" is who is meant, and no matter who: "page whoever is on call", not ", whoever you are"."""
    word = mark[0].casefold()
    if word == "whichever":
        return True
    if word not in ("whoever", "whatever"):
        return False
    if _NO_MATTER.match(plain, mark.end()):
        return False
    if plain[: mark.start()].rstrip()[-1:] not in (*".!?;:,", ""):
        return True
    clause = re.split(r"[,.;!?]", plain[mark.end() :], maxsplit=1)[0].split()
    return len(clause) > CONCESSION or plain[mark.end() + len(" ".join(clause)) + 1 :][:1] != ","


_NO_MATTER = re.compile(
    r" (?:(?:the|your|their|our|its) \w+(?: \w+)?(?=[,.;!?]|$)|you (?:do|are|say)\b|happens\b|comes\b|it (?:is|takes|costs)\b|else\b)",
    re.IGNORECASE,
)
CONCESSION = 5  # words of a clause that says "no matter who", at most


def asked(text: Text, at: int) -> bool:
    """Whether the "if" or "whether" at `at` begins a question: "check whether the light is green"."""
    if text.words[at].text.casefold() not in ("if", "whether") or "or not" in text.plain.casefold():
        return False
    return any(w.lemma in _ASKING or w.text.casefold() in _ASKING for w in text.words[max(0, at - 3) : at])


def _if_not(text: Text, at: int) -> bool:
    """Whether the "if" at `at` begins a condition that denies: "if you do not pay" is "unless you pay"."""
    if text.words[at].text.casefold() != "if":
        return False
    clause = text.words[at].clause
    return any(d.at > at and not d.lexical and text.words[d.at].clause == clause for d in polarity(text).denials)


def _denials(both: Pair, *, here: bool) -> int:
    """How often a text denies: the denials apart that make an "unless" of an "if", and those of which the other says nothing."""
    text, said, partner, other = (
        (both.reference, both.polarity_here, both.partner_back, both.candidate)
        if here
        else (both.candidate, both.polarity_there, both.partner, both.reference)
    )
    if not said.denials:
        return 0
    ifs = {w.clause for i, w in enumerate(text.words) if _if_not(text, i)}
    words = {form for w in other.words for form in (w.lemma, w.text.casefold())}
    return sum(
        (partner[d.at] is not None or bool(d.bases & words) or text.lang != "en")
        if d.lexical
        else text.words[d.at].clause not in ifs
        for d in said.denials
    )
