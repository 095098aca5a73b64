"""Another value: a number, a code or a unit changes."""

import re
from random import Random

from harness.fidelity import perturb_words as words
from harness.fidelity.perturb_text import Plain, any_of, one_of, replaced

# Digits that are no part of a code, and counts in words. A day of the week is counted in Chinese, too.
_DIGITS = re.compile(r"(?<![A-Za-z#_])(?<![A-Za-z]-)(?<![\d.,:/-])\d+(?:[.,:/]\d+)*(?![A-Za-z-]*\d)")
_WORD = re.compile(rf"\b(?:{'|'.join(words.WORDS)})\b", re.IGNORECASE)
_ZH_ONE = r"[零一二两三四五六七八九十百千万几半第]"
_WORD_ZH = re.compile(
    rf"(?<!{_ZH_ONE})(?:[三四五六七八九]?十[一二三四五六七八九]?|[两二三四五六七八九])(?!{_ZH_ONE[:-3]}几半])"
    rf"(?=(?:{words.COUNTED_ZH}))"
)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
_STEPS = (1, 2, 10, 20)


def number(told: Plain, rng: Random) -> str | None:
    in_words = _WORD_ZH if told.lang == "zh" else _WORD
    found = [m for pattern in (_DIGITS, in_words) for m in pattern.finditer(told.text) if len(m[0]) < 12]
    if not found:
        return None
    match = rng.choice(found)
    if match[0][0].isdigit():
        other = _other_digits(match[0], told.text[match.end() :], rng)
    else:
        other = (_other_word_zh if told.lang == "zh" else _other_word)(match[0], rng)
    return replaced(told.text, *match.span(), other)


def _other_digits(number: str, after: str, rng: Random) -> str:
    clock, step = _CLOCK.fullmatch(number), rng.choice(_STEPS)
    if clock and step >= 10:
        return f"{clock[1]}:{(int(clock[2]) + step) % 60:02}"
    if clock:
        half = re.match(r"\s*[ap]\.?m", after, re.IGNORECASE)
        hour = (int(clock[1]) + step - 1) % 12 + 1 if half else (int(clock[1]) + step) % 24
        return f"{hour:0{len(clock[1])}}:{clock[2]}"
    parts = re.split(r"([.,:/])", number)
    at = rng.randrange(0, len(parts), 2)
    other = int(parts[at]) + step if at == 0 else (int(parts[at]) + step) % 10 ** len(parts[at])
    parts[at] = str(other).zfill(len(parts[at]))
    return "".join(parts)


def _other_word(word: str, rng: Random) -> str:
    among = words.SMALL if word.casefold() in words.SMALL else words.WORDS[len(words.SMALL) :]
    other = rng.choice([one for one in among if one != word.casefold()])
    return other.capitalize() if word[0].isupper() else other


def _other_word_zh(word: str, rng: Random) -> str:
    kept, last = word[:-1], word[-1]
    if last == "十":  # of 十 and 三十 the first figure changes
        return rng.choice([one for one in "三四六七八九" if one != kept]) + "十"
    return kept + rng.choice([one for one in "三四五六七八九" if one != last])


_CODE = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{1,6}[-_]?\d[A-Za-z0-9-]*\d|#\d+|\b\d{3,4}-\d{3,4}-\d{3,4}\b|"
    r"(?:\b(?:order|ticket|invoice|booking|reference|case|room|gate|flight|line|number|no\.)|订单|工单|单号|编号|号码|票号|房间)\s*[:号是:]?\s*\d{3,}",
    re.IGNORECASE,
)


def identifier(told: Plain, rng: Random) -> str | None:
    match = one_of(_CODE, told.text, rng)
    if not match:
        return None
    at = max(i for i in range(*match.span()) if told.text[i].isdigit())
    return replaced(told.text, at, at + 1, str((int(told.text[at]) + rng.randint(1, 9)) % 10))


_UNIT = re.compile(rf"(?:{words.COUNT})[ -]?(?P<unit>{any_of(words.UNITS)})\b")
_UNIT_ZH = re.compile(rf"(?<!第)(?:{words.COUNT_ZH})\s?(?P<unit>{any_of(words.UNITS_ZH)})")
_YEAR = re.compile(r"\d{4}年")


def unit(told: Plain, rng: Random) -> str | None:
    pattern, known = (_UNIT_ZH, words.UNITS_ZH) if told.lang == "zh" else (_UNIT, words.UNITS)
    found = [m for m in pattern.finditer(told.text) if not _YEAR.fullmatch(m[0]) and not _no_unit(m, told.text)]
    if not found:
        return None
    match = rng.choice(found)
    return replaced(told.text, *match.span("unit"), known[match["unit"]])


def _no_unit(match: re.Match[str], text: str) -> bool:
    after = words.NO_UNIT_ZH.get(match["unit"])
    return after is not None and re.match(after, text[match.end() :]) is not None
