"""What the reference writes in another way, in the candidate as the reference writes it: codes, countries, persons, zones of time.

A form is rewritten only where the reference has its equal, so that what is not equal is left as it is, for the checks to find.
"""

# ruff: noqa: E501 (patterns stay whole)

import re
from collections.abc import Iterator
from itertools import islice
from types import MappingProxyType

_TOKEN = r"[A-Z]{0,4}\d{1,24}(?:[A-Z]{1,4}\d{1,24}){0,2}[A-Z]?"
_SEPARATED = re.compile(  # telephone numbers, cards, bank accounts, order numbers: in groups or in one
    rf"(?<![A-Za-z0-9.,+])[+#]?\(?{_TOKEN}\)?(?:(?:[ ./-]{{1,2}}\(?|\()(?:{_TOKEN}|[A-Z]{{4}}(?= ?\d))\)?|(?<=\)){_TOKEN}){{0,12}}(?![A-Za-z0-9]|[.,]\d)"
)
_BRACKETS = str.maketrans("（）", "()")
_JOINED = re.compile(r"(?<![A-Za-z0-9-])(?=[A-Z]{0,8}\d)(?=\d{0,8}[A-Z])[A-Z0-9]{5,10}(?![A-Za-z0-9-])")
_MOST_CODES = 8  # of a text that are looked for in groups
_CHINA = re.compile(r"^\+86[- ]?(?=1[3-9]\d)")
_MARKS = re.compile(r"[\s()./#+-]")
_LEAST_DIGITS = 6  # of a number that may be grouped in any way
_VERSION = re.compile(
    r"(?<![A-Za-z0-9.])(?P<lead>(?:versions? |v\.? ?|ver\. ?|release )?)(?P<number>\d+(?:\.\d+){1,3})(?![A-Za-z0-9]|\.\d)",
    re.I,
)
_LETTER_CODE = re.compile(r"(?<![A-Za-z0-9-])[A-Z]{1,5}[ -]?\d{2,24}(?:[ -]\d{1,24}){0,6}(?![A-Za-z0-9-]|\.\d)")
_COUNTRIES = (
    ("United States of America", "United States", "U.S.A.", "U.S.", "USA", "US"),
    ("United Kingdom", "Great Britain", "U.K.", "UK"),
    ("European Union", "E.U.", "EU"),
    ("United Arab Emirates", "U.A.E.", "UAE"),
    ("美利坚合众国", "美国"),
    ("中华人民共和国", "中国"),
    ("大不列颠", "联合王国", "英国"),
    ("欧洲联盟", "欧盟"),
    ("阿拉伯联合酋长国", "阿联酋"),
)
_NAME = r"[A-ZÀ-Þ][\wÀ-ÿ'’]+(?:-[A-ZÀ-Þ][\wÀ-ÿ'’]+)?"
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Doctor|Prof|Professor)\.?"
_TITLED = re.compile(rf"\b(?P<title>{_TITLE}) (?P<last>{_NAME})(?!-| [A-ZÀ-Þ][a-zà-ÿ])")
_FULL_NAME = re.compile(rf"\b(?:(?P<title>{_TITLE}) )?(?P<first>{_NAME}) (?=(?P<last>{_NAME})(?![\w-]))")
_NO_FIRST = frozenset(
    [
        "Mr",
        "Mrs",
        "Ms",
        "Miss",
        "Mx",
        "Dr",
        "Doctor",
        "Prof",
        "Professor",
        "The",
        "Our",
        "Your",
        "Please",
        "Contact",
        "Ask",
        "Call",
        "With",
        "For",
        "From",
        "To",
        "And",
        "Dear",
        "Nurse",
        "Captain",
        "See",
        "By",
        "Tell",
        "Email",
        "Write",
    ]
)
_ZONES = MappingProxyType(  # minutes before UTC that a zone is
    {"UTC": 0, "GMT": 0, "WET": 0, "WEST": 60, "CET": 60, "MEZ": 60, "CEST": 120, "MESZ": 120, "EET": 120, "EEST": 180, "MSK": 180,
     "EST": -300, "EDT": -240, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420, "JST": 540, "SGT": 480, "HKT": 480,
     "AEST": 600, "AEDT": 660, "北京时间": 480, "东京时间": 540, "日本时间": 540, "新加坡时间": 480, "香港时间": 480}
)  # fmt: skip
_CLOCK = r"(?P<{0}h>\d{{1,2}})(?:[:.](?P<{0}m>[0-5]\d))?(?: ?(?P<{0}half>[ap])\.?m\.?(?![a-z]))?"
_ZONE = rf"(?:{'|'.join(sorted(_ZONES, key=len, reverse=True))})(?:[+-]\d{{1,2}}(?::?[0-5]\d)?)?(?![A-Za-z])"
_ZONED = re.compile(
    rf"(?<![\d.:])(?:{_CLOCK.format('a')}(?P<gap>\s?(?:-|–|to|until|till|and|至|到)\s?))?{_CLOCK.format('b')}\s?[(（]?(?P<zone>{_ZONE})[)）]?",
    re.I,
)
_ZONED_ZH = re.compile(
    rf"(?P<zone>(?:{'|'.join(z for z in _ZONES if not z.isascii())}|UTC|GMT))\s?(?:凌晨|早上|上午|下午|晚上)?{_CLOCK.format('b')}(?![:\d])"
)
_POUNDS = re.compile(
    r"(?<=\d )pounds?\b|(?<=\b)(?:(?<=one )|(?<=two )|(?<=three )|(?<=four )|(?<=five )|(?<=six )|(?<=seven )|(?<=eight )|(?<=nine )|(?<=ten ))pounds?\b",
    re.I,
)
_POUNDS_OF_WEIGHT = re.compile(r"(?<=\d) ?lbs?\b\.?", re.I)
_STERLING = re.compile(r"£|\bGBP\b|\bpence\b|\bpaid?\b|\bcosts?\b|\bpric|\bfees?\b|\bcharge", re.I)


