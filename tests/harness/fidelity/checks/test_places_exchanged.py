"""Names, titles and noun phrases that stand in each other's place in a near copy; and items that only stand in another order."""

# ruff: noqa: E501 (whole sentences)

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Label

EXCHANGED = [
    (
        "Marit, the ward sister, checks the pump, and Deniz, the night porter, fetches the blood.",
        "Deniz, the night porter, checks the pump, and Marit, the ward sister, fetches the blood.",
    ),
    (
        "Our bookkeeper, Mrs Obi, signs the cheques, while our chair, Mr Lunt, opens the post.",
        "Our chair, Mr Lunt, signs the cheques, while our bookkeeper, Mrs Obi, opens the post.",
    ),
    (
        "The first violin turns the pages and the second bassoon counts the bars.",
        "The second bassoon turns the pages and the first violin counts the bars.",
    ),
    (
        "Green tags go to the sorting hall; yellow tags stay in the van.",
        "Yellow tags go to the sorting hall; green tags stay in the van.",
    ),
    ("Tuesday: pottery. Thursday: fencing.", "Thursday: pottery. Tuesday: fencing."),
    ("Pottery is on Tuesday, fencing on Thursday.", "Pottery is on Thursday, fencing on Tuesday."),
    (
        "The keys lie with Amara, and the alarm code lies with Piet.",
        "The keys lie with Piet, and the alarm code lies with Amara.",
    ),
    ("罗姐（仓管员）清点货物，老顾（司机）签收单据。", "老顾（司机）清点货物，罗姐（仓管员）签收单据。"),
    ("值班护士核对血袋，住院医师记录血压。", "住院医师核对血袋，值班护士记录血压。"),
    ("东门供行人进出，西门供货车进出。", "西门供行人进出，东门供货车进出。"),
    ("周二：陶艺；周四：击剑。", "周四：陶艺；周二：击剑。"),
]
IN_ANOTHER_ORDER = [
    (
        "Nils brings plates, Tove brings cups, Ola brings spoons.",
        "Ola brings spoons, Tove brings cups, Nils brings plates.",
    ),
    (
        "On deck stood Marit, the cook, Deniz, the mate, and Ola, the pilot.",
        "On deck stood Ola, the pilot, Deniz, the mate, and Marit, the cook.",
    ),
    (
        "Tuesday: pottery. Wednesday: chess. Thursday: fencing.",
        "Thursday: fencing. Wednesday: chess. Tuesday: pottery.",
    ),
    ("We rent out skis, sledges and skates.", "We rent out skates, sledges and skis."),
    ("Skis, sledges and skates are rented out here.", "Skates, sledges and skis are rented out here."),
    ("The museum is open in summer and closed in winter.", "The museum is closed in winter and open in summer."),
    ("小罗带盘子，小顾带杯子，小段带勺子。", "小段带勺子，小顾带杯子，小罗带盘子。"),
    ("这里出租雪板、雪橇和冰鞋。", "这里出租冰鞋、雪橇和雪板。"),
]


def _lang(text: str) -> str:
    return "en" if text.isascii() else "zh"


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in EXCHANGED for pair in (one, one[::-1])])
def test_what_stands_in_each_others_place_is_found(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, lang=_lang(reference)).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in IN_ANOTHER_ORDER for pair in (one, one[::-1])])
def test_items_in_another_order_are_no_exchange(reference: str, candidate: str) -> None:
    assert not [r for r in complaints(reference, candidate, "roles", lang=_lang(reference)) if "each other" in r]
    assert judged(reference, candidate, lang=_lang(reference)).label is Label.FAITHFUL
