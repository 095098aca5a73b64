"""Labels and halves, training, measuring, clustering, and the three commands."""

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from gateway.answers.embedding import HASHED, embed
from gateway.answers.gatekeepers import Classifier
from gateway.answers.intents import Response, load_intents
from gateway.review import Held, ReviewQueue
from harness.cli import main
from harness.errors import HarnessError
from harness.gatekeepers.cluster import cluster
from harness.gatekeepers.labelled import LabelledQuestion, halves, load_questions
from harness.gatekeepers.measure import best_guess, by_classifier, measure, one_after_the_other
from harness.gatekeepers.train import train


def question(number: int, intent: str, text: str) -> LabelledQuestion:
    return LabelledQuestion(id=f"{intent}-{number}", lang="en", intent=intent, question=text)


SMALL = [
    *(
        question(n, "refund", f"refund my {thing}, money back")
        for n, thing in enumerate(("shoes", "lamp", "book", "bag"))
    ),
    *(
        question(n, "hours", f"opening hours on {day}")
        for n, day in enumerate(("Sunday", "Monday", "Friday", "May day"))
    ),
]


def test_support_items_have_the_topic_of_their_tags_and_the_bundled_questions_their_label():
    topics = {one.id: one.intent for one in load_questions("support")}
    assert (topics["support-en-001"], topics["support-en-005"], topics["support-en-039"]) == (
        "refund",
        "charge",
        "other",
    )
    questions = load_questions("questions")
    assert len({one.id for one in questions}) == len(questions) == 1039


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, "id is 'a', as in an earlier line"),
        ({"id": "b", "lang": "xx"}, "Invalid enum value 'xx' - at `$.lang`"),
        ({"id": "b", "question": " "}, "at `$.question`"),
        ({"id": ""}, "at `$.id`"),
        ({"id": "b", "intent": "\ud800"}, "surrogate pair"),
    ],
)
def test_a_bad_line_of_questions_is_named(tmp_path, change, says):
    good = {"id": "a", "lang": "en", "intent": "hours", "question": "When do you open?"}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | change) + "\n")
    with pytest.raises(HarnessError, match=rf"mine\.jsonl:2: .*{re.escape(says)}"):
        load_questions(str(path))


def test_the_halves_never_meet_cover_all_and_depend_on_the_seed_only():
    questions = load_questions("questions")
    split = halves(questions, seed=7)
    assert {one.id for one in split.training}.isdisjoint(one.id for one in split.held_out)
    assert (len(split.training), len(split.held_out)) == (520, 519)
    assert halves(questions[::-1], seed=7).held_out == split.held_out
    assert halves(questions, seed=8).held_out != split.held_out
    assert len({one.intent for one in split.held_out[:100]}) == len({one.intent for one in questions})


@pytest.mark.slow
def test_a_trained_classifier_knows_its_own_intents_and_training_again_gives_the_same():
    model = train(SMALL, seed=1, trained_on="small", responses={})
    assert model == train(SMALL, seed=1, trained_on="small", responses={})
    classifier = Classifier(model)
    assert classifier.guess("my money back for the bag").label == "refund"
    assert classifier.guess("your opening hours on Tuesday").label == "hours"


def test_too_few_questions_are_refused():
    with pytest.raises(HarnessError, match="fewer than 2 intents"):
        train(SMALL[:4], seed=1, trained_on="", responses={})
    with pytest.raises(HarnessError, match="at least 3 are needed"):
        cluster(SMALL[:2], [{}, {}], space=HASHED, min_size=3, min_purity=0.8, responses={}, source="")


def test_levels_are_measured_by_what_they_answer_and_what_they_pass_on():
    ticks = iter(range(100))
    first = {"refund-0": "refund", "hours-0": "refund"}
    level = one_after_the_other(
        [lambda one: first.get(one.id), lambda one: "hours" if "Friday" in one.question else None]
    )
    found = measure("both", level, SMALL, now_s=lambda: float(next(ticks)))
    assert (found.asked, found.answered, found.right, found.p95_ms) == (8, 3, 2, 1000.0)
    assert measure("none", lambda one: None, SMALL, now_s=lambda: 0.0).accuracy is None


@pytest.mark.slow
def test_a_response_by_label_is_taken_only_where_the_cluster_is_pure():
    responses = {"hours": (Response(lang="en", text="Nine."),), "refund": (Response(lang="en", text="No."),)}
    vectors = [embed(one.question) for one in SMALL]
    marks = {"space": HASHED, "min_size": 3, "responses": responses, "source": ""}
    found = cluster(SMALL, vectors, min_purity=0.8, **marks)
    assert found.purity == 1.0
    assert {intent.label: intent.responses[0].text for intent in found.file.intents} == {
        "hours": "Nine.",
        "refund": "No.",
    }
    assert [intent.id for intent in found.file.intents] == ["INT-01", "INT-02"]
    mixed = [question(n, "hours" if n % 2 else "refund", one.question) for n, one in enumerate(SMALL)]
    found = cluster(mixed, vectors, min_purity=0.8, **marks)
    assert all(intent.responses == () for intent in found.file.intents)


