"""What has to be there, or a thing is refused: "keep X or it is refused", "not without X"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, Word, content_words

_DEMANDED = re.compile(
    r"\b(?:must|have to|need to|needs to|has to|required to|please|should|always)\b(?P<what>[^.;!?]*?)(?:,? or(?: else)?\b|[.;,] ?otherwise\b|[.;,] ?if not\b|,? because without\b|[.;] ?without (?:it|that|them|one)\b)"
    r"[^.;!?]*\b(?:refus\w+|reject\w*|den(?:y|ied)|declin\w+|turned? away|not|no|nobody|cancel\w*|void|barred|forfeit\w*|los[et])\b"
    r"|(?:必须|须|需|请|要|务必)(?P<was>[^。；！;!]*?)[，,；;](?:否则|不然)[^。；！;!]*?(?:不|拒绝|取消|作废|无法|没)",
    re.IGNORECASE,
)
_LACKING = re.compile(
    r"\bwithout (?P<what>(?:[\w'-]+ ?){1,5})|(?:没有?带?|不带|缺少?|无)(?P<was>[^，。；！不就,;!]{1,8})", re.IGNORECASE
)
_DENIES = re.compile(
    r"\b(?:not|no|never|nobody|none|refus\w+|reject\w*|den(?:y|ied)|declin\w+|turned? away|impossible|unable|barred|forbidden|prohibited|invalid|void|cancel\w*|lose|lost|fail\w*)\b|不|拒绝|无法|没法|作废|取消|谢绝|禁止|别",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.;!?。；！？]")
_KEEPING = re.compile(
    r"\b(?:throw|toss|leave|lose|forget|discard|bin|part with|get rid|mislay|chuck)\b|扔|丢|忘|落下", re.IGNORECASE
)


@remembered
def demanded(text: Text) -> list[Word]:
    """Content words of what a text demands under pain of refusal."""
    found = _DEMANDED.search(text.plain)
    return content_words(found["what"] or found["was"] or "", text.lang) if found else []


def lacking(text: Text) -> tuple[list[Word], bool] | None:
    """Content words of what may be lacking, and whether something is refused then; None where nothing lacks."""
    for found in _LACKING.finditer(text.plain):
        begin = max((m.end() for m in _STOP.finditer(text.plain, 0, found.start())), default=0)
        end = next((m.start() for m in _STOP.finditer(text.plain, found.end())), len(text.plain))
        rest = text.plain[begin : found.start()] + " " + text.plain[found.end() : end]
        rest = re.sub(
            r"(?:,? (?:so|and) )?(?:do|please|never)? ?\bnot (?:to )?(?:throw|toss|leave|lose|forget|discard|bin)\b.*",
            "",
            rest,
        )
        return content_words(found["what"] or found["was"] or "", text.lang), bool(_DENIES.search(rest))
    return None


def demand_kept(both: Pair) -> bool | None:
    """True where one text demands a thing, and the other refuses without it; False where the answer grants without it.

    None where the texts do not tell this.
    """
    for one, other in ((both.reference, both.candidate), (both.candidate, both.reference)):
        wanted = demanded(one)
        lacks = lacking(other) if wanted else None
        if lacks is None or not any(alike(a, b) for a in wanted for b in lacks[0]):
            continue
        return lacks[1]
    return None


def keeps(plain: str) -> bool:
    """Whether a text tells not to give something away: "do not throw it away"."""
    return bool(_KEEPING.search(plain))
