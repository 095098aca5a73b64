"""Fields of an answer in JSON that say in a number that nothing is left to pay: {"outstanding": 0}."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

_NOTHING_LEFT = re.compile(
    r'"(?P<key>(?:amount_?|total_?|open_?|invoice_?)?(?:outstanding|balance|due|owed|owing|unpaid|open|remaining|arrears|debt)(?:_?(?:amount|balance|due|total|to_?pay|sum))?|未付(?:金额|款)?|欠款|余款|待付(?:金额)?)"\s*:\s*"?(?:[$€£¥]\s?)?0(?:\.0+)?(?:\s?(?:元|USD|EUR|GBP))?"?(?=\s*[,}])',
    re.IGNORECASE,
)
_PAID = re.compile(
    r"\b(?:(?:paid|settled|cleared)(?: (?:in full|up|off|completely))?|fully (?:paid|settled))\b|已?(?:付清|结清|缴清|全额支付|支付完毕|还清)",
    re.IGNORECASE,
)


def told_settled(candidate: str, reference: str) -> str:
    """The answer with "outstanding: 0" said in the words of a reference that speaks of payment."""
    if not candidate.lstrip().startswith("{") or not _NOTHING_LEFT.search(candidate):
        return candidate
    paid = _PAID.search(reference)
    if paid is None:
        return candidate
    return _NOTHING_LEFT.sub(f'"status": "{paid[0]}"', candidate)
