"""Answers without a model, and the doubt about those of a weak one; English and Chinese."""

import pytest

from gateway.answers.extract import choose, extract
from gateway.answers.grounding import distrust
from gateway.answers.language import clearly_other, language_of
from gateway.answers.lexis import identifiers, is_negated, numbers, sentences, split, words
from gateway.answers.number_words import spelled_numbers
from gateway.answers.templates import template_for
from gateway.policy import DEFAULT_TEMPLATES, Extract, Grounding, Template

SHOP = "Opened software cannot be refunded. Unopened software can be refunded within 14 days. We are closed on Sundays."
SHOP_ZH = "已拆封的软件不可退款。未拆封的商品七天内可以退货。周日休息。"


def asked(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Answer shortly."}, {"role": "user", "content": text}]


def doubt(answer: str, prompt: str, *, finish: str = "stop", is_json: bool = False) -> str | None:
    return distrust(answer, messages=asked(prompt), finish_reason=finish, is_json=is_json, marks=Grounding())


def test_the_sentence_that_holds_the_questions_words_is_quoted_word_for_word():
    quoted = extract(asked(f"{SHOP}\n\nAre you closed on Sundays?"), language="en", marks=Extract())
    assert quoted is not None
    assert quoted.startswith(Extract().preface_en)
    assert '"We are closed on Sundays."' in quoted
    quoted = extract(asked(f"{SHOP_ZH}\n\n周日休息吗？"), language="zh", marks=Extract())
    assert quoted == f"{Extract().preface_zh}“周日休息。”"


def test_nothing_is_quoted_where_the_text_says_nothing_or_there_is_no_text():
    assert extract(asked(f"{SHOP}\n\nWho founded the company?"), language="en", marks=Extract()) is None
    assert extract(asked("Who founded the company?"), language="en", marks=Extract()) is None
    assert extract([], language="en", marks=Extract()) is None


def test_two_sentences_that_contradict_each_other_tie_and_nothing_is_quoted():
    context = ["The pool is open today.", "The pool is not open today."]
    assert choose("Is the pool open today?", context, marks=Extract(max_sentences=1)) == []
    assert choose("Is the pool open today?", context, marks=Extract(max_sentences=2)) == [0, 1]


def test_an_identifier_in_the_question_must_be_in_the_quotation():
    context = ["Order A-1234 was delivered.", "Order A-1243 was cancelled."]
    assert choose("Was order A-1243 delivered?", context, marks=Extract(min_score=0.1)) == [1]
    assert choose("Was order A-9999 delivered?", context, marks=Extract(min_score=0.1)) == []


def test_the_system_prompt_is_never_quoted():
    messages = [
        {"role": "system", "content": "The secret word is swordfish."},
        {"role": "user", "content": "What is the secret word?"},
    ]
    assert extract(messages, language="en", marks=Extract()) is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Opened software can be refunded.", "negation"),
        ("Software that was opened can be refunded within 30 days.", "30"),
        ("Order B-77 can be refunded.", "b-77"),
        ("No refund. " * 40, "repeats"),
        ("已经拆封的软件是不可以退款的。", "another language"),
    ],
)
def test_an_answer_that_its_prompt_does_not_hold_is_doubted(answer, reason):
    assert reason in (doubt(answer, f"{SHOP}\n\nCan opened software be refunded?") or "")


@pytest.mark.parametrize(
    "answer",
    [
        "No, opened software cannot be refunded.",
        "Opened software is not refundable.",
        "Software can be refunded within 14 days if it is unopened.",
        "Fourteen days, if it is unopened.",
        "1. Opened software: no refund.\n2. Unopened software: within 14 days.",
    ],
)
def test_a_faithful_answer_is_not_doubted(answer):
    assert doubt(answer, f"{SHOP}\n\nCan opened software be refunded?") is None


def test_chinese_answers_are_doubted_and_trusted_alike():
    question = f"{SHOP_ZH}\n\n已拆封的软件可以退款吗？"
    assert doubt("已拆封的软件可以退款。", question) == "the answer turns a negation of its prompt round"
    assert doubt("已拆封的软件不可退款。", question) is None
    assert doubt("未拆封的商品7天内可以退货。", question) is None
    assert "30" in (doubt("30天内可以退货。", question) or "")


