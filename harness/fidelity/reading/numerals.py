"""Numbers as people write them: 1,200 · twenty-five · a dozen · 41.7M · 十五 · 两千三 · 1.5亿."""

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
    rf"(?:half a dozen|(?:a|an)\s+(?:{_BIG})|(?:{_SMALL}|{_BIG})(?![a-z]))"
    rf"(?:(?:(?:(?<=hundred)|(?<=thousand)|(?<=million))\s+and\s+|[\s-]+)(?:{_SMALL}|{_BIG})(?![a-z]))*"
)
NUMBER_EN = (
    rf"(?:(?:{DIGITS})(?:\s?(?:{_BIG})(?![a-z]))?|\b{WORDS})"
    r"(?:\s+and\s+a\s+half\b(?:\s+(?:thousand|million|billion|trillion)(?![a-z]))?)?"
)
NUMBER_ZH = r"(?:\d[\d,]*(?:\.\d+)?[百千万亿]{0,2}|[零〇一二两俩三四五六七八九十百千万亿]+)"
_HALVES_OF = re.compile(r"(?P<half>\s+and\s+a\s+half)\s+(?P<scale>thousand|million|billion|trillion)\b", re.I)
_HALVES = re.compile(r"\s+and\s+a\s+half", re.I)
_TOKEN = re.compile(rf"{DIGITS}|[a-z]+")
_ZH_MIXED = re.compile(r"(\d[\d,]*(?:\.\d+)?)([百千万亿]*)")


def english(text: str) -> float | None:
    """The value of a number in digits or words; None where it is none."""
    if text.strip().lower() == "half a dozen":
        return 6.0
    halves = 0.5 if _HALVES.search(text) else 0.0
    scaled = _HALVES_OF.search(text)
    if scaled:  # "twelve and a half million"
        count = english(text[: scaled.end("half")])
        return None if count is None else count * SCALES[scaled["scale"].lower()]
    text = _HALVES.sub("", text)
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
    return total + group + halves if seen else None


def chinese(text: str) -> float | None:
    """The value of a number in Chinese numerals, digits or both; None where it is none."""
    whole, point, rest = text.partition("点")
    if point and rest:
        value, decimals = chinese(whole), "".join(str(ZH_DIGITS.get(c, "")) for c in rest)
        return None if value is None or not decimals else value + float(f"0.{decimals}")
    mixed = _ZH_MIXED.fullmatch(text)
    if mixed:
        value = float(mixed[1].replace(",", ""))
        for scale in mixed[2]:
            value *= ZH_SCALES.get(scale) or ZH_BIG[scale]
        return value
    if not any(c in ZH_SCALES or c in ZH_BIG for c in text):
        return float("".join(str(ZH_DIGITS[c]) for c in text)) if all(c in ZH_DIGITS for c in text) and text else None
    return _grouped(text)


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
