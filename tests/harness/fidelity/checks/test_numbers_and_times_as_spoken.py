"""Clock times without 分, halves of a round number, decimals in Chinese numerals, money of other countries."""

import pytest
from fidelity_judging import complaints

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.text import read

TIMES = [
    ("班车五点四十发车。", 340.0),
    ("晚上九点五十五以前回来。", 1315.0),
    ("四点零五到站。", 245.0),
    ("十一点半锁门。", 690.0),
    ("五点一刻吃饭。", 315.0),
    ("十点过十分开始。", 610.0),
    ("差一刻三点见。", 165.0),
    ("九点二十门口集合。", 560.0),
    ("两点三十五上课。", 155.0),
]
VALUES = [
    ("en", "Half a million visitors came.", Kind.NUMBER, 500_000.0),
    ("en", "It cost a quarter of a million euros.", Kind.MONEY, 250_000.0),
    ("en", "Three quarters of a billion litres were saved.", Kind.MEASURE, 750_000_000.0),
    ("en", "Over a million and a half were sold.", Kind.NUMBER, 1_500_000.0),
    ("en", "About three million and a quarter live there.", Kind.NUMBER, 3_250_000.0),
    ("en", "Four and a half thousand letters arrived.", Kind.NUMBER, 4_500.0),
    ("en", "A half-dozen pears are left.", Kind.NUMBER, 6.0),
    ("en", "A dozen and a half rolls, please.", Kind.NUMBER, 18.0),
    ("en", "It lasts three quarters of a year.", Kind.DURATION, 9.0),
    ("en", "The climb takes an hour and a quarter.", Kind.DURATION, 4_500.0),
    ("en", "The fine is 300 zlotys.", Kind.MONEY, 300.0),
    ("zh", "全程两点五公里。", Kind.MEASURE, 2_500.0),
    ("zh", "讲座两点五个小时。", Kind.DURATION, 9_000.0),
    ("zh", "涨到一点五倍。", Kind.MEASURE, 1.5),
    ("zh", "花了三点二万元。", Kind.MONEY, 32_000.0),
    ("zh", "他已年过半百。", Kind.NUMBER, 50.0),
    ("zh", "罚款三百克朗。", Kind.MONEY, 300.0),
]
SAME = [
    ("火车五点四十从北站开。", "从北站发车的时间是5:40。"),
    ("晚饭七点一刻开始。", "7:15开饭。"),
    ("门在晚上十点零五关。", "22:05锁门。"),
    ("The dam cost half a million francs.", "500,000 francs were spent on the dam."),
    ("A million and a half bulbs were planted.", "They planted 1.5 million bulbs."),
    ("The lease runs for nine months.", "The lease runs for three quarters of a year."),
    ("全程两点五公里。", "路程一共2.5公里。"),
    ("Last year 46% of the tiles were glazed.", "46 of every hundred tiles were glazed last year."),
    ("茶壶里红泥的占三成。", "茶壶每十个里就有三个是红泥的。"),
    ("Take the 6:35, which has a buffet.", "Take the 6.35, it has a buffet."),
    ("The vat is stirred every Monday and Thursday.", "The vat is stirred twice a week, on Monday and on Thursday."),
    ("展览8月3日到6日开放。", "8月3日至6日开展,这四天都开放。"),
    ("8月3日上午9点到,停两天,5日下午4点走。", "8月3日9:00抵达,停留两日,5日16:00离开。"),
    ("每周二换水。", "星期二换水,每个礼拜一次。"),
    ("一共10个茶壶,3个是红泥的。", "十个里有三个是红泥的。"),
]
OTHER = [
    ("火车五点四十从北站开。", "从北站发车的时间是5:50。", "moments"),
    ("晚饭七点一刻开始。", "7:45开饭。", "moments"),
    ("门在晚上十点零五关。", "22:50锁门。", "moments"),
    ("The dam cost half a million francs.", "250,000 francs were spent on the dam.", "numbers"),
    ("A million and a half bulbs were planted.", "They planted 1.25 million bulbs.", "numbers"),
    ("The lease runs for nine months.", "The lease runs for a quarter of a year.", "numbers"),
    ("全程两点五公里。", "路程一共5公里。", "numbers"),
    ("Last year 46% of the tiles were glazed.", "64 of every hundred tiles were glazed last year.", "numbers"),
    ("茶壶里红泥的占三成。", "茶壶每十个里就有六个是红泥的。", "numbers"),
    ("Take the 6:35, which has a buffet.", "Take the 6.53, it has a buffet.", "moments"),
    ("The vat is stirred every Monday and Thursday.", "The vat is stirred four times a week.", "numbers"),
    ("8月3日上午9点到,停两天,5日下午4点走。", "8月3日9:00抵达,停留两日,9日16:00离开。", "moments"),
    ("每周二换水。", "星期二换水,每个月一次。", "numbers"),
]


@pytest.mark.parametrize(("text", "minutes"), TIMES)
def test_a_clock_time_is_read_without_the_word_for_minutes(text: str, minutes: float) -> None:
    assert [fact.value for fact in read(text, "zh").facts] == [minutes]


@pytest.mark.parametrize("text", ["早上八点二十人集合。", "两点十位代表发言。", "八点五十元起拍。"])
def test_people_and_money_after_an_hour_are_no_minutes(text: str) -> None:
    time, count = read(text, "zh").facts
    assert time.kind is Kind.TIME
    assert time.value % 60 == 0
    assert count.kind is not Kind.TIME


@pytest.mark.parametrize(("lang", "text", "kind", "value"), VALUES)
def test_a_number_is_read_as_it_is_spoken(lang: str, text: str, kind: Kind, value: float) -> None:
    assert [(fact.kind, fact.value) for fact in read(text, lang).facts] == [(kind, value)]


@pytest.mark.parametrize(
    ("text", "kind"), [("5月3日起,15日内办理。", Kind.DURATION), ("5月3日到,15日离开。", Kind.DATE)]
)
def test_a_day_after_a_date_is_of_its_month_where_it_is_no_term(text: str, kind: Kind) -> None:
    assert read(text, "zh").facts[-1].kind is kind


def test_a_couple_of_hundred_is_about_two_hundred() -> None:
    (fact,) = read("A couple of hundred sheep graze there.", "en").facts
    assert (fact.value, fact.approximate) == (200.0, True)


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_a_value_in_another_dress_is_the_same(reference: str, candidate: str) -> None:
    for check in ("numbers", "moments"):
        assert not complaints(reference, candidate, check)


@pytest.mark.parametrize(("reference", "candidate", "check"), OTHER)
def test_another_value_is_found_in_any_dress(reference: str, candidate: str, check: str) -> None:
    assert complaints(reference, candidate, check)
