"""L0: which rule answers, and which files are refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import toml
from gateway.answers.rules import Asked, RuleFile, load_rules, rule_book
from gateway.answers.word_pattern import folded_tokens, matches
from gateway.errors import ConfigError

EXAMPLE = Path(__file__).parents[3] / "examples" / "rules.toml"
HOURS = '[[rules]]\nname = "hours"\nany_of = ["opening hours"]\nanswer_en = "Nine to five."\n'


def book(text: str):
    return rule_book(toml.parse(text, RuleFile, source="r.toml"), text=text, source="r.toml")


def said(text: str, question: str, language: str = "en", **metadata) -> str | None:
    ruled = book(text).answer(Asked(text=question, language=language, metadata=metadata))
    return ruled.text if ruled else None


def test_a_phrase_matches_whole_words_whatever_their_case_and_width():
    assert said(HOURS, "What are your OPENING  hours?") == "Nine to five."
    assert said(HOURS, "What are your reopening hours?") is None
    assert said(HOURS, "营业时间", "zh") is None


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("send * back", "can i send it back", True),
        ("send * back", "can i send the blue one back", True),
        ("send * back", "send one two three four back", False),
        ("send * back", "send back", False),
        ("退款", "我要退款", True),
        ("退款", "退一笔款", False),
        ("*", "anything", False),
    ],
)
def test_a_star_stands_for_one_to_three_words(phrase, text, found):
    assert matches(phrase, folded_tokens(text)) is found


@pytest.mark.parametrize(
    ("condition", "yes", "no"),
    [
        ('all_of = ["refund", "shoes"]', "refund for shoes", "refund"),
        ('none_of = ["shoes"]', "refund", "refund for shoes"),
        ("negated = false", "refund me", "do not refund me"),
        ("max_chars = 10", "refund", "refund me at once"),
        ("min_chars = 10", "refund me at once", "refund"),
        ('lang = "en"', "refund", None),
        ('pattern = "refund * shoes"', "refund my red shoes", "shoes refund"),
    ],
)
def test_all_conditions_of_a_rule_have_to_hold(condition, yes, no):
    text = f'[[rules]]\nname = "r"\nany_of = ["refund"]\n{condition}\nanswer_en = "A."\n'
    assert said(text, yes) == "A."
    if no is not None:
        assert said(text, no) is None


def test_metadata_conditions_and_placeholders_need_their_values():
    text = (
        '[[rules]]\nname = "r"\nany_of = ["where"]\nanswer_en = "In {user.location.city}."\n'
        'metadata = { "user.plan" = "free" }\n'
    )
    user = {"plan": "free", "location": {"city": "Bern"}}
    assert said(text, "where", user=user) == "In Bern."
    assert said(text, "where", **{"user.plan": "free", "user.location.city": "Bern"}) == "In Bern."
    assert said(text, "where", user={**user, "plan": "pro"}) is None
    assert said(text, "where", user={"plan": "free"}) is None
    assert said(text, "where", user={"plan": "free", "location": {"city": {"x": 1}}}) is None


def test_a_rule_may_rest_on_others():
    text = (
        '[[rules]]\nname = "angry"\nany_of = ["terrible"]\n'
        '[[rules]]\nname = "calm.refund"\nany_of = ["refund"]\nunless = ["angry"]\nanswer_en = "Calm."\n'
        '[[rules]]\nname = "angry.refund"\nany_of = ["refund"]\nwhen = ["angry"]\nanswer_en = "Sorry."\n'
    )
    assert said(text, "refund please") == "Calm."
    assert said(text, "terrible, refund me") == "Sorry."
    assert said(text, "terrible") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[[rules]]\nname = "a"\nwhen = ["b"]\n[[rules]]\nname = "b"\nunless = ["c"]\n'
            '[[rules]]\nname = "c"\nwhen = ["a"]\n',
            "r.toml:3: rules refer to each other in a loop: a -> b -> c -> a",
        ),
        ('[[rules]]\nname = "a"\nwhen = ["a"]\n', "r.toml:3: rules refer to each other in a loop: a -> a"),
        ('[[rules]]\nname = "a"\nwhen = ["x"]\n', "r.toml:3: when of rule 'a': no rule is named 'x'"),
        (HOURS + HOURS, "r.toml:6: rule 'hours' is there twice"),
        ('[[rules]]\nname = "a"\nanswer_en = "x"\n', "r.toml:2: rule 'a' has no condition"),
        ('[[rules]]\nname = "a"\nkeyword = "x"\n', "r.toml:3: unknown key 'rules.0.keyword'"),
        ('[[rules]]\nname = "a"\nlang = "fr"\n', "r.toml:3: Invalid enum value 'fr'"),
    ],
)
def test_a_wrong_rule_file_is_refused_with_its_line(text, told):
    with pytest.raises(ConfigError) as refused:
        book(text)
    assert told in str(refused.value)


def test_the_example_is_read_and_answers_in_both_languages():
    rules = load_rules(EXAMPLE)
    english = rules.answer(Asked(text="What are your opening hours?", language="en", metadata={}))
    chinese = rules.answer(Asked(text="请问营业时间？", language="zh", metadata={}))
    assert english is not None
    assert chinese is not None
    assert english.rule == chinese.rule == "hours.asked"


@given(st.text(max_size=300))
def test_no_text_breaks_a_rule(text):
    load_rules(EXAMPLE).answer(Asked(text=text, language="en", metadata={}))


def chain(length: int, *, last: str) -> str:
    """Rules of which each needs the next."""
    rules = [f'[[rules]]\nname = "r{index}"\nwhen = ["r{index + 1}"]\nanswer_en = "x"\n' for index in range(length)]
    return "".join([*rules, f'[[rules]]\nname = "r{length}"\n{last}\n'])


def test_a_chain_of_rules_may_be_long():
    assert said(chain(1500, last='any_of = ["opening hours"]'), "What are your opening hours?") == "x"
    assert said(chain(1500, last='any_of = ["opening hours"]'), "What?") is None
    with pytest.raises(ConfigError, match="in a loop: r0 -> r1 -> "):
        book(chain(1500, last='when = ["r0"]'))


def test_a_rule_file_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "r.toml"
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 0"):
        load_rules(file)
