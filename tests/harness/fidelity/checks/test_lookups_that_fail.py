"""A look-up that failed is no business that failed, whatever was looked up; and when to ask again is no value."""

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label

MOORINGS_EN = "The harbour log for last month lists fourteen moorings, five of them at the north quay."
MOORINGS_ZH = "上个月的泊位登记表共记了十四处泊位，其中五处在北码头。"
LOOKED_UP = [
    (
        MOORINGS_EN,
        "Sorry, I couldn't open the harbour log, so I'd rather not guess a figure. Please ask again in half an hour.",
    ),
    (
        MOORINGS_EN,
        "The harbour log could not be loaded just now. I don't want to make up a number; try again in twenty minutes.",
    ),
    (MOORINGS_EN, "I was unable to pull up the moorings, so I can't give you a figure. Please come back in an hour."),
    (
        MOORINGS_EN,
        "I failed to reach the system that holds the harbour log and cannot say. Ask me again in ten minutes.",
    ),
    (
        MOORINGS_EN,
        "I have not been able to look the moorings up, so I can't tell you how many. Please try once more at 3 pm.",
    ),
    (
        MOORINGS_EN,
        "The log of the harbour could not be retrieved, so I have no figure for you. Please try again later today.",
    ),
    (MOORINGS_EN, "I could not access the list of moorings, and I won't guess. Please ask again in 30 minutes."),
    (MOORINGS_EN, "Our query of the harbour log failed, so I don't know. Please try again in a quarter of an hour."),
    (
        MOORINGS_EN,
        "I wasn't able to fetch last month's log. I can't say how many there were; please try again tomorrow.",
    ),
    (
        MOORINGS_EN,
        "The page with the moorings did not load, so I can't give a number. Try again in five minutes, please.",
    ),
    (MOORINGS_ZH, "抱歉，系统正忙，泊位登记表没能调出来，我不敢乱报。请您半小时后再问一次。"),
    (MOORINGS_ZH, "不好意思，泊位登记表未能加载，我没法告诉您数字。请过二十分钟再试。"),
    (MOORINGS_ZH, "刚才没能打开泊位登记表，我不好随口说一个数，麻烦您一小时后再来问。"),
    (MOORINGS_ZH, "系统没能读取上个月的泊位记录，所以我答不上来，请十分钟后再试。"),
    (MOORINGS_ZH, "很抱歉，泊位登记表查询失败，暂时无法回答您，请过一刻钟再问。"),
    (MOORINGS_ZH, "后台没能连上泊位登记系统，我不清楚有几处，请您三点以后再问一次。"),
    (MOORINGS_ZH, "抱歉，没能调取到泊位登记表，这个数我不敢乱说。请您明天再问。"),
    (MOORINGS_ZH, "登记页面打开失败，我没法告诉您有几处，请过五分钟再试一次。"),
    (MOORINGS_ZH, "对不起，泊位资料没能检索到，我不能瞎猜，请您稍后再来问。"),
    (MOORINGS_ZH, "泊位登记表访问失败了，我没办法给您准数，麻烦半个钟头后再问。"),
]
FAILED_DEEDS = [
    ("Your mooring was booked and the berth is reserved until May.", "Your mooring could not be booked."),
    ("The lorry was loaded at six and is on its way.", "The lorry could not be loaded."),
    ("您的泊位已经预订好了。", "您的泊位未能预订。"),
    ("船闸中午已经开启。", "船闸中午未能开启。"),
]


def _lang(text: str) -> str:
    return "en" if text.isascii() else "zh"


@pytest.mark.parametrize(("reference", "candidate"), LOOKED_UP)
def test_a_failed_lookup_is_an_abstention(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, lang=_lang(reference)).label is Label.ABSTAINED


@pytest.mark.parametrize(("reference", "candidate"), FAILED_DEEDS)
def test_a_failed_deed_is_still_one(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, lang=_lang(reference)).label is Label.MISLEADING
