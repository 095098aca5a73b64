"""Numbers, money and codes differ by a single digit; shares of a hundred, a thousand, ten thousand and a million."""

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label

VALUES = frozenset({"numbers", "identifiers"})


def other_value(reference: str, candidate: str) -> bool:
    found = judged(reference, candidate).findings
    return any(f.check in VALUES and f.severity == 1.0 and f.certain for f in found)


def last_digit_changed(number: str) -> str:
    return number[:-1] + ("1" if number[-1] != "1" else "2")


@pytest.mark.parametrize("digits", range(6, 20))
@pytest.mark.parametrize(
    "text",
    [
        "Your order number is {}.",
        "Your ticket {} was booked.",
        "The population is {}.",
        "Call {}.",
        "The tracking number: {}",
        "您的订单号是{}。",
        "卡号为{}。",
        "快递单号：{}",
        "拨打{}。",
    ],
)
def test_one_digit_makes_another_number(text: str, digits: int) -> None:
    number = "4567891234567891234"[:digits]
    reference, candidate = text.format(number), text.format(last_digit_changed(number))
    assert other_value(reference, candidate)
    assert judged(reference, candidate).label is Label.MISLEADING


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("You owe $123,456.78.", "You owe $123,456.87."),
        ("You owe $1,234,567.89.", "You owe $1,234,567.98."),
        ("Pay 99,999.99 EUR.", "Pay 99,999.90 EUR."),
        ("应付1234567.89元。", "应付1234567.98元。"),
        ("余额为￥9,876,543.21。", "余额为￥9,876,543.12。"),
        ("Member number 4711081500.", "Member number 4711081501."),
        ("Invoice 20240117001 is paid.", "Invoice 20240117002 is paid."),
        ("会员号是20240117001。", "会员号是20240117002。"),
        ("The rate is 3.5%.", "The rate is 3.5‰."),
        ("The fee is 2 per mille.", "The fee is 2 percent."),
        ("The fee is 5 per thousand.", "The fee is 5 percent."),
        ("The rate rises by 25 basis points.", "The rate rises by 25 percentage points."),
        ("The rate rises by 25 bps.", "The rate rises by 52 bps."),
        ("It holds 5 ppm lead.", "It holds 50 ppm lead."),
        ("税率为5‰。", "税率为5%。"),
        ("千分之三的手续费。", "百分之三的手续费。"),
        ("利率上调25个基点。", "利率上调25个百分点。"),
        ("浓度为5ppm。", "浓度为5%。"),
    ],
)
def test_other_money_codes_and_shares(reference: str, candidate: str) -> None:
    assert other_value(reference, candidate)
    assert other_value(candidate, reference)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("异地住院的报销比例降低10个百分点。", "异地住院的报销比例降低至10%。"),
        ("The rate is cut by 5 percentage points.", "The rate is cut to 5%."),
    ],
)
def test_points_are_a_change_and_no_level(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is Label.MISLEADING


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Your order number is 12345678.", "Order 12345678 is yours."),
        ("The population is 1500000.", "It has 1.5 million inhabitants."),
        ("The population is 1,500,000.", "The population is 1500000."),
        ("You owe $123,456.70.", "You owe 123456.7 dollars."),
        ("It costs 41.7 million dollars.", "It costs $41,700,000."),
        ("It costs 599 cents.", "It costs $5.99."),
        ("The trip is 5 miles.", "The trip is 8 km."),
        ("About 12,000 people came.", "Some 12,100 people came."),
        ("Two thirds agreed.", "67% agreed."),
        ("The rate is 5‰.", "The rate is 0.5%."),
        ("The rate is 5‰.", "The rate is 5 per mille."),
        ("The fee is 5 per thousand.", "The fee is 0.5 percent."),
        ("The rate rises by 25 basis points.", "The rate goes up by 0.25 percentage points."),
        ("The rate rises by 25 bp.", "The rate rises by 25 basis points."),
        ("您的订单号是12345678。", "订单12345678。"),
        ("应付1500000元。", "应付150万元。"),
        ("应付1234567.89元。", "应付1,234,567.89元。"),
        ("利率上调25个基点。", "利率上调0.25个百分点。"),
        ("手续费为千分之三。", "手续费是3‰。"),
        ("手续费为千分之三点五。", "手续费是3.5‰。"),
        ("浓度为百万分之五。", "浓度是5ppm。"),
        ("下降2个百分点。", "下降2%。"),
        ("全程1500米。", "全程1.5公里。"),
    ],
)
def test_the_same_value_in_other_words(reference: str, candidate: str) -> None:
    assert not other_value(reference, candidate)
    assert judged(reference, candidate).label is Label.FAITHFUL