def as_the_reference(candidate: str, reference: str) -> str:
    """The candidate, what the reference writes in another way written as there."""
    candidate = _codes(candidate.translate(_BRACKETS), reference.translate(_BRACKETS))
    candidate = _parted(candidate, reference)
    candidate = _versions(candidate, reference)
    candidate = _countries(candidate, reference)
    candidate = _persons(candidate, reference)
    candidate = _weights(candidate, reference)
    return _zones(candidate, reference)


def _codes(candidate: str, reference: str) -> str:
    """+1 (415) 555 0134 for +1 415-555-0134, 6222 0212 3456 for 622202123456, A1234 for A-1234."""
    told = {_bare(found): found for found in _grouped(reference)}
    if not told:
        return candidate

    def instead(match: re.Match[str]) -> str:
        found = match[0].rstrip(" ./-")
        other = told.get(_bare(found))
        return match[0] if other is None or other == found else other + match[0][len(found) :]

    for pattern in (_SEPARATED, _LETTER_CODE):
        candidate = pattern.sub(instead, candidate)
    return candidate


def _parted(candidate: str, reference: str) -> str:
    """AB12 CDE for AB12CDE, and the other way round."""
    for match in islice(_JOINED.finditer(reference), _MOST_CODES):
        candidate = re.sub(_with_gaps(match[0]), match[0], candidate)
    for match in islice(_JOINED.finditer(candidate), _MOST_CODES):
        other = re.search(_with_gaps(match[0]), reference)
        if other:
            candidate = candidate.replace(match[0], other[0])
    return candidate


def _with_gaps(code: str) -> str:
    return rf"(?<![A-Za-z0-9])(?<![A-Za-z0-9]-){'[ -]?'.join(code)}(?![A-Za-z0-9])"


def _grouped(text: str) -> Iterator[str]:
    for pattern in (_SEPARATED, _LETTER_CODE):
        for match in pattern.finditer(text):
            found = match[0].rstrip(" ./-")
            digits = sum(char.isdigit() for char in found)
            if digits >= _LEAST_DIGITS or (pattern is _LETTER_CODE and digits > 1):
                yield found


def _bare(found: str) -> str:
    """Without what groups it, and without the country of a Chinese mobile number."""
    return _MARKS.sub("", _CHINA.sub("", found))


def _versions(candidate: str, reference: str) -> str:
    """v2.10.1 for "version 2.10.1"."""
    told = {m["number"]: m[0] for m in _VERSION.finditer(reference) if m["lead"] or m["number"].count(".") > 1}
    return _VERSION.sub(
        lambda m: told.get(m["number"], m[0]) if m["lead"] or m["number"].count(".") > 1 else m[0], candidate
    )


