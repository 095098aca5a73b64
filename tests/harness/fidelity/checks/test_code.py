"""Pieces of code and comparisons by signs: the same names with other signs between them are another thing."""

import pytest

from harness.fidelity.case import Case
from harness.fidelity.checks.identifiers import check
from harness.fidelity.reading.code import pieces
from harness.fidelity.reading.pair import pair


def found(reference: str, candidate: str) -> list[str]:
    return [one.reason for one in check(pair(Case(id="1", reference=reference, candidate=candidate))) if one.certain]


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("用 lst[-3:] 就能取到最后三个元素。", "用 lst[:-3] 就能取到最后三个元素。"),
        ("Slice it with `x[1:]`.", "Slice it with `x[:1]`."),
        ("The branch is taken if a > b.", "The branch is taken if a < b."),
        ("当 a<b 时返回。", "当 a>b 时返回。"),
        ("Accept values of x >= 5.", "Accept values of x > 5."),
        ("Redirect with ls > out.txt.", "Redirect with ls >> out.txt."),
        ("Then i += 1 follows.", "Then i -= 1 follows."),
        ("Multiply: area = a * b.", "Multiply: area = a / b."),
        ("The pattern is ^a+$.", "The pattern is ^a?$."),
        ("取 <5 的值", "取 >5 的值"),
        ("Use x ** 2 here.", "Use x * 2 here."),
    ],
)
def test_other_signs_between_the_same_names_are_another_piece(reference: str, candidate: str) -> None:
    assert found(reference, candidate)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Open **Settings > Network > Reset**.", "Open Settings → Network → Reset."),
        ("Use {name} as the key.", "Use <name> as the key."),
        ("Use x ≥ 5 here.", "Use x >= 5 here."),
        ('Set "a" to [1, 2].', "Set `a` to [1,2]."),
        ("It is *important* to wait.", "It is **important** to wait."),
        ('Send {"id": 3, "ok": true} to it.', "Send {'id':3,'ok':true} to it."),
        ("Open Monday - Friday.", "Open Monday – Friday."),
        ("Run `git reset HEAD~1`.", "`git reset HEAD~` does it."),
        ("Use x[1:] and x[:1].", "Use x[:1] and x[1:]."),
        ("It costs $5.", "It costs 5 USD."),
        ("Alert if CPU > 90%.", "Alert if CPU>90%."),
        ("See https://a.com/p?id=3 for it.", "See <https://a.com/p?id=3> for it."),
        ("Choose **File > New** now.", "Choose File > New now."),
    ],
)
def test_the_same_piece_in_another_dress_is_the_same(reference: str, candidate: str) -> None:
    assert not found(reference, candidate)


def test_prose_holds_no_pieces() -> None:
    text = "Between 9:30 and 10:00, bring e-mail no. 3/4 (or 50% of it) - all of it! 30% off & free."
    assert list(pieces(text)) == []
