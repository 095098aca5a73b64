"""An answer in Japanese, Korean, Cyrillic and other letters; names and sayings in them are harmless."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Label

LIES = [
    ("The kitchen is open until ten.", "キッチンは十時まで開いています。"),
    ("Your order has shipped.", "ご注文は発送されました。"),
    ("Refunds take five days.", "返金には五日かかります。"),
    ("Refunds take five days.", "Refunds take five days です。"),
    ("Please bring your passport.", "パスポートをお持ちください。"),
    ("Refunds take five days.", "환불에는 5일이 걸립니다."),
    ("Refunds take five days.", "Возврат занимает пять дней."),
    ("Refunds take five days.", "يستغرق استرداد الأموال خمسة أيام."),
    ("Refunds take five days.", "การคืนเงินใช้เวลาห้าวัน"),
    ("Refunds take five days.", "Οι επιστροφές χρημάτων διαρκούν πέντε ημέρες."),
    ("Refunds take five days.", "ההחזר לוקח חמישה ימים."),
    ("Yes.", "Да."),
    ("退款需要五天。", "返金には五日かかります。"),
    ("请带护照。", "パスポートをお持ちください。"),
    ("退款需要五天。", "환불에는 5일이 걸립니다."),
    ("退款需要五天。", "Возврат занимает пять дней."),
]
TRUTHS = [
    ("The train goes to St Petersburg.", "The train goes to Санкт-Петербург."),
    ("Ask for the room Sakura.", "Ask for the room さくら."),
    ("He studied in Moscow.", "He studied in Moscow (Московский государственный университет)."),
    ("Thank the cook in Japanese.", "Thank the cook in Japanese: “ありがとうございます”."),
    ("Contact Mr Sato.", "Contact Mr Sato (佐藤さん)."),
    ("The resistance is 5 Ω.", "It has a resistance of 5 Ω."),
    ("The word for yes is да.", "Yes is да."),
    ("The café is in Zürich.", "The café lies in Zürich."),
    ("请到便利店取件。", "请到便利店（セブンイレブン）取件。"),
    ("请到便利店取件。", "请到セブンイレブン取件。"),
    ("房间名为樱花。", "房间名为さくら。"),
    ("这家店叫优の良品。", "店名是优の良品。"),
    ("返金には五日かかります。", "返金は五日かかります。"),
    ("列车开往莫斯科。", "列车开往Москва。"),
]


@pytest.mark.parametrize(("reference", "candidate"), LIES)
def test_another_language_is_told(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "language")
    assert judged(reference, candidate).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), TRUTHS)
def test_a_name_in_other_letters_is_harmless(reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "language")
