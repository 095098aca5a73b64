"""A stop where a text goes on for too long without one, so that no pattern looks further than a long sentence.

The patterns of the reading look at sentences: from each place in one they may look at every other. Code, a table, a
loop or a blob of base64 is one sentence of any length to them, and the time would grow with its square, or its cube.
"""

import re

MOST = 400  # characters of a sentence; the longest of prose are half of that
MOST_APART = 2000  # characters between two full stops; some patterns look beyond any other mark
MOST_RUN = 100  # characters of a word without an end
MOST_BLANKS = 8  # in a row; more say no more
_IDEOGRAPH = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BLANKS = re.compile(rf"(\s{{{MOST_BLANKS}}})\s+")
_RUN = re.compile(rf"[^\W{_IDEOGRAPH}]{{{MOST_RUN}}}(?=[^\W{_IDEOGRAPH}])")
_STOPS = {"en": re.compile("[.;!?]"), "zh": re.compile("[。;!?；！？]")}
_STOP = {"en": ". ", "zh": "。"}
_FULL_STOPS = {".": re.compile("[A-Za-z]"), "。": re.compile(f"[{_IDEOGRAPH}]")}  # each with its script
_FEW_LETTERS = 200  # so few words of the other script that each may look through the whole text
_WEAK_STOP = re.compile(r"[;!?；！？]\s?|。|\.(?!\d)")
_VALUE = r"\d一二三四五六七八九十百千万亿两"
# Where a sentence is best cut, the best first: no value is parted from itself, and hardly from its unit.
_PLACES = tuple(
    re.compile(place)
    for place in (
        r"\n",
        r"[,，:：](?!\s*\d)",
        r"(?<!\d) (?!\d)",
        r"(?<!\d) | (?!\d)",
        rf"(?<![{_VALUE},.:])(?=[^{_VALUE},.:])",
        r"(?<![\d,.:])|(?![\d,.:])",
        r"(?<!\d)|(?!\d)",
    )
)


def with_stops(plain: str, lang: str) -> str:
    """`plain` with a stop at least every `MOST` characters; as it is where it has them, as prose does.

    There is a full stop at least every `MOST + MOST_APART` characters, in each script that more than a few words are
    written in.
    """
    if len(plain) <= MOST_RUN:
        return plain
    plain = _BLANKS.sub(r"\1", plain)
    plain = _RUN.sub(r"\g<0> ", plain)
    if len(plain) <= MOST:
        return plain
    stop, parts, at = _STOP[lang], [], 0
    for end in (*(match.end() for match in _STOPS[lang].finditer(plain)), len(plain)):
        while end - at > MOST:
            cut = _cut(plain, at)
            parts += [plain[at:cut], stop]
            at = cut
        parts.append(plain[at:end])
        at = end
    plain = "".join(parts)
    for mark, script in _FULL_STOPS.items():
        if len(plain) > MOST_APART and len(script.findall(plain)) > _FEW_LETTERS:
            plain = _with_full_stops(plain, mark)
    return plain


def _with_full_stops(plain: str, mark: str) -> str:
    """With `mark` behind another mark where the last one is too far away."""
    parts, at, since = [], 0, 0
    for weak in _WEAK_STOP.finditer(plain):
        end = weak.end()
        if mark in weak[0]:
            since = end
        elif end - since > MOST_APART:
            parts += [plain[at:end], mark]
            at = since = end
    return "".join([*parts, plain[at:]])


def _cut(plain: str, at: int) -> int:
    """Where a sentence that begins at `at` and is too long is cut: behind its last mark or word within the limit."""
    half, most = at + MOST // 2, at + MOST
    for place in _PLACES:
        found = (match.end() for match in place.finditer(plain, half, most + MOST_BLANKS + 2))
        last = max((end for end in found if half < end <= most), default=0)
        if last:
            return last
    return most
