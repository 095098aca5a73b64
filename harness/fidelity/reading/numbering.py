"""The numbers before the items of a list: 1) … 2) …, 一、…二、…."""

import re

_MARKERS = (
    re.compile(r"(?:^|[\n:;,.]\s*|\s(?=\())\(?(?P<n>\d{1,2})[).](?=\s)"),
    re.compile(r"(?:^|[\n：:；;。，,])\s*[（(]?(?P<n>[一二三四五六七八九]|\d{1,2})[、.)）](?!\d)"),
)


def without_numbers(plain: str) -> str:
    """A text without the numbers of the items of a list; nothing is counted by them."""
    for pattern in _MARKERS:
        found = [match["n"] for match in pattern.finditer(plain)]
        if found[:2] in (["1", "2"], ["一", "二"]):
            return pattern.sub(lambda match: match[0][: match.start("n") - match.start()].rstrip("(（"), plain)
    return plain
