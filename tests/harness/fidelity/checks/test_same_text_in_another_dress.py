"""A text is faithful to itself, whatever it is, and so is one that only looks otherwise."""

from collections.abc import Callable

import pytest

from harness.fidelity.case import Label
from tests.harness.fidelity.fidelity_judging import complaints, judged

TEXTS = (
    "Refunds take 3 days and cannot be paid in cash.",
    "退款需要 3 天，不能以现金支付。",
    "退款須三個工作日，不能以現金支付。",
    "Bonjour, le magasin n'est pas ouvert.",
    "[Note] The shop is not open on Sundays.",
    "{{name}} is not a member.",
    "It is not impossible.",
)
DRESSES: dict[str, Callable[[str], str]] = {
    "nothing": str,
    "blanks": lambda text: text.replace(" ", "  "),
    "blanks and tabs": lambda text: f"\t {text} \n".replace(" ", " \t\u3000"),
    "soft hyphens": lambda text: text.replace("o", "o\u00ad"),
    "joiners": lambda text: text.replace("e", "e\u2060\u200d"),
    "marks of direction": lambda text: f"\u202a{text}\u202c\u200e",
    "a mark of the order of bytes": lambda text: f"\ufeff{text}",
    "tags": lambda text: f'<p class="answer">{text}</p>',
    "strong tags": lambda text: f"<div><strong>{text}</strong><br/></div>",
}
ODD = (  # references that are no sentences; whoever says the same says what was asked for
    "yes yes yes yes yes yes yes yes yes yes yes yes yes",
    "Thank you for asking!",
    "The order was",
    "Is it open?",
    "...",
    "http 503",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
def test_a_text_that_only_looks_otherwise_is_faithful(text: str, dress: Callable[[str], str]) -> None:
    found = judged(text, dress(text))
    assert found.label is Label.FAITHFUL, found.reasons


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("dress", [str, str.upper, "“{}”".format], ids=["nothing", "capitals", "quotes"])
def test_an_odd_reference_may_be_repeated(text: str, dress: Callable[[str], str]) -> None:
    found = judged(text, dress(text))
    assert found.label is Label.FAITHFUL, found.reasons


def test_a_placeholder_that_is_no_tag_is_still_one() -> None:
    assert complaints("The shop is closed.", "The <shop_name> is closed.", "degenerate")


def test_a_reference_that_only_begins_as_json_asks_for_none() -> None:
    assert not complaints("[Note] The shop is closed.", "The shop is closed.", "contract")
    assert complaints('[{"shop": "closed"}]', "The shop is closed.", "contract")