def _countries(candidate: str, reference: str) -> str:
    if candidate.isupper() or reference.isupper():
        return candidate
    for forms in _COUNTRIES:
        if not any(form in candidate for form in forms):
            continue
        here, there = _form(forms, reference), _form(forms, candidate)
        if here and there and here != there:
            candidate = re.sub(_alone(there), here, candidate)
    return candidate


def _form(forms: tuple[str, ...], text: str) -> str:
    """The first of the forms that the text has; "" where it has none."""
    return next((form for form in forms if re.search(_alone(form), text)), "")


def _alone(form: str) -> str:
    if not form.isascii():
        return re.escape(form)
    end = "" if form.endswith(".") else r"(?![\w$])"
    return rf"(?<![\w.]){re.escape(form)}{end}"


def _persons(candidate: str, reference: str) -> str:
    """ "Ms Gonzalez" for Maria Gonzalez: a title for the first name, where it is told of nobody else."""
    titled = {match["last"] for match in _TITLED.finditer(reference)}
    full: dict[str, set[tuple[str, str]]] = {}
    for match in _FULL_NAME.finditer(reference):
        if match["first"] not in _NO_FIRST:
            full.setdefault(match["last"], set()).add((_short(match["title"]), match[0] + match["last"]))

    def instead(match: re.Match[str]) -> str:
        names = full.get(match["last"], set())
        if len(names) != 1 or match["last"] in titled:
            return match[0]
        title, name = next(iter(names))
        return name if title in ("", _short(match["title"])) else match[0]

    return _TITLED.sub(instead, candidate) if full else candidate


def _short(title: str | None) -> str:
    """ "Dr" for "Doctor" and "Dr."; "" for no title."""
    short = (title or "").rstrip(".")
    return {"Doctor": "Dr", "Professor": "Prof"}.get(short, short)


def _weights(candidate: str, reference: str) -> str:
    """ "three pounds" for 3 lb, unless either text tells of money."""
    if _STERLING.search(candidate) or _STERLING.search(reference):
        return candidate
    if _POUNDS_OF_WEIGHT.search(reference) and not _POUNDS.search(reference):
        return _POUNDS.sub("lb", candidate)
    if _POUNDS.search(reference) and not _POUNDS_OF_WEIGHT.search(reference):
        return _POUNDS_OF_WEIGHT.sub(" pounds", candidate)
    return candidate


def _zones(candidate: str, reference: str) -> str:
    """14:00 UTC for 3 pm CET: the same moment of the same day."""
    told = {_moment(match): match for pattern in (_ZONED, _ZONED_ZH) for match in pattern.finditer(reference)}

    def instead(match: re.Match[str]) -> str:
        moment = _moment(match)
        other = told.get(moment)
        if moment is None or other is None or _zone(other["zone"]) == _zone(match["zone"]):
            return match[0]
        return other[0]

    for pattern in (_ZONED, _ZONED_ZH) if told else ():
        candidate = pattern.sub(instead, candidate)
    return candidate


def _zone(name: str) -> int | None:
    """Minutes that a zone is before UTC; None where it is none."""
    parts = re.fullmatch(r"(?P<name>[^\d+-]+)(?:(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d\d))?)?", name)
    base = _ZONES.get(parts["name"].upper()) if parts else None
    if parts is None or base is None or not parts["sign"]:
        return base
    ahead = int(parts["h"]) * 60 + int(parts["m"] or 0)
    return base + (ahead if parts["sign"] == "+" else -ahead)


def _moment(match: re.Match[str]) -> tuple[int, ...] | None:
    """Minutes of the day in UTC, below 0 for the day before; None where the hour or the zone is open."""
    offset, groups = _zone(match["zone"]), match.groupdict()
    if offset is None:
        return None
    found = []
    for which in ("a", "b"):
        if groups.get(f"{which}h") is None:
            continue
        hour, minute = int(groups[f"{which}h"]), int(groups[f"{which}m"] or 0)
        half = (groups[f"{which}half"] or "").lower()
        if hour > 24 or (not half and not groups[f"{which}m"]) or (half and not 0 < hour <= 12):
            return None
        found.append((hour % 12 + (12 if half == "p" else 0) if half else hour) * 60 + minute - offset)
    return tuple(found)