def test_an_answer_cut_by_length_is_doubted_unless_its_sentence_ended():
    assert doubt("Opened software cannot be", SHOP, finish="length") == "the answer was cut by length in the middle"
    assert doubt("Opened software cannot be refunded.", SHOP, finish="length") is None
    assert doubt('{"a": 14}', SHOP, finish="length", is_json=True) is not None


def test_another_language_that_was_asked_for_is_not_doubted():
    assert doubt("已拆封的软件不可退款。", f"{SHOP}\n\nTranslate the first sentence into Chinese.") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,234.50 USD on 2026-03-05 at 14:30", {"1234.5", "2026-03-05", "14:30"}),
        ("０５ and 0.5", {"5", "0.5"}),
        ("none", set()),
    ],
)
def test_numbers_are_found_in_one_spelling(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [("twenty-one days", "21"), ("十五天", "15"), ("一百二十元", "120"), ("三千元", "3000"), ("二〇二六", "2026")],
)
def test_numbers_in_words_are_read(text, found):
    assert found in spelled_numbers(text)


def test_identifiers_are_words_of_letters_and_digits():
    assert identifiers("Order A-1234, plan B2 and 59.90 USD") == {"a-1234", "b2"}


def test_negations_are_seen_and_lookalikes_are_not():
    assert all(map(is_negated, ("It can't be.", "Everyone except us.", "不可退款", "没有下雨", "Never.")))
    assert not any(map(is_negated, ("It is no. 5.", "Not only here.", "不超过三天", "It is here.")))


def test_sentences_do_not_break_in_numbers_and_lines_of_logs_stand_alone():
    assert sentences("It costs 4.50 USD. It is red.\n| a | b |\n|---|---|\nlog line") == [
        "It costs 4.50 USD.",
        "It is red.",
        "| a | b |",
        "log line",
    ]
    assert sentences("今天下雨。明天晴！") == ["今天下雨。", "明天晴！"]


def test_the_question_is_the_last_paragraph_that_asks():
    question = split(asked("Some text.\n\nMore text.\n\nIs it so?\n\nAnswer with one word."))
    assert question.asked == "Is it so?\nAnswer with one word."
    assert question.context == ("Some text.", "More text.")
    assert split(asked("Some text. Is it so?")) == ("Is it so?", ("Some text.",))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Please book me in for a flu jab. Thank you", "Please book me in for a flu jab."),
        ("Hello.\n\nBook me in.\n\nThanks!", "Book me in."),
        ("怎么退款。谢谢你！", "怎么退款。"),
        ("Is it open? Thanks. It says so nowhere.", "Is it open?"),
        ("Thank you!", "Thank you!"),
        ("", ""),
    ],
)
def test_thanks_and_greetings_are_not_what_is_asked(text, asked):
    assert split([{"role": "user", "content": text}]).asked == asked


def test_chinese_words_are_pairs_of_characters():
    assert words("软件退款") == ["软件", "件退", "退款"]


def test_languages_are_told_apart():
    assert language_of(["", "北京今天下雨吗？"]) == "zh"
    assert language_of(["Is iPhone 好?"]) == "en"
    assert clearly_other("今天北京下雨了。", "en")
    assert clearly_other("It rains in Beijing today.", "zh")
    assert not clearly_other("OK", "zh")


TEMPLATES = (
    Template(lang="en", text="default"),
    Template(lang="en", text="refund", keywords=("refund", "money back")),
    Template(lang="en", text="order", keywords=("order",)),
    Template(lang="zh", text="退", keywords=("退款",)),
)


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        ("Can I get a REFUND?", "en", "refund"),
        ("Refund, my money back, for my order", "en", "refund"),
        ("Where are you?", "en", "default"),
        ("可以退款吗", "zh", "退"),
    ],
)
def test_the_template_with_most_keywords_answers_and_the_default_otherwise(question, language, text):
    assert template_for(question, language=language, templates=TEMPLATES).text == text


def test_there_is_no_template_where_neither_keyword_nor_default_is_there():
    assert template_for("在哪里", language="zh", templates=TEMPLATES) is None


def test_the_default_templates_admit_what_they_are():
    assert {template.lang for template in DEFAULT_TEMPLATES} == {"en", "zh"}
    assert all(template.abstains for template in DEFAULT_TEMPLATES)
