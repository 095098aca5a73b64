import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Judgement, Label, Similarity
from harness.fidelity.pairs import parse_row
from harness.fidelity.score_file import ScoreFile
from harness.fidelity.verdict import judge as judge_pairs

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
        ({**GOOD, "contract": {"required": ["x"], "$ref": "#/required/a"}}, "points to nothing"),
        ({**GOOD, "contract": {"minimum": 1, "$ref": "#/minimum/x"}}, "points to nothing"),
        (b"[1]", "need an object"),
        (b'{"id": "x", "reference": "r"}', "'candidate' is missing"),
        ({**GOOD, "candidate": None}, "'candidate' has to be a text, got null"),
        ({**GOOD, "reference": " "}, "'reference' is blank"),
        ({**GOOD, "id": True}, "'id' has to be"),
        ({**GOOD, "must_keep": [1]}, "'must_keep' has to be a text or a list of texts"),
        ({**GOOD, "contract": "yes"}, "'contract' has to be a JSON Schema object"),
        ({**GOOD, "contract": {"type": "objekt"}}, "no valid JSON Schema"),
        ({**GOOD, "contract": {"$ref": "#/$defs/a"}}, "$ref '#/$defs/a' points to nothing in it"),
        ({**GOOD, "contract": {"items": {"$ref": "file:///etc/hostname"}}}, "and nothing is fetched"),
        ({**GOOD, "contract": {"$schema": []}}, "'contract' has to name its $schema by a text, got []"),
        ({**GOOD, "degraded": "no"}, "'degraded' has to be true, false or null"),
        (b'{"id": "x", "reference": "r", "candidate": NaN}', "NaN is no JSON value"),
        (b'{"id": "x", "id": "y", "reference": "r", "candidate": "c"}', "'id' is there twice"),
        (b'{"id": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (GOOD, 'id "a" stands in line 1 too'),
        ({**GOOD, "id": " "}, "'id' is blank"),
        ({**GOOD, "id": 1.5}, "'id' has to be a text or a whole number, got 1.5"),
        ({**GOOD, "prompt": 3}, "'prompt' has to be a text, got 3"),
        ({**GOOD, "context": ["c"]}, "'context' has to be a text"),
        ({**GOOD, "lang": 3}, "'lang' has to be a text, got 3"),
        ({**GOOD, "lang": "xx"}, "'lang' has to be en or zh (or one like en-GB), or left out, got \"xx\""),
        ({**GOOD, "must_keep": {"14": 1}}, "'must_keep' has to be a text or a list of texts"),
        ({**GOOD, "must_not": [["14"]]}, "'must_not' has to be a text or a list of texts"),
        ({**GOOD, "must_keep": ["14", " "]}, "'must_keep' holds a blank fact"),
        ({**GOOD, "must_not": "14 | "}, "'must_not' holds a blank fact, got \"14 | \""),
        *(
            ({**GOOD, name: value}, rf"field {name!r} holds half a surrogate pair (\ud800), which is no character")
            for name, value in (
                *((text, "14 \ud800") for text in ("id", "reference", "candidate", "prompt", "context", "lang")),
                ("must_keep", ["\ud800"]),
                ("must_not", "\ud800"),
                ("contract", {"enum": ["\ud800"]}),
            )
        ),
        ({**GOOD, "candidate": "poison"}, "cannot be judged: RuntimeError: poisoned"),
    ],
)
def test_a_broken_row_is_named_by_its_line_and_does_not_stop_the_others(tmp_path, bad, says):
    bad = {**bad, "id": "x"} if isinstance(bad, dict) and bad["id"] == "a" and bad != GOOD else bad
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
    run(tmp_path, [{**GOOD, "candidate": "x" * 200_000, "id": i} for i in range(5)], scorer=scorer)
    assert scorer.blocks == [2, 2, 1]


def test_a_must_keep_may_be_one_text_or_a_list_and_what_was_not_measured_is_null_with_a_reason(tmp_path):
    nan = Similarity(bertscore_p=None, bertscore_r=None, bertscore_f1=float("nan"), cosine=None, composite=None)

    class Nothing:
        def score(self, pairs):
            return [
                Similarity(**{f: getattr(nan, f) for f in nan.__slots__ if f != "flags"}, flags=("too_long",))
            ] * len(pairs)

    lines = [{**GOOD, "must_keep": "14"}, {**GOOD, "id": "b", "must_keep": ["14", "days"]}]
    _, rows, _ = run(tmp_path, lines, scorer=Nothing())
    assert rows[0]["reasons"] == ["14", "not measured: a text is too long for the encoder"]
    assert rows[1]["reasons"][:2] == ["14", "days"]
    assert rows[0]["bertscore_f1"] is None


def test_a_field_that_means_nothing_is_said_once(tmp_path):
    code, rows, err = run(tmp_path, [{**GOOD, "id": i, "must_kep": "x"} for i in range(3)])
    assert (code, len(rows), err.count("'must_kep' is not used")) == (0, 3, 1)


