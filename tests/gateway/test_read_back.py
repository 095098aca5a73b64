"""A tokenizer that loses text is found out, and what is sent then is told."""

import pytest
from broken_tokenizer import DecodeErrors, byte_level
from tokenizers import Tokenizer, models, pre_tokenizers

from gateway.prompt import CharCounter, TokenCounter
from gateway.prompt.ascii_only import folded, in_ascii
from gateway.prompt.read_back import LEAST, WINDOW, Back, Trust
from gateway.prompt.watched import WatchedCounter

CHINESE = "北京今天没有下雨。"
CURLY = "“Opened software can’t be refunded” – naïve Zoë, ５ days…"


def watched(folder, most=0.05, **fields):
    return WatchedCounter(TokenCounter.load(folder), most_errors=lambda: most, **fields)


def test_a_sound_tokenizer_counts_exactly_and_is_believed(tmp_path):
    counter = watched(byte_level(tmp_path / "m"))
    for text in (CHINESE, CURLY, "", " ", "\ud800 half a character") * 30:
        counter.count_text(text)
    assert not counter.degraded
    assert counter.count_text(CHINESE) == len(CHINESE.encode())


def test_a_file_that_lacks_tokens_for_some_letters_is_found_out_and_the_estimate_counts_them(tmp_path):
    told = []
    counter = watched(byte_level(tmp_path / "m", without="北今没"), tell=told.append)
    assert counter.count_text(CHINESE) < len(CHINESE.encode())  # bytes in no token: the count is too low
    for _ in range(LEAST):
        counter.count_text(CHINESE)
    assert counter.degraded
    assert told == ["counted by estimate"]
    assert counter.count_text(CHINESE) == CharCounter().count_text(CHINESE) >= 2 * len(CHINESE)
    assert counter.count_texts([CHINESE, "abc"]) == CharCounter().count_texts([CHINESE, "abc"])
    for _ in range(WINDOW):
        counter.count_text("Only what it has tokens for.")
    assert (counter.degraded, told[1:]) == (False, ["counted exactly again"])


def test_a_tokenizer_that_cannot_even_count_is_degraded_at_once(tmp_path):
    tokenizer = Tokenizer(models.WordLevel({"yes": 0}, unk_token="<gone>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    counter = watched(tmp_path)
    assert counter.count_text("no") == CharCounter().count_text("no")
    assert counter.degraded


def test_the_real_fault_of_decode_errors_degrades_it_above_5_percent_and_its_end_heals_it(tmp_path, monkeypatch):
    fault = DecodeErrors(tmp_path / "control", monkeypatch)
    counter = watched(byte_level(tmp_path / "m"))
    for rate, degraded in ((0.02, False), (0.5, True), (0.0, False)):
        fault.strike(rate)
        for _ in range(10 * WINDOW):
            counter.count_text("Opened software cannot be refunded.")
        assert counter.degraded is degraded, rate


def test_words_that_a_tokenizer_openly_does_not_know_are_no_error(tmp_path):
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert watched(tmp_path).carried("none of these words") is Back.WHOLE


@pytest.mark.parametrize(("errors", "degraded"), [(1, False), (5, False), (6, True)])
def test_the_bound_is_a_share_of_the_window(errors, degraded):
    trust = Trust(lambda: 0.05)
    for index in range(WINDOW):
        trust.note(error=index >= WINDOW - errors)
    assert trust.degraded is degraded


def test_looks_rest_for_a_twentieth_of_a_second_while_all_goes_well_and_not_in_doubt():
    now_s = 100.0
    trust = Trust(lambda: 0.05, now_s=lambda: now_s)
    for _ in range(LEAST):
        assert trust.due()
        trust.note(error=False)
    looks = []
    for number in range(1000):  # a thousand texts a second
        now_s = 100.0 + number / 1000
        looks.append(trust.due())
    assert 15 <= sum(looks) <= 20
    now_s = 200.0
    trust.note(error=True)
    assert all(trust.due() for _ in range(100))


def test_nothing_is_said_of_a_tokenizer_after_a_few_texts():
    trust = Trust(lambda: 0.05)
    trust.note(error=True)
    assert not trust.degraded


def test_ascii_forms_keep_what_is_said_and_no_value_changes():
    assert folded(CURLY) == '"Opened software can\'t be refunded" - naive Zoe, 5 days...'
    assert folded("1½ cups, 10² m, 59 €, −5 °C") == "1½ cups, 10² m, 59 EUR , -5 °C"
    assert folded(CHINESE[:-1]) == CHINESE[:-1]


def test_only_texts_that_do_not_come_through_are_folded_and_what_has_no_form_is_told(tmp_path):
    counter = watched(byte_level(tmp_path / "m", without="’“”北"))
    messages = [
        {"role": "system", "content": "naïve"},
        {"role": "user", "content": [{"type": "text", "text": "don’t"}]},
    ]
    plain = in_ascii(messages, counter.carried)
    assert plain.messages[0] == messages[0]  # its letters have tokens
    assert plain.lost is False
    assert in_ascii([{"role": "user", "content": CHINESE}], counter.carried).lost
    assert in_ascii([{"role": "assistant", "content": None}], counter.carried).messages[0]["content"] is None
