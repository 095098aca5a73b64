"""A part of the price that is taken off, paid back or paid; and what is free because we pay for it."""

import pytest
from fidelity_judging import complaints

SAME = [
    ("We'd take 20 per cent off the lamp.", "We refund 20% of the price of the lamp.", "numbers"),
    ("We'd take 20 per cent off the lamp.", "You get 20% of the price back for the lamp.", "numbers"),
    ("Keep the lamp and we knock 20% off.", "Keep the lamp, and 20% of its price will be refunded.", "numbers"),
    ("The return of the lamp is free.", "You return the lamp at our expense.", "negation"),
    ("We collect the lamp free.", "We collect the lamp, and we pay the postage.", "negation"),
    ("台灯免费退货。", "台灯退货的运费由我们承担。", "negation"),
    ("台灯免费退货。", "台灯可以退货，我们出运费。", "negation"),
]
OTHER = [
    ("We take 20% off the price of the lamp.", "You pay 20% of the price of the lamp.", "numbers"),
    ("The return of the lamp is free.", "You pay for the return of the lamp.", "negation"),
    ("台灯免费退货。", "台灯退货要您出运费。", "negation"),
]


def _lang(text: str) -> str:
    return "en" if text.isascii() else "zh"


@pytest.mark.parametrize(("one", "other", "check"), SAME)
def test_the_same_told_by_what_is_paid(one: str, other: str, check: str) -> None:
    assert not complaints(one, other, check, lang=_lang(one))
    assert not complaints(other, one, check, lang=_lang(one))


@pytest.mark.parametrize(("one", "other", "check"), OTHER)
def test_what_the_buyer_pays_is_another_thing(one: str, other: str, check: str) -> None:
    assert complaints(one, other, check, lang=_lang(one))
