import io
import json

import pytest

from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Judgement, Label, Similarity
from harness.fidelity.pairs import RowError, parse_row
from harness.fidelity.score_file import ScoreFile

GOOD = {"id": "a", "reference": "Refunds take 14 days.", "candidate": "Refunds take 14 days."}


class LengthScorer:
    """Stands for the model: the score is a ratio of lengths."""

    def __init__(self, flags=()):
        self.flags, self.blocks = flags, []

    def score(self, pairs):
        self.blocks.append(len(pairs))
        ratios = [min(len(r), len(c)) / max(len(r), len(c), 1) for r, c in pairs]
        return [
            Similarity(bertscore_p=x, bertscore_r=x, bertscore_f1=x, cosine=x, composite=x, flags=self.flags)
            for x in ratios
        ]


def judge(cases, similarities):
    if any(case.candidate == "poison" for case in cases):
        raise RuntimeError("poisoned")
    return [
        Judgement(id=case.id, label=Label.FAITHFUL, risk=0.1, reasons=case.must_keep, similarity=s)
        for case, s in zip(cases, similarities, strict=True)
    ]


def run(tmp_path, lines, *, scorer=None, judged_by=judge):
    source, target, err = tmp_path / "in.jsonl", tmp_path / "out.jsonl", io.StringIO()
    text = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    source.write_bytes(b"\n".join(text) + b"\n")
    code = ScoreFile(scorer=scorer or LengthScorer(), judge=judged_by, err=err).run(source, target)
    return code, [json.loads(line) for line in target.read_text("utf-8").splitlines()], err.getvalue()


def test_one_row_comes_out_per_row_in_the_same_order_with_exactly_these_fields(tmp_path):
    code, rows, _ = run(tmp_path, [{**GOOD, "id": name} for name in "zax"] + [{**GOOD, "id": 7}])
    assert code == 0
    assert [row["id"] for row in rows] == ["z", "a", "x", 7]
    assert list(rows[0]) == (
        [*("id", "bertscore_p", "bertscore_r", "bertscore_f1", "cosine", "composite", "verdict", "risk", "reasons")]
    )


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"{", "not JSON"),
        (b"[1]", "need an object"),
        (b'{"id": "x", "reference": "r"}', "'candidate' is missing"),
        ({**GOOD, "candidate": None}, "'candidate' has to be a text, got null"),
        ({**GOOD, "reference": " "}, "'reference' is blank"),
        ({**GOOD, "id": True}, "'id' has to be"),
        ({**GOOD, "must_keep": [1]}, "'must_keep' has to be a text or a list of texts"),
        ({**GOOD, "contract": "yes"}, "'contract' has to be a JSON Schema object"),
        ({**GOOD, "contract": {"type": "objekt"}}, "no valid JSON Schema"),
        ({**GOOD, "degraded": "no"}, "'degraded' has to be true, false or null"),
        (b'{"id": "x", "reference": "r", "candidate": NaN}', "NaN is no JSON value"),
        (b'{"id": "x", "id": "y", "reference": "r", "candidate": "c"}', "'id' is there twice"),
        (b'{"id": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
        ({**GOOD, "candidate": "poison"}, "cannot be judged: RuntimeError: poisoned"),
    ],
)
def test_a_broken_row_is_named_by_its_line_and_does_not_stop_the_others(tmp_path, bad, says):
    code, rows, err = run(tmp_path, [GOOD, bad, {**GOOD, "id": "b"}])
    assert code == 2
    assert [row["id"] for row in rows] == ["a", "b"]
    assert ".jsonl: line 2: " in err
    assert says in err


def test_nothing_to_judge_is_an_error_and_leaves_no_file(tmp_path):
    with pytest.raises(NothingJudged, match="nothing judged"):
        run(tmp_path, [b""])
    with pytest.raises(NothingJudged, match="1 broken rows"):
        run(tmp_path, [b"{"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl"]


def test_an_interruption_leaves_what_was_scored_and_names_it(tmp_path):
    err = io.StringIO()
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({**GOOD, "id": i}) for i in range(600)))
    calls = []

    def interrupted(cases, similarities):
        calls.append(len(cases))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return judge(cases, similarities)

    with pytest.raises(KeyboardInterrupt):
        ScoreFile(scorer=LengthScorer(), judge=interrupted, err=err).run(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert "512 scored rows are in" in err.getvalue()
    assert len((tmp_path / "out.jsonl.part").read_text().splitlines()) == 512
    assert not (tmp_path / "out.jsonl").exists()


def test_a_large_file_is_read_in_blocks(tmp_path):
    scorer = LengthScorer()
    run(tmp_path, [{**GOOD, "id": i} for i in range(1100)], scorer=scorer)
    assert scorer.blocks == [512, 512, 76]


def test_large_texts_make_smaller_blocks(tmp_path):
    scorer = LengthScorer()
    run(tmp_path, [{**GOOD, "candidate": "x" * 200_000}] * 5, scorer=scorer)
    assert scorer.blocks == [2, 2, 1]


def test_a_must_keep_may_be_one_text_or_a_list_and_what_was_not_measured_is_null_with_a_reason(tmp_path):
    nan = Similarity(bertscore_p=None, bertscore_r=None, bertscore_f1=float("nan"), cosine=None, composite=None)

    class Nothing:
        def score(self, pairs):
            return [
                Similarity(**{f: getattr(nan, f) for f in nan.__slots__ if f != "flags"}, flags=("too_long",))
            ] * len(pairs)

    _, rows, _ = run(tmp_path, [{**GOOD, "must_keep": "14"}, {**GOOD, "must_keep": ["14", "days"]}], scorer=Nothing())
    assert rows[0]["reasons"] == ["14", "not measured: a text is too long for the encoder"]
    assert rows[1]["reasons"][:2] == ["14", "days"]
    assert rows[0]["bertscore_f1"] is None


def test_a_field_that_means_nothing_is_said_once_and_half_a_surrogate_pair_passes(tmp_path):
    code, rows, err = run(tmp_path, [{**GOOD, "must_kep": "x", "must_keep": "\ud83d"}] * 3)
    assert (code, len(rows), err.count("'must_kep' is not used")) == (0, 3, 1)
    assert rows[0]["reasons"] == ["\ud83d"]


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    line = json.dumps(GOOD).encode()
    code, rows, _ = run(tmp_path, [b"\xef\xbb\xbf" + line + b"\r", b"\r", line + b"\r"])
    assert (code, len(rows)) == (0, 2)


def test_input_and_output_may_not_be_the_same_file(tmp_path):
    (tmp_path / "x").write_text("{}")
    with pytest.raises(ConfigError, match="same file"):
        ScoreFile(scorer=LengthScorer(), judge=judge).run(tmp_path / "x", tmp_path / "x")


@pytest.mark.parametrize(("given", "read"), [("en-GB", "en"), ("zh_CN", "zh"), ("de", None), ("", None), (None, None)])
def test_the_language_is_its_primary_tag_or_detected(given, read):
    assert parse_row(json.dumps({**GOOD, "lang": given}), 1).case.lang == read


def test_a_number_is_no_language():
    with pytest.raises(RowError, match="'lang' has to be a text"):
        parse_row(json.dumps({**GOOD, "lang": 3}), 1)
