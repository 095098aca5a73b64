"""Two wordings of one value are equal; two values are not."""

# ruff: noqa: E501 (rows stay whole)

import pytest

from harness.fidelity.reading.fact import Kind, same
from harness.fidelity.reading.text import read


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at half past five in the afternoon", "at 17:30"),
        ("at a quarter to nine", "at 8:45"),
        ("at noon", "at 12:00"),
        ("from 2 to 4 in the afternoon", "from 14:00 to 16:00"),
        ("$41.7M", "41.7 million dollars"),
        ("1,250.00 USD", "$1250"),
        ("a dozen eggs", "12 eggs"),
        ("half a dozen", "6"),
        ("a fortnight", "14 days"),
        ("24 hours", "one day"),
        ("one in four users", "25% of users"),
        ("two thirds", "66.6666667%"),
        ("two thirds", "67%"),
        ("A fifth of the staff", "20%"),
        ("storage a fifth.", "20%"),
        ("three fifths of it", "60%"),
        ("万分之五", "0.05%"),
        ("5 March 2024", "2024-03-05"),
        ("March 5th", "on 5 Mar"),
        ("Q3", "the third quarter"),
        ("Monday to Friday", "on weekdays"),
        ("twice a week", "two times per week"),
        ("every three months", "once a quarter"),
        ("minus 4 degrees", "-4 °C"),
        ("2.5 kg", "2,500 grams"),
        ("5 business days", "five working days"),
        ("order #A-1234", "order A1234"),
        ("十五人", "15人"),
        ("下午三点", "15:00"),
        ("上午九点半", "9:30"),
        ("晚上8点一刻", "20:15"),
        ("两千三百元", "2300元"),
        ("4170万美元", "41.7 million dollars"),
        ("1.5亿元", "150000000元"),
        ("百分之三点九", "3.9%"),
        ("四分之三", "75%"),
        ("打八折", "优惠20%"),
        ("二零二四年三月五日", "2024年3月5号"),
        ("周一至周五", "工作日"),
        ("一周", "七天"),
        ("24小时", "一天"),
        ("零下4度", "-4℃"),
        ("半小时", "30分钟"),
    ],
)
def test_wordings_of_one_value_are_equal(one: str, other: str) -> None:
    ours, theirs = read(one).facts, read(other).facts
    assert ours, one
    assert any(same(a, b) for a in ours for b in theirs), (ours, theirs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("万分之五", "千分之五"),
        ("百分之三点五", "3.8%"),
        ("one percent", "half a percent"),
        ("one eighth of a percent", "0.5%"),
        ("5 days", "5 weeks"),
        ("5 business days", "5 days"),
        ("59.90 USD", "95.90 USD"),
        ("59.90 USD", "59.90 EUR"),
        ("17:30", "7:30 pm"),
        ("9 am", "9 pm"),
        ("4 GB", "4 MB"),
        ("5 March", "5 May"),
        ("A-1234", "A-1243"),
        ("weekly", "monthly"),
        ("三个工作日", "三天"),
        ("300万元", "300亿元"),
        ("上午九点", "晚上九点"),
        ("千分之五", "百分之五"),
        ("周三", "周四"),
        ("零下4度", "4度"),
    ],
)
def test_different_values_are_not_equal(one: str, other: str) -> None:
    assert not any(same(a, b) for a in read(one).facts for b in read(other).facts)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least 5 days", 1), ("no less than 5 days", 1), ("5 days or more", 1), ("at most 5 days", -1), ("within 5 days", -1),
        ("no more than 5 days", -1), ("up to 5 days", -1), ("5 days", 0), ("至少5天", 1), ("5天以上", 1), ("5天以内", -1), ("不超过5天", -1),
    ],
)  # fmt: skip
def test_a_bound_is_read_from_the_words_around_it(text: str, bound: int) -> None:
    assert [fact.bound for fact in read(text).facts] == [bound]


@pytest.mark.parametrize(
    "text", ["no one knows", "一样的商品", "统一办理", "you may ask", "万一下雨", "唯一的办法", "one of our agents"]
)
def test_words_that_look_like_numbers_are_left_alone(text: str) -> None:
    assert [fact for fact in read(text).facts if fact.kind is Kind.NUMBER] == []
