"""Who follows whom in a post: "A replaced B", "B no longer heads it; A is his successor", 接替, 继任者."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from typing import NamedTuple

from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

_TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir)\.? )?"
_NAME = rf"{_TITLE}(?:[A-Z][\w'-]+ )*?(?P<{{}}>[A-Z][\w'-]+)"
_NEW, _OLD = _NAME.format("new"), _NAME.format("old")
_TOLD_EN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_NEW}(?: has| was| will)?(?: \w+)? (?:replaced?s?|succeed(?:s|ed)?|tak(?:es|en) over from|took over from|follows|followed) {_OLD}",
        rf"{_OLD}(?: has been| was| is| will be) (?:replaced|succeeded|followed) (?:\w+ ){{0,6}}?by {_NEW}",
        rf"{_OLD} (?:is |was |does |has )?(?:no longer|not\b.{{0,20}} any ?more|stepped down|left)\b[^.]*?[;.,] .*?\bsuccessor\b[^.;]{{0,24}}?\bis {_NEW}",
        rf"{_OLD} (?:is |was |does |has )?(?:no longer|not\b.{{0,20}} any ?more|stepped down|left)\b[^.]*?[;.,] (?:and )?{_NEW} (?:is|was|became|has become)\b[^.;]{{0,16}}\b(?:successor|in (?:his|her|their) place)\b",
        rf"{_OLD} (?:is |was |does |has )?(?:no longer|not\b.{{0,20}} any ?more|stepped down|left)\b[^.]*?[;.,] (?:and )?{_NEW} (?:has |have )?(?:replaced|taken over|took over|succeeded|now (?:does|heads|leads|is|holds))\b",
    )
)
_TOLD_ZH = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<new>[\u4e00-\u9fff]{2,3}?)(?:已经?|将|正式)?(?:接替|接任|取代|顶替|接了)(?:了)?(?P<old>[\u4e00-\u9fff]{2,3}?)(?=[，,。担任当出成的来上教讲带负主管做]|$)",
        r"(?:改|换|现)?由(?P<new>[\u4e00-\u9fff]{2,3}?)(?:来|负责|担任|讲|上|教|带|主持|接手|出任|做|管)[^。]*?[，；,;](?:而)?不再(?:是|由)?(?P<old>[\u4e00-\u9fff]{2,3}?)(?=[，,。担任当出成的来上教讲带负主管做了]|$)",
        r"不再(?:是|由)(?P<old>[\u4e00-\u9fff]{2,3}?)[^。，,]*[，；,;](?:而是?|改|换成?|现在?)*(?:是|由|为)(?P<new>[\u4e00-\u9fff]{2,3}?)(?=[，,。担任当出成的来上教讲带负主管做了]|$)",
        r"(?P<old>[\u4e00-\u9fff]{2,3}?)(?:已经?|现在)?(?:不再|卸任|离任|已?不)[^。]*?(?:继任者?|接任者?|接替者?|接班人?|后任)(?:的)?(?:他|她)?(?:是|为)(?P<new>[\u4e00-\u9fff]{2,3}?)(?=[，,。]|$)",
        r"(?P<old>[\u4e00-\u9fff]{2,3}?)(?:已经?|现在)?(?:不再|卸任|离任|已?不)[^。]*?[，；,;]由?(?P<new>[\u4e00-\u9fff]{2,3}?)(?:接任|继任|接替|接手|顶上|继续担任)",
    )
)


class Succession(NamedTuple):
    """Who came, and who left."""

    new: str
    old: str


@remembered
def succession(text: Text) -> Succession | None:
    """The first succession that a text tells; None where it tells none."""
    patterns = _TOLD_EN if text.plain.isascii() else (*_TOLD_EN, *_TOLD_ZH)
    found = next((match for pattern in patterns if (match := pattern.search(text.plain))), None)
    return Succession(found["new"], found["old"]) if found else None
