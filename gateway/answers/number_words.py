"""Numbers written in words, English and Chinese, as digits."""

import re

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_OTHERS = {"once": 1, "twice": 2, "half": 30, "quarter": 15, "dozen": 12, "hundred": 100, "thousand": 1000}
_VALUES = {
    **{word: value for value, word in enumerate(_ONES.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), start=2)},
    **{word: value for value, word in enumerate(_ORDINALS.split(), start=1)},
    **_OTHERS,
}
_ENGLISH = re.compile(
    rf"\b({'|'.join(_TENS.split())})[- ]({'|'.join(_ONES.split()[1:10])})\b|\b({'|'.join(_VALUES)})\b", re.IGNORECASE
)
_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_CHINESE = re.compile("[零〇一二两三四五六七八九十百千万]+")
_MOST_SIGNS = 60  # of a number that somebody means; the value of more would have thousands of digits
_HALVES = {"半": "30"}


def spelled_numbers(text: str) -> set[str]:
    """Every number that words of `text` spell, in digits; a Chinese one of up to `_MOST_SIGNS` numerals."""
    found = set()
    for tens, ones, single in _ENGLISH.findall(text):
        value = _VALUES[tens.lower()] + _VALUES[ones.lower()] if tens else _VALUES[single.lower()]
        found.add(str(value))
    for run in _CHINESE.findall(text):
        if len(run) <= _MOST_SIGNS:
            found.add(str(chinese_number(run)))
    return found | {digits for sign, digits in _HALVES.items() if sign in text}


def chinese_number(run: str) -> int:
    """The value of a run of Chinese numerals; a run without units is read digit by digit."""
    if not any(sign in _UNITS for sign in run):
        return int("".join(str(_DIGITS[sign]) for sign in run))
    total = section = digit = 0
    for sign in run:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif sign == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            section += (digit or 1) * _UNITS[sign]
            digit = 0
    return total + section + digit
