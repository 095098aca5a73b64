"""Which questions may share an answer."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answers.embedding import embed, similarity
from gateway.answers.wording import Lexicon, depends_on_now

LEXICON = Lexicon()
DIFFER_EN = """
Was order A-1234 shipped? | Was order A-1234 delivered?
Is my order refunded? | Is my order refundable?
When was it shipped? | When was it delivered?
Can you refund me? | Can I refund you?
When will my parcel be shipped? | When was my parcel shipped?
Did my package ship? | Will my package ship?
Do I pay before delivery? | Do I pay after delivery?
How long is the train from Paris to Rome? | How long is the train from Rome to Paris?
Which is the cheapest plan? | Which is the dearest plan?
How do I increase my credit limit? | How do I decrease my credit limit?
Which items can I return? | Which items can I not return?
Is the basic plan faster than the family plan? | Is the family plan faster than the basic plan?
Can I cancel my order? | Must I cancel my order?
Can I cancel my order? | Should I cancel my order?
Who called me? | Who did I call?
Who did Anna hire? | Who hired Anna?
What does "charge" mean? | What does "fee" mean?
How do I turn on notifications? | How do I turn off notifications?
How do I log in? | How do I log out?
How do I open an account? | How do I close an account?
Can I buy 2 tickets? | Can I buy 3 tickets?
Where can I buy a phone? | Where can I sell a phone?
Can I borrow a laptop? | Can I lend a laptop?
Am I allowed to bring a dog? | Am I required to bring a dog?
How long is the warranty? | How much is the warranty?
What is the minimum order? | What is the maximum order?
Will you call me? | Will I call you?
How do I import contacts? | How do I export contacts?
How do I upload a file? | How do I download a file?
How do I send money to Anna? | How do I get money from Anna?
Was my card declined? | Why was my card declined?
Have you sent my form? | Have you received my form?
Cancel my order | I cancelled my order
Cancel my order | How do I cancel my order?
Do I have to pay? | Did I pay?
Which is cheaper? | Which is cheapest?
Can more than 5 people come? | Can fewer than 5 people come?
Do I need at least 3 items? | Do I need at most 3 items?
Do you ship inside the EU? | Do you ship outside the EU?
Does it come with batteries? | Does it come without batteries?
Are all items on sale? | Are any items on sale?
When does the sale start? | When does the sale end?
Is my account active yet? | Is my account still active?
What is his address? | What is her address?
Is it possible to change the delivery? | Is it necessary to change the delivery?
How do I convert dollars to euros? | How do I convert euros to dollars?
How do I lock my card? | How do I unlock my card?
Who pays the tax, the employer? | Who pays the tax, the employee?
What did I order? | What can I order?
What am I charged? | What was I charged?
How much have I paid? | How much must I pay?
Is my order delayed? | Will my order be delayed?
Is it repairable? | Is it repaired?
Is my order cancelled? | Is my order cancellable?
Is shipping included? | Is shipping excluded?
When does the next bus leave? | When did the last bus leave?
Does Anna owe me money? | Do I owe Anna money?
Can only members book a room? | Can members book a room?
Have they answered? | Have we answered?
Did you get my mail? | Did I get your mail?
Do I get paid? | Do I pay?
Is it too late to cancel? | Is it late to cancel?
Do you return my deposit? | Did you return my deposit?
Can I return it? | Could I have returned it?
Has my order arrived? | Has my order left?
Was the payment received? | Was the payment sent?
Is my order shipped? | Is my order shipping?
Can I change my booking? | Did I change my booking?
Does the price go up? | Does the price go down?
"""
DIFFER_ZH = """
取消订单A-1 | 订单A-1取消了吗？
订单退款了吗？ | 订单退款吗？
订单发货了吗？ | 订单什么时候发货？
订单发货了吗？ | 订单到货了吗？
订单发货了吗？ | 订单签收了吗？
我能退款给你吗？ | 你能退款给我吗？
从北京到上海要多久？ | 从上海到北京要多久？
上一班车几点？ | 下一班车几点？
三天前能退吗？ | 三天后能退吗？
付款前可以取消吗？ | 付款后可以取消吗？
怎么买股票？ | 怎么卖股票？
我怎么借书？ | 我怎么还书？
从哪个门进？ | 从哪个门出？
最便宜的是哪个？ | 最贵的是哪个？
北京比上海冷吗？ | 上海比北京冷吗？
怎么提高额度？ | 怎么降低额度？
我必须付款吗？ | 我可以付款吗？
我应该付款吗？ | 我可以付款吗？
哪些可以退？ | 哪些不可以退？
你去过北京吗？ | 你去北京吗？
你付款了吗？ | 我付款了吗？
他给她钱了吗？ | 她给他钱了吗？
谁打电话给我？ | 我打电话给谁？
谁请了小王？ | 小王请了谁？
票有多少张？ | 票多少钱？
怎么开通会员？ | 怎么取消会员？
怎么登录？ | 怎么退出登录？
至少要买3件吗？ | 至多要买3件吗？
18岁以上免费吗？ | 18岁以下免费吗？
价格含运费吗？ | 价格不含运费吗？
订单还没发货吗？ | 订单发货了吗？
我要取消订单 | 我不要取消订单
订单正在取消吗？ | 订单取消了吗？
今天开门吗？ | 明天开门吗？
客服几点上班？ | 客服几点下班？
订单是我取消的吗？ | 订单是你取消的吗？
怎么上传文件？ | 怎么下载文件？
发票开了吗？ | 发票能开吗？
老板欠我钱吗？ | 我欠老板钱吗？
为什么退款？ | 怎么退款？
订单会取消吗？ | 订单取消了吗？
你们收到钱了吗？ | 你们付了钱吗？
只有会员能买吗？ | 会员能买吗？
所有商品都打折吗？ | 有商品打折吗？
可以换货吗？ | 可以退货吗？
运费高吗？ | 运费低吗？
怎么加好友？ | 怎么删好友？
需要几天？ | 需要几次？
"""
# Kinds that a lexicon loses: capitals, scripts, signs, quotations, and politeness that is the matter itself.
DIFFER_BY_A_SIGN = """
Do you ship to US? | Do you ship to us?
Do you sell Windows? | Do you sell windows?
Is it open at 9 am? | Is it open at 9?
Is vitamin A in it? | Is vitamin in it?
Are a few seats left? | Are few seats left?
Is a cheaper plan there? | Is the cheaper plan there?
Is Наталья in? | Is Кирилл in?
What is 5²? | What is 52?
What is 5!? | What is 5?
Does it cost 1.5 euros? | Does it cost 15 euros?
Is it -5 degrees there? | Is it 5 degrees there?
How do you say hello in French? | How do you say in French?
Did she say please? | Did she say?
What does "may" mean? | What does "can" mean?
Who sings "Could you please call"? | Who sings "Can you call"?
Cancel my order | Cancel my order?
No, can I pay? | No can I pay?
Is Dr Gray in? | Is Dr Grey in?
Could I see bills before the change? | Can I see bills before the change?
Tell me when it ships | Can you tell me when it ships?
Who's paid? | Who is paid?
Is Masse right? | Is Maße right?
取消订单 | 取消订单？
取消订单 | 取消订单吧
请假怎么办？ | 假怎么办？
你买的书在哪里？ | 你买书在哪里？
《能不能给我一首歌的时间》多少钱？ | 《能给我一首歌的时间》多少钱？
订单怎么取消的？ | 订单如何取消的？
MPa to bar? | mPa to bar?
MW是多少瓦？ | mW是多少瓦？
10MW是多少瓦？ | 10mW是多少瓦？
Translate into German: yes, no, please, thank you | Translate into German: yes, no
Translate into French: hello, thanks | Translate into French: hello
Translate into French: yes, please | Translate into French: yes
Thanks: what does it mean? | What does it mean?
hello kitty opening hours? | kitty opening hours?
什么是花呢？ | 什么是花？
Say "a\x1fb" | Say "a" b
"""
AGREE_EN = """
Where is my order? | where is my order
WHERE IS MY ORDER? | Where is my order?
Where's my order? | Where is my order?
Where’s my order? | Where's my order
What's the refund policy? | What is the refund policy?
I can't log in | I cannot log in
I can not log in | I can't log in!
You're closed on Monday, aren't you? | You are closed on Monday, are not you?
Please, how do I cancel my order? | How do I cancel my order?
How do I cancel my order, please? | How do I cancel my order?
Hello, when do you open? | When do you open?
Hi there! When do you open? | When do you open?
hey, when do you open | When do you open?
When do you open? Thanks | When do you open?
Thanks. When do you open? | When do you open? Thank you very much!
Can you please cancel it? | Can you cancel it, please?
Could you please cancel it? | Can you cancel it?
Could you tell me why it was cancelled? | Can you please tell me why it was canceled?
Please tell me what's in the sauce | What's in the sauce?
I'd like to cancel my order | I want to cancel my order please
Can I get a refund? | Can I get my money back?
Is there a phone number? | Is there a telephone number?
Can I have it by e-mail? | Can I have it by email?
Has order A-1234 been shipped? | Has order a-1234 been shipped
Is it OK to open it? | Is it okay to open it?
What are your open hours? | What are your opening hours?
What   are your   opening hours? | What are your opening hours?
"""
AGREE_ZH = """
订单发货了吗？ | 订单发货了吗
订单发货了吗？ | 请问订单发货了吗？
订单发货了吗？ | 您好，请问订单发货了吗？谢谢！
订单发货了吗? | 订单发货了没有？
订单到了没？ | 订单到了吗？
可不可以退款？ | 可以退款吗？
能不能退钱？ | 能退款吗
您的电话是多少？ | 你的电话是多少
请取消订单 | 取消订单
麻烦您取消订单A-1，谢谢 | 取消订单a-1
我的订单在哪里？ | 我的订单在哪儿？
退款几天到账？ | 退款几天到账呢？
怎么取消订单啊？ | 怎么取消订单？
我想知道运费多少 | 运费多少？
"""


def pairs(*tables: str) -> list[tuple[str, str]]:
    """Two questions a line."""
    return [tuple(line.split(" | ")) for table in tables for line in table.strip().splitlines()]


@pytest.mark.parametrize(("first", "second"), pairs(AGREE_EN, AGREE_ZH))
def test_politeness_and_synonyms_do_not_matter(first, second):
    assert LEXICON.wording(first).key() == LEXICON.wording(second).key()


@pytest.mark.parametrize(("first", "second"), pairs(DIFFER_EN, DIFFER_ZH, DIFFER_BY_A_SIGN))
def test_another_event_tense_person_direction_or_sign_separates(first, second):
    assert LEXICON.wording(first).key() != LEXICON.wording(second).key()


def test_the_page_tells_how_many_pairs_these_are():
    apart, together = pairs(DIFFER_EN, DIFFER_ZH, DIFFER_BY_A_SIGN), pairs(AGREE_EN, AGREE_ZH)
    page = (Path(__file__).parents[3] / "docs" / "design" / "gatekeepers.md").read_text("utf-8")
    said = f"holds {len(apart)} pairs apart that need other answers and {len(together)} together"
    assert said in " ".join(page.split())


@pytest.mark.parametrize(
    "text", ["", "?", "please", "Thanks!", "请", "请问", "你好！", "可不可以", "啊", "''", "《》", "\x1f"]
)
def test_a_question_of_nothing_but_politeness_has_a_key(text):
    assert isinstance(LEXICON.wording(text).key(), str)


@given(
    st.text(max_size=60), st.characters(categories=["L", "N", "S"], exclude_characters="`")
)  # ` opens what is quoted
def test_a_letter_number_or_symbol_in_the_middle_is_never_lost(text, sign):
    told = f"what {sign} {text}"
    assert len(LEXICON.wording(told).key()) >= len(LEXICON.wording(f"what {text}").key())
    assert LEXICON.wording(f"what {sign} is it").key() != LEXICON.wording("what is it").key()


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


LONG: dict[str, Callable[[int], str]] = {
    "dots and thanks": lambda n: "." * n + "x" + ",thanks" * (n // 8),
    "dots in the middle": lambda n: "." * n + "x",
    "blanks in the middle": lambda n: "x" + " " * n + "x",
    "commas and blanks": lambda n: "x" + " ," * (n // 2) + "x",
    "lines": lambda n: "x" + "\n" * n + "x",
    "tildes and lines": lambda n: "x" + "~\n" * (n // 2) + "x",
    "please": lambda n: "x please" * (n // 8),
    "greetings": lambda n: "hi, " * (n // 4) + "x",
    "asking": lambda n: "几" * n,
    "asking softly": lambda n: "几呢" * (n // 2) + "x",
    "may or not": lambda n: "能不能" * (n // 3) + ",x",
    "quotations that nothing closes": lambda n: "“" * n,
    "quotations closed once": lambda n: "”" + "«" * n + "’",
    "apostrophes": lambda n: " '" * (n // 2) + "a",
    "a word of parts": lambda n: "a-" * (n // 2) + "%",
}


@pytest.mark.parametrize("of_length", LONG.values(), ids=LONG)
def test_four_times_the_question_takes_about_four_times_the_time(of_length):
    assert taken_s(of_length(16_000)) < 10 * taken_s(of_length(4_000)) + 1e-3  # 16 times, were it quadratic


def taken_s(text: str) -> float:
    """The least of a few tries, of the process's own time."""
    tries = []
    for _ in range(3):
        began_s = process_time()
        LEXICON.wording(text)
        tries.append(process_time() - began_s)
    return min(tries)


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
