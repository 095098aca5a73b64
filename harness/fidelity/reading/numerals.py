"""Numbers as people write them: 1,200 · twenty-five · a dozen · 41.7M · 十五 · 两千三 · 1.5亿."""

import math
import re

UNITS = {
    "zero": 0, "nil": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "mm": 1e6, "m": 1e6, "billion": 1e9,
    "bn": 1e9, "b": 1e9, "trillion": 1e12, "tn": 1e12, "dozen": 12.0, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
ORDINALS = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "eleventh": 11, "twelfth": 12,
}  # fmt: skip
FRACTIONS = {
    "half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10,
}  # fmt: skip
ZH_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "俩": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
}
ZH_SCALES = {"十": 10.0, "百": 1e2, "千": 1e3}
ZH_BIG = {"万": 1e4, "亿": 1e8}

_SMALL = "|".join([*TENS, *sorted(UNITS, key=len, reverse=True)])
_BIG = "hundred|thousand|million|billion|trillion|dozen|lakh|crore"
DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
WORDS = (
    rf"(?:(?:a|an)\s+(?:{_BIG})|(?:{_SMALL}|{_BIG})(?![a-z]))"
    rf"(?:(?:(?:(?<=hundred)|(?<=thousand)|(?<=million))\s+and\s+|[\s-]+)(?:{_SMALL}|{_BIG})(?![a-z]))*"
)
_ROUND = "dozen|hundred|thousand|million|billion|trillion"  # what is told in halves and quarters
PART_OF_ROUND = (  # half a million, three quarters of a million
    rf"(?:half[\s-](?:an?[\s-])?|(?P<quarters>three|an?|one)[\s-]quarters?[\s-]of[\s-]an?[\s-])(?P<round>{_ROUND})(?![a-z])"
)
_PART_OF_ROUND = re.compile(PART_OF_ROUND, re.I)
NUMBER_EN = (
    rf"(?:(?:{DIGITS})(?:\s?(?:{_BIG})(?![a-z]))?|\b{re.sub(r'[?]P<[a-z]+>', '?:', PART_OF_ROUND)}|\b{WORDS})"
    rf"(?:\s+and\s+a\s+(?:half|quarter)\b(?:\s+(?:{_ROUND})(?![a-z]))?)?"
)
NUMBER_ZH = r"(?:\d[\d,]*(?:\.\d+)?[百千万亿]{0,2}|[零〇一二两俩三四五六七八九十百千万亿]+)"
DECIMAL_ZH = r"[零〇一二两三四五六七八九十百]+点[零〇一二三四五六七八九]+[百千万亿]{0,2}"
_BROKEN = re.compile(rf"\s+and\s+a\s+(?P<part>half|quarter)(?:\s+(?P<scale>{_ROUND}))?\b", re.I)
_ENDS_ROUND = re.compile(r"\b(?P<scale>dozen|thousand|million|billion|trillion)$", re.I)
_TOKEN = re.compile(rf"{DIGITS}|[a-z]+")
_ALL_DIGITS_ZH = "".join(ZH_DIGITS)
_ZH_MIXED = re.compile(r"(\d[\d,]*(?:\.\d+)?)([百千万亿]*)")


def english(text: str) -> float | None:
    """The value of a number in digits or words; None where it is none."""
    part = _PART_OF_ROUND.fullmatch(text.strip())
    if part:
        share = 0.75 if (part["quarters"] or "").lower() == "three" else 0.25 if part["quarters"] else 0.5
        return share * SCALES[part["round"].lower()]
    broken = _BROKEN.search(text)
    if broken:
        return _and_a_part(text[: broken.start()], broken)
    total, group, seen = 0.0, 0.0, False
    for token in _TOKEN.findall(text.lower()):
        if token[0].isdigit():
            group, seen = group + float(token.replace(",", "")), True
        elif token in UNITS or token in TENS:
            group, seen = group + UNITS.get(token, TENS.get(token, 0)), True
        elif token == "hundred":
            group, seen = (group or 1) * 100, True
        elif token in SCALES:
            total, group, seen = total + (group or 1) * SCALES[token], 0.0, True
    return total + group if seen else None


def round_number(whole: str) -> float:
    """What "and a half" is a half of: a million after "two million", else one."""
    ends = _ENDS_ROUND.search(whole)
    return SCALES[ends["scale"].lower()] if ends else 1.0


def _and_a_part(whole: str, broken: re.Match[str]) -> float | None:
    """Two and a half, "two and a half million", "two million and a half"."""
    value, part = english(whole), 0.25 if broken["part"].lower() == "quarter" else 0.5
    if value is None:
        return None
    if broken["scale"]:
        return (value + part) * SCALES[broken["scale"].lower()]
    return value + part * round_number(whole)


def chinese(text: str) -> float | None:
    """The value of a number in Chinese numerals, digits or both; None where it is none."""
    whole, point, rest = text.partition("点")
    if point and rest:
        value, decimals = chinese(whole), "".join(str(ZH_DIGITS.get(c, "")) for c in rest)
        if value is None or not decimals:
            return None
        return float(f"{(value + float(f'0.{decimals}')) * _scale(rest.lstrip(_ALL_DIGITS_ZH)):.15g}")
    mixed = _ZH_MIXED.fullmatch(text)
    if mixed:
        return float(mixed[1].replace(",", "")) * _scale(mixed[2])
    if not any(c in ZH_SCALES or c in ZH_BIG for c in text):
        return float("".join(str(ZH_DIGITS[c]) for c in text)) if all(c in ZH_DIGITS for c in text) and text else None
    return _grouped(text)


def _scale(signs: str) -> float:
    """What 百, 万 and the like after a number multiply it with; 1 for none."""
    return math.prod(ZH_SCALES.get(sign) or ZH_BIG[sign] for sign in signs)


def _grouped(text: str) -> float | None:
    total, section, digit, last_scale = 0.0, 0.0, 0.0, 1.0
    for char in text:
        if char in ZH_DIGITS:
            digit = float(ZH_DIGITS[char])
            if char in "零〇":
                last_scale = 10.0  # 一百零三 is 103, not 130
        elif char in ZH_SCALES:
            section, digit, last_scale = section + (digit or 1) * ZH_SCALES[char], 0.0, ZH_SCALES[char]
        elif char in ZH_BIG:
            group, scale = section + digit, ZH_BIG[char]
            total = (total + group or 1) * scale if scale > 1e4 else total + (group or 1) * scale
            section, digit, last_scale = 0.0, 0.0, scale
        else:
            return None
    colloquial = digit * last_scale / 10 if last_scale >= 100 else digit  # 两千三 is 2300
    return total + section + colloquial
