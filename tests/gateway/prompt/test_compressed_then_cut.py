"""Compression and cutting in the order in which a prompt goes through them: what must stay stays through both."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torn import BLOCKS, SENTENCES, Marked, Thing, marked, torn

from gateway.errors import ContextTooLong
from gateway.prompt import CharCounter, compress, fit
from gateway.prompt.compress import tightened
from gateway.prompt.repeats import merged

COUNT = CharCounter()
SYSTEM = "Be brief.   \n\n\n\nDo not mention prices. Do not mention prices. [ 1,\n 2 ]\n" + "".join(
    f"Input: the {n} waiter brought soup{n}\nOutput: good\n\n" for n in range(5)
)
LAST = (
    "Do not mention prices.",
    "Answer as JSON.",
    "Answer in English.",
    "Use at most 50 words.",
    "不要提到价格。",
    "请用中文回答。",
    "最多50字。",
)
ASKED = ("What is kept?", "Summarise it.", "保留了什么？", "")
THINGS = st.lists(
    st.one_of(st.sampled_from(SENTENCES), st.sampled_from(BLOCKS), st.sampled_from(LAST)), min_size=2, max_size=16
)
VERBS = ("Include", "Do not mention", "Never use", "List")
OBJECTS = ("the price of every item in the list for all of the customers", "all staff", "every name")
NARROWED = (
    ("every item", "every opened item"),
    ("all staff", "all senior staff"),
    ("every name", "every first name"),
    ("every name", "every name in capitals"),
)
ENGLISH = sorted(
    {f"{verb} {text}. " for verb, text in product(VERBS, OBJECTS)}
    | {f"{verb} {text.replace(*pair)}. " for verb, text, pair in product(VERBS, OBJECTS, NARROWED)}
)
CHINESE = [
    f"{verb}{which}{thing}。"
    for verb, which, thing in product(
        ("列出", "不要提到", "必须使用", "禁止删除"),
        ("所有", "所有老", "大部分", ""),
        ("客户", "客户的价格", "公司员工"),
    )
]


def chat(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]


def made_to_fit(messages: Sequence[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    compressed = compress(messages, limit_tokens=limit, count=COUNT)
    return [dict(message) for message in fit(compressed.messages, limit_tokens=limit, count=COUNT).messages]


@pytest.mark.parametrize("said", LAST)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.999])
def test_an_order_that_was_given_before_is_still_the_last_one(said: str, share: float) -> None:
    filler = " ".join(f"The lamp of room {n} is kept by the porter." for n in range(60))
    messages = chat(f"{said} {filler} What is kept? {said}")
    room = COUNT.count_messages(messages) - COUNT.count_messages(chat(""))
    limit = COUNT.count_messages(chat("")) + int(share * room)
    content = made_to_fit(messages, limit)[-1]["content"]
    assert content.endswith(f"What is kept? {said}")
    if share > 0.9:
        assert content.count(said) == 1  # the earlier one went


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(parts=THINGS, asked=st.sampled_from(ASKED), said=st.sampled_from(LAST), share=st.floats(0.05, 0.99))
def test_system_prompt_final_instruction_and_things_are_whole_after_both(
    parts: Sequence[Thing | str], asked: str, said: str, share: float
) -> None:
    text, atoms = together(parts)
    messages = chat(f"{text}\n\n{asked} {said}" if asked else f"{text}\n\n{said}")
    least = COUNT.count_messages(chat(f"{asked} {said}")) + 40
    limit = least + int(share * max(0, COUNT.count_messages(messages) - least))
    try:
        fitted = made_to_fit(messages, limit)
    except ContextTooLong:
        return
    content = fitted[-1]["content"]
    assert COUNT.count_messages(fitted) <= limit
    assert fitted[0] == messages[0]
    assert content.endswith(f"{asked} {said}".strip())
    assert torn(content, [compact(atom, content) for atom in atoms]) == []


def together(parts: Sequence[Thing | str]) -> tuple[str, list[Marked]]:
    """Things and orders as they come, each order on a line of its own."""
    things = [part if isinstance(part, Thing) else Thing("order", (part + "\n",)) for part in parts]
    text, atoms = marked(things)
    return text, [atom for atom in atoms if atom.marks]


def compact(atom: Marked, content: str) -> Marked:
    """As it may stand there: JSON on one line."""
    return atom if atom.text in content else atom._replace(text=tightened(atom.text).strip())


@pytest.mark.slow
@pytest.mark.parametrize("sentences", [ENGLISH, CHINESE], ids=["en", "zh"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_no_verb_object_negation_or_adverbial_is_lost(sentences: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sentences), min_size=2, max_size=12))
    text = "".join(chosen)
    compressed = compress(chat(text + "\n\nThank you."), limit_tokens=1, count=COUNT)
    for content in (merged(text), compressed.messages[-1]["content"]):
        assert {one for one in chosen if one.strip() not in content} == set()
    assert compressed.messages[0] == chat("")[0]


@pytest.mark.parametrize("role", ["system", "developer", "assistant"])
def test_only_what_the_user_says_is_rewritten(role: str) -> None:
    messages = [{"role": role, "content": SYSTEM}, {"role": "user", "content": "Why?"}]
    assert compress(messages, limit_tokens=1, count=COUNT).messages == messages


def test_the_final_instruction_keeps_its_layout() -> None:
    asked = 'Answer like this:   \n\n\n\n{\n  "a": [ 1, 2 ]\n}'
    content = compress(chat(f"It is old.   \n\n\n\nIt is [ 1, 2 ].\n\nBe brief.\n{asked}"), limit_tokens=1, count=COUNT)
    assert content.messages[-1]["content"].endswith('{\n  "a": [ 1, 2 ]\n}')
    assert "It is [1,2]." in content.messages[-1]["content"]


def test_the_first_copy_stays_where_the_later_one_may_be_cut() -> None:
    filler = " ".join(f"The lamp of room {n} is kept by the porter." for n in range(60))
    text = f"Do not mention prices. {filler} Do not mention prices. {filler}\n\nWhat is kept?"
    assert "Do not mention prices." in made_to_fit(chat(text), 500)[-1]["content"]


@pytest.mark.parametrize("ending", ["Thank you!", "Regards, Anna", "谢谢。"])
def test_what_was_asked_before_the_thanks_is_kept(ending: str) -> None:
    filler = " ".join(f"The lamp of room {n} is kept by the porter." for n in range(60))
    text = f"Read the text. {filler} List three causes. Answer as JSON. It was bright.{' It was so.' * 60}\n\n{ending}"
    content = made_to_fit(chat(text), 300)[-1]["content"]
    assert "List three causes. Answer as JSON." in content
    assert content.endswith(ending)


def test_a_prompt_whose_request_is_longer_than_the_limit_is_cut_all_the_same() -> None:
    asked = "Summarise what " + "the porter of the house " * 145 + "wrote."
    filler = " ".join(f"The lamp of room {n} is kept by the porter." for n in range(60))
    messages = [{"role": "user", "content": f"{asked} {filler}\n\nThank you!"}]
    limit = COUNT.count_messages(messages) // 4
    content = made_to_fit(messages, limit)[-1]["content"]
    assert content.endswith("Thank you!")


def test_a_long_system_prompt_does_not_shorten_the_final_instruction_to_one_sentence() -> None:
    filler = " ".join(f"The prices of room {n} rose." for n in range(60))
    rules = ["Name two towns.", "Avoid long lists.", "Answer as JSON.", "Keep all names.", "Do not mention prices."] * 2
    system = {"role": "system", "content": "It is so. " * 80}
    limit = COUNT.count_messages([system, {"role": "user", "content": " ".join(rules[-6:])}]) + 12
    fitted = fit([system, {"role": "user", "content": f"{filler} {' '.join(rules)}"}], limit_tokens=limit, count=COUNT)
    assert fitted.messages[-1]["content"].endswith(" ".join(rules[-4:]))
