"""Which cross-encoder is asked: none that could hardly change the verdict, and each answer by its own texts only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fidelity.cascade import NOBODY, REACH, Question, ask, expected
from harness.fidelity.cross_encoder import LARGE, SMALL, Opinion, Told, together
from harness.fidelity.labelled import DATA, load_labelled
from harness.fidelity.risk import Guess, Joined, likely, shipped_model

CLOSE = {name: Guess(own=0.2, read=0.5, shift=0.0, spread=0.1) for name in (NOBODY, SMALL, LARGE)}
SHARES = st.floats(0.0, 1.0)


class Says:
    """Tells of a pair what its second text says: "small large abstains", "-" for what is too long to be read."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def told(self, name: str, pairs: list[tuple[str, str]]) -> list[Told]:
        self.asked += [(name, text) for _, text in pairs]
        return [self.of(name, text) for _, text in pairs]

    def of(self, name: str, text: str) -> Told:
        small, large, abstains = (None if said == "-" else float(said) for said in text.split())
        if name == SMALL:
            return None if small is None else (small,)
        return None if large is None or abstains is None else (large, abstains)


def question(
    small: object,
    large: object,
    abstains: float = 0.0,
    *,
    risk: float = 0.5,
    far: float = 0.0,
    least: float = 0.0,
    enough: float | None = None,
    joined: Joined | None = None,
) -> Question:
    return Question(
        pair=("reference", f"{small} {large} {abstains}"),
        risk=risk,
        far=far,
        least=least,
        enough=enough,
        joined=joined or Joined(guesses=CLOSE),
        threshold=0.5,
    )


def asked_of(one: Question) -> tuple[list[str], Opinion | None]:
    reader = Says()
    (opinion,) = ask([one], reader)
    return [name for name, _ in reader.asked], opinion


def test_nobody_is_asked_where_nothing_likely_moves_the_label() -> None:
    names, opinion = asked_of(question(0.9, 0.9, risk=0.99))
    assert names == []
    assert opinion is not None
    assert not opinion.read
    assert opinion.abstains is None


def test_the_small_one_is_enough_where_it_settles_the_label() -> None:
    names, opinion = asked_of(question(0.99, 0.5))
    assert names == [SMALL]
    assert opinion is not None
    assert opinion.read
    assert opinion.misleads > 0.5


def test_both_are_asked_where_the_small_one_leaves_it_open() -> None:
    names, opinion = asked_of(question(0.5, 0.9))
    assert names == [SMALL, LARGE]
    assert opinion == together((0.5,), (0.9, 0.0))


def test_an_abstention_is_told_by_the_large_one_alone() -> None:
    names, opinion = asked_of(question(0.5, 0.9, 0.8, enough=0.5))
    assert names == [LARGE]
    assert opinion is not None
    assert opinion.abstains == 0.8


def test_where_it_finds_none_the_small_one_is_asked_if_that_is_still_open() -> None:
    assert asked_of(question(0.5, 0.5, 0.2, enough=0.5))[0] == [LARGE, SMALL]
    assert asked_of(question(0.5, 0.99, 0.2, enough=0.5))[0] == [LARGE]


def test_what_the_small_one_cannot_read_the_large_one_is_asked() -> None:
    names, opinion = asked_of(question("-", 0.9))
    assert names == [SMALL, LARGE]
    assert opinion == together(None, (0.9, 0.0))
    assert asked_of(question(0.5, "-")) == ([SMALL, LARGE], None)
    assert asked_of(question(0.5, "-", enough=0.5)) == ([LARGE], None)


def test_a_model_without_guesses_asks_both_about_everything() -> None:
    assert asked_of(question(0.99, 0.99, risk=0.99, joined=Joined()))[0] == [SMALL, LARGE]


def test_what_no_opinion_can_lower_needs_none() -> None:
    assert asked_of(question(0.5, 0.5, risk=0.6, least=0.6))[0] == []


QUESTIONS = st.builds(
    question, SHARES, SHARES, SHARES, risk=SHARES, far=SHARES, enough=st.none() | st.sampled_from((0.02, 0.5, 0.9)),
    joined=st.sampled_from([*shipped_model().joined.values(), Joined(guesses=CLOSE)]),
)  # fmt: skip


@given(questions=st.lists(QUESTIONS, max_size=6))
def test_no_opinion_depends_on_the_others(questions: list[Question]) -> None:
    together_ = ask(questions, Says())
    assert together_ == [ask([one], Says())[0] for one in questions]
    assert together_ == ask(questions[::-1], Says())[::-1]


@given(one=QUESTIONS)
def test_an_expected_opinion_calls_the_answer_as_any_within_reach_of_it_would(one: Question) -> None:
    (opinion,) = ask([one], Says())
    said = expected(one, {})
    if said is None:
        return
    guess = one.joined.guesses[NOBODY]
    label = one.joined.risk(one.risk, said, far=one.far) >= one.threshold
    middle = guess.log_odds(one.risk, 0.5)
    for reach in (-REACH, -1.0, 1.0, REACH):
        near = likely(middle + reach * guess.spread)
        assert (one.joined.risk(one.risk, near, far=one.far) >= one.threshold) == label
    assert opinion is not None


@pytest.mark.slow
@pytest.mark.models
def test_on_the_rows_it_was_fitted_on_no_verdict_gets_worse_and_much_is_not_asked() -> None:
    from harness.fidelity.cross_encoder import shipped_cross_encoder
    from harness.fidelity.scorer import Scorer
    from harness.fidelity.verdict import decide, heard, heard_wholly, see

    rows = load_labelled(str(DATA / "joined.jsonl"))[::4]
    cases = [row.case for row in rows]
    similarities = Scorer().score([(case.reference, case.candidate) for case in cases])
    reader, model, seen = shipped_cross_encoder(), shipped_model(), see(cases)
    sparing, wholly = heard(seen, similarities, reader, model=model), heard_wholly(seen, reader)
    few, all_ = (
        [decide(one, s, model=model) for one, s in zip(given_, similarities, strict=True)]
        for given_ in (sparing, wholly)
    )
    worse = [
        row.case.id
        for row, told, full in zip(rows, few, all_, strict=True)
        if full.label is row.label is not told.label
    ]
    assert worse == []
    assert sum(one.opinion is not None and one.opinion.abstains is None for one in sparing) >= 0.2 * len(rows)
    back = heard(seen[::-1], similarities[::-1], reader, model=model)[::-1]
    assert [one.opinion for one in back] == [one.opinion for one in sparing]