def test_a_whole_surrogate_pair_is_a_character_and_an_empty_optional_text_is_none(tmp_path):
    code, rows, _ = run(tmp_path, [{**GOOD, "must_keep": "\U0001f600", "prompt": "", "lang": ""}])
    assert (code, rows[0]["reasons"]) == (0, ["\U0001f600"])
    code, rows, _ = run(tmp_path, [{**GOOD, "must_keep": ""}])
    assert (code, rows[0]["reasons"]) == (0, [])


def test_an_id_that_only_a_broken_row_had_is_free_and_a_number_is_the_same_as_its_digits(tmp_path):
    code, rows, err = run(tmp_path, [{**GOOD, "candidate": 1}, GOOD, {**GOOD, "id": 7}, {**GOOD, "id": "7"}])
    assert (code, [row["id"] for row in rows]) == (2, ["a", 7])
    assert 'line 4: id "7" stands in line 3 too' in err


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    line = json.dumps(GOOD).encode()
    other = json.dumps({**GOOD, "id": "b"}).encode()
    code, rows, _ = run(tmp_path, [b"\xef\xbb\xbf" + line + b"\r", b"\r", other + b"\r"])
    assert (code, len(rows)) == (0, 2)


def test_input_and_output_may_not_be_the_same_file(tmp_path):
    (tmp_path / "x").write_text("{}")
    with pytest.raises(ConfigError, match="is read and would be written to"):
        ScoreFile(scorer=LengthScorer(), judge=judge).run(tmp_path / "x", tmp_path / "x")


def test_what_an_interruption_left_is_not_written_over_while_it_is_read(tmp_path):
    left = tmp_path / "out.jsonl.part"
    left.write_text(json.dumps(GOOD))
    with pytest.raises(ConfigError, match="is read and would be written to"):
        ScoreFile(scorer=LengthScorer(), judge=judge).run(left, tmp_path / "out.jsonl")
    assert json.loads(left.read_text()) == GOOD


def test_a_link_stays_one_and_what_it_leads_to_gets_the_rows(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD))
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "out.jsonl").write_text("old")
    link = tmp_path / "out.jsonl"
    link.symlink_to(tmp_path / "far" / "out.jsonl")
    assert ScoreFile(scorer=LengthScorer(), judge=judge, err=io.StringIO()).run(tmp_path / "in.jsonl", link) == 0
    assert link.is_symlink()
    assert json.loads(link.read_text())["id"] == "a"
    assert [p.name for p in (tmp_path / "far").iterdir()] == ["out.jsonl"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD))
    pipe = tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert ScoreFile(scorer=LengthScorer(), judge=judge, err=io.StringIO()).run(tmp_path / "in.jsonl", pipe) == 0
        assert json.loads(os.read(end, 65536))["id"] == "a"
    finally:
        os.close(end)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]
    assert pipe.is_fifo()


APPENDING = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_score_file import LengthScorer, ScoreFile, judge
ScoreFile(scorer=LengthScorer(), judge=judge).run(Path("in.jsonl"), Path(sys.argv[1]))
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_the_file_behind_standard_output_is_added_to(tmp_path, name):
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD))
    (tmp_path / "all.jsonl").write_text("kept\n")
    (tmp_path / "link").symlink_to("/dev/stdout")
    (tmp_path / "score.py").write_text(APPENDING)
    here = Path(__file__).parent
    words = [sys.executable, "score.py", name, str(here), str(here.parents[2])]
    line = f"{shlex.join(words)} >> all.jsonl && echo after >> all.jsonl"
    subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    first, row, last = (tmp_path / "all.jsonl").read_text().splitlines()
    assert (first, json.loads(row)["id"], last) == ("kept", "a", "after")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all.jsonl", "in.jsonl", "link", "score.py"]


def test_a_pipe_is_left_alone_where_nothing_can_be_judged(tmp_path):
    (tmp_path / "in.jsonl").write_text("{")
    pipe = tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(NothingJudged):
            ScoreFile(scorer=LengthScorer(), judge=judge, err=io.StringIO()).run(tmp_path / "in.jsonl", pipe)
    finally:
        os.close(end)
    assert pipe.is_fifo()


@pytest.mark.parametrize(("given", "read"), [("en-GB", "en"), ("zh_CN", "zh"), ("", None), (None, None)])
def test_the_language_is_its_primary_tag_or_detected(given, read):
    assert parse_row(json.dumps({**GOOD, "lang": given}).encode(), 1).case.lang == read


@pytest.mark.parametrize(
    ("mark", "label"),
    [
        ({}, "abstained"),
        ({"degraded": None}, "abstained"),
        ({"degraded": True}, "abstained"),
        ({"degraded": False}, "misleading"),
    ],
)
def test_an_abstention_is_honest_unless_the_row_says_that_it_was_not_marked(tmp_path, mark, label):
    row = {**GOOD, "candidate": "Sorry, we cannot look that up at the moment. Please try again later.", **mark}
    code, rows, _ = run(tmp_path, [row], judged_by=judge_pairs)
    assert (code, rows[0]["verdict"]) == (0, label)