@pytest.mark.slow
def test_the_commands_train_measure_and_build(tmp_path, capsys):
    rows = tmp_path / "q.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"id": one.id, "lang": "en", "intent": one.intent, "question": one.question}) + "\n"
            for one in SMALL
        )
    )
    model, intents = tmp_path / "gk.json", tmp_path / "intents.json"
    assert main(["gatekeeper", "train", "--evalset", str(rows), "--output", str(model)]) == 0
    assert "2 intents, 4 questions" in capsys.readouterr().out
    assert main(["gatekeeper", "eval", "--evalset", str(rows), "--model", str(model)]) == 0
    assert "L1 always    4 of 4 answered" in capsys.readouterr().out
    assert main(["intents", "build", "--evalset", str(rows), "--output", str(intents)]) == 0
    assert len(load_intents(intents, space=HASHED)) == 2
    model.write_bytes(b"{}")
    assert main(["gatekeeper", "eval", "--evalset", str(rows), "--model", str(model)]) == 2
    assert "sha256 is" in capsys.readouterr().err
    rows.write_text('{"id": "x"}\n')
    assert main(["gatekeeper", "train", "--evalset", str(rows), "--output", str(model)]) == 2
    assert f"{rows}:1: " in capsys.readouterr().err


class Named(BaseHTTPRequestHandler):
    """A model that names "hours" whatever it is asked, and is once too late."""

    asked: ClassVar[list[str]] = []
    given_up: ClassVar[threading.Event] = threading.Event()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["messages"][-1]["content"])
        if len(self.asked) == 2:
            self.given_up.wait(60)
        answer = json.dumps({"choices": [{"message": {"content": "Hours."}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(answer)

    def log_message(self, *_):
        """Silence."""


@pytest.mark.slow
def test_a_model_is_measured_on_the_whole_half_and_one_late_answer_ends_nothing(tmp_path, capsys):
    rows, model = tmp_path / "q.jsonl", tmp_path / "gk.json"
    rows.write_text(
        "".join(
            json.dumps({"id": one.id, "lang": "en", "intent": one.intent, "question": one.question}) + "\n"
            for one in SMALL
        )
    )
    Named.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Named) as server:
        threading.Thread(target=server.serve_forever).start()
        assert main(["gatekeeper", "train", "--evalset", str(rows), "--output", str(model)]) == 0
        start = ["gatekeeper", "eval", "--evalset", str(rows), "--model", str(model)]
        l2 = ["--l2-url", f"http://127.0.0.1:{server.server_port}/v1", "--l2-model", "m", "--min-confidence", "2"]
        assert main([*start, *l2, "--l2-timeout-s", "1"]) == 0
        Named.given_up.set()
        said = capsys.readouterr()
        assert "L2 model     3 of 4 answered" in said.out
        assert "together     3 of 4 answered" in said.out
        assert len(Named.asked) == 4  # "together" asks nothing again
        assert said.err.count(", is ") == 4
        assert main([*start, *l2, "--l2-most", "2"]) == 0
        assert "L2 model     2 of 2 answered" in capsys.readouterr().out
        server.shutdown()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--l2-url", "http://127.0.0.1:1/v1"], "go together"),
        (["--l2-url", "u", "--l2-model", "m", "--l2-serve", "n"], "there is one"),
        (["--l2-serve", "n", "--l2-most", "0"], "--l2-most is 0"),
        (["--l2-serve", "n", "--l2-timeout-s", "0"], "--l2-timeout-s is 0"),
    ],
)
def test_options_of_l2_that_do_not_fit_are_named(options, says, capsys):
    assert main(["gatekeeper", "eval", "--model", "none.json", *options]) == 2
    assert says in capsys.readouterr().err


def test_a_review_is_listed_shown_and_decided_once_by_command(tmp_path, capsys):
    db = tmp_path / "review.db"
    held = Held(path="p", task="summary", delta=None, entropy=0.5, question="Who?", answer="Anna", stands_for="Bert")
    identity = ReviewQueue(db, max_bytes=999_999, now_unix_s=lambda: 1.0).put(held)
    assert main(["review", "--db", str(db), "list"]) == 0
    assert identity in capsys.readouterr().out
    assert main(["review", "--db", str(db), "show", identity]) == 0
    assert "stands for:\nBert" in capsys.readouterr().out
    assert main(["review", "--db", str(db), "reject", identity, "--note", "wrong"]) == 0
    assert main(["review", "--db", str(db), "accept", identity]) == 2
    assert "is rejected already" in capsys.readouterr().err
    assert main(["review", "--db", str(tmp_path / "none.db"), "list"]) == 2


def test_the_confidence_mark_silences_a_classifier_that_is_unsure():
    from gateway.answers.gatekeepers import Model

    model = Model(truefall_gatekeeper=1, space=HASHED, classes=("hours", "other"), bias=(0.1, 0.0), weights={})
    classifier = Classifier(model)
    assert by_classifier(classifier, min_confidence=0.85)(SMALL[0]) is None
    assert by_classifier(classifier, min_confidence=0.5)(SMALL[0]) == "hours"
    assert best_guess(classifier)(SMALL[0]) == "hours"
