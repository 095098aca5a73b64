"""A list that is too long to keep whole keeps what is denied about it, wherever it is cut."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torn import listed, marked, torn

from gateway.errors import ContextTooLong
from gateway.prompt import CharCounter, fit
from gateway.prompt.passage import OMISSION
from gateway.prompt.segments import segments

COUNT = CharCounter()
SYSTEM = "Use only the text."
EN_DENIALS = (
    "Refunds {} must never be paid to ",
    "Do not disclose {} to anybody: ",
    "It is forbidden {} to open ",
    "Nobody {} may see ",
    "We refuse {} to ship ",
    "Everyone may enter {} except ",
)
ZH_DENIALS = ("严禁{}向任何人透露", "请勿{}打开", "不得{}删除", "除了{}", "谢绝{}参观", "本店概{}不退换")
EN_MEMBERS = ("the file {} of the customer, ", "the clerk {} of the regional department in the north; ", "number {}, ")
ZH_MEMBERS = ("客户的第{}号文件、", "北方分公司的职员{}，", "编号{}；")
QUESTIONS = ("Which of them may I have?", "我可以要哪一个？请用一句话回答。")


def _chat(context: str, question: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{context}\n\n{question}"}]


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    language=st.sampled_from([(EN_DENIALS, EN_MEMBERS, "and the driver {}. "), (ZH_DENIALS, ZH_MEMBERS, "和录音{}。")]),
    data=st.data(),
    number=st.integers(5, 120),
    question=st.sampled_from(QUESTIONS),
    share=st.floats(0.05, 0.95),
)
def test_no_member_is_left_without_what_is_denied(
    language: tuple[Sequence[str], Sequence[str], str], data: st.DataObject, number: int, question: str, share: float
) -> None:
    denials, members, last = language
    thing = listed("list", data.draw(st.sampled_from(denials)), [data.draw(st.sampled_from(members))] * number + [last])
    text, atoms = marked([thing])
    messages = _chat(f"The house is old. {text}It is so.", question)
    least = COUNT.count_messages(_chat("", question)) + 40
    limit = least + int(share * max(0, COUNT.count_messages(messages) - least))
    cut = fit(messages, limit_tokens=limit, count=COUNT)
    content = cut.messages[-1]["content"]
    assert torn(content, atoms) == []
    assert cut.prompt_tokens == COUNT.count_messages(cut.messages) <= limit
    assert cut.messages[0] == messages[0]
    assert content.endswith(question)


@pytest.mark.parametrize(
    ("rule", "member", "mark", "asked", "limit"),
    [
        ("Refunds must never be paid to ", "{} of the regional sales department", ", ", "May Mary get a refund?", 420),
        ("严禁向任何人透露", "客户的第{}号私人文件", "、", "我可以透露客户的第Mary号私人文件吗？", 800),
    ],
)
def test_the_member_that_is_asked_about_stays_with_the_negation(
    rule: str, member: str, mark: str, asked: str, limit: int
) -> None:
    names = [f"N{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60)]
    text = rule + mark.join(member.format(name) for name in [*names, "Mary", "Ann"]) + "."
    filler = " ".join(f"The garden has a bench, part {chr(97 + n % 26)}." for n in range(60))
    cut = fit(_chat(f"{filler}\n\n{text}\n\n{filler}", asked), limit_tokens=limit, count=COUNT)
    content = cut.messages[-1]["content"]
    assert rule in content
    assert member.format("Mary") in content.removesuffix(asked)


@pytest.mark.parametrize(
    ("lead", "lines"),
    [
        ("The following must not be shared:\n", ["file {} of the customer\n"] * 30),
        ("不得分享：\n\n", ["客户的{}号文件\n"] * 30),
        ("Do not share these files.\n", ["- file {} of the customer\n"] * 30),
        ("请勿分享这些文件。\n\n", ["- 客户的{}号文件\n"] * 30),
        ("These accounts are never charged.\n", ["| account {} | of the customer |\n"] * 30),
    ],
)
def test_the_lines_under_a_denial_are_not_kept_without_it(lead: str, lines: Sequence[str]) -> None:
    rows = [line.replace("{}", f"z{n}q") for n, line in enumerate(lines)]
    filler = " ".join(f"The lamp of room {n} is kept by the porter." for n in range(60))
    text = f"{filler}\n\n{lead}{''.join(rows)}\n{filler}"
    for number in (7, 17, 29):
        messages = _chat(text, f"May I have z{number}q? 可以吗？")
        for limit in range(100, 500, 25):
            content = fit(messages, limit_tokens=limit, count=COUNT).messages[-1]["content"]
            kept = [row for row in rows if row.strip() in content]
            assert not kept or lead.strip() in content, limit


def test_text_without_any_mark_is_not_one_long_list() -> None:
    spoken = (
        "so he said it is not the way that we went there last year when it rained on us and all of it was wet " * 40
    )
    parts = segments(spoken)
    assert len(parts) > 10
    assert all(not one.heads or max(one.heads) >= index - 1 for index, one in enumerate(parts))
    assert sum(not one.heads for one in parts) > len(parts) // 2


def test_a_last_sentence_that_is_very_long_is_kept_as_far_as_it_fits() -> None:
    asked = "Tell me whether " + ", ".join(f"the clerk {n} of the sales department" for n in range(60)) + " came."
    content = fit([{"role": "user", "content": asked}], limit_tokens=400, count=COUNT).messages[-1]["content"]
    assert content.startswith("Tell me whether the clerk 0")
    assert content.endswith("the clerk 59 of the sales department came.")
    assert len(content) > 600


def test_a_denial_that_does_not_fit_with_the_last_member_is_refused_and_not_left_out() -> None:
    text = "".join(f"never pay the clerk {n} of the regional sales department, " for n in range(60)) + "or Ann."
    with pytest.raises(ContextTooLong, match="the bound is 60"):
        fit([{"role": "user", "content": text}], limit_tokens=60, count=COUNT)


def test_no_piece_is_a_mere_full_stop() -> None:
    text = "Never disclose " + ", ".join(f"the private file number {n} of the customer" for n in range(40)) + "."
    assert all(re.search(r"\w", text[one.start : one.end]) for one in segments(text))
    assert OMISSION not in text
