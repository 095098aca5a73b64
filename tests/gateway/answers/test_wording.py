"""Which questions may share an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answers.embedding import embed, similarity
from gateway.answers.wording import Lexicon, depends_on_now

LEXICON = Lexicon()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Can I get a refund for opened software?", "Could we get a refund for opened software, please"),
        ("Is it possible to cancel order A-1234?", "Hi, can I call off order a-1234"),
        ("请问可以退款吗？", "能退钱吗"),
    ],
)
def test_politeness_and_synonyms_do_not_matter(first, second):
    assert LEXICON.wording(first).key() == LEXICON.wording(second).key()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Can opened software be refunded?", "Can unopened software be refunded?"),
        ("Is the weather fine in Paris?", "Is the weather fine in Rome?"),
        ("What was order A-1234 charged?", "What was order A-1243 charged?"),
        ("Can I get 20 USD back?", "Can I get 25 USD back?"),
        ("Can I get 20 USD back?", "Can I get 20 EUR back?"),
        ("Can I return it?", "Can I not return it?"),
        ("Must everyone except the team attend?", "Must everyone including the team attend?"),
        ("Does Anna pay Bert?", "Does Bert pay Anna?"),
        ("A flight from Paris to Rome", "A flight from Rome to Paris"),
        ("Is it due on 4 June?", "Is it due on 4 July?"),
        ("Is delivery refunded after you cancel?", "Do you cancel after delivery is refunded?"),
        ("When do you open?", "Where do you open?"),
        ("I pay or you pay?", "You pay or he pays?"),
        ("北京今天下雨吗？", "上海今天下雨吗？"),
        ("可以退款吗？", "不可以退款吗？"),
        ("满二十元包邮吗？", "满三十元包邮吗？"),
        ("Can I pay by card?", "Do I pay by card?"),
    ],
)
def test_a_place_number_name_date_or_negation_that_differs_separates(first, second):
    assert LEXICON.wording(first).key() != LEXICON.wording(second).key()


def test_a_policys_own_synonyms_join():
    own = Lexicon((("card", "credit card"),))
    assert own.wording("Pay by card?").key() == own.wording("Pay by credit card?").key()
    assert LEXICON.wording("Pay by card?").key() != LEXICON.wording("Pay by credit card?").key()


@pytest.mark.parametrize(("text", "yes"), [("Is it open today?", True), ("现在营业吗", True), ("Is it open?", False)])
def test_a_question_about_now_is_known_as_one(text, yes):
    assert depends_on_now(text) is yes


@given(st.text(max_size=200), st.text(max_size=200))
def test_similarity_is_a_cosine_and_the_same_text_has_1(first, second):
    one, two = embed(first), embed(second)
    assert -1 <= similarity(one, two) <= 1
    assert not one or similarity(one, one) == pytest.approx(1)


def test_the_vectors_are_the_same_in_every_process():
    assert sorted(embed("refund 退款"))[:4] == [1524, 2055, 3391, 4609]
