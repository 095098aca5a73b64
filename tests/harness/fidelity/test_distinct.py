from harness.fidelity.case import Case, Judgement, Label, Similarity
from harness.fidelity.distinct import judge_distinct

NOTHING = Similarity(bertscore_p=None, bertscore_r=None, bertscore_f1=None, cosine=None, composite=None)


def test_equal_cases_are_judged_once_and_keep_their_ids_and_order():
    seen = []

    def judge(cases, similarities):
        seen.extend(case.id for case in cases)
        return [Judgement(id=c.id, label=Label.FAITHFUL, risk=0.1, reasons=(c.candidate,), similarity=s)
                for c, s in zip(cases, similarities, strict=True)]  # fmt: skip

    def case(name, candidate, **more):
        return Case(id=name, reference="r", candidate=candidate, **more)

    cases = [
        case("1", "x"),
        case("2", "y"),
        case("3", "x"),
        case("4", "x", degraded=True),
        case("5", "x", contract={"a": 1}),
    ]
    found = judge_distinct(judge, cases, [NOTHING] * 5)
    assert seen == ["1", "2", "4", "5"]
    assert [(j.id, j.reasons[0]) for j in found] == [("1", "x"), ("2", "y"), ("3", "x"), ("4", "x"), ("5", "x")]


def test_no_case_is_no_judgement():
    assert judge_distinct(lambda cases, similarities: [], [], []) == []
