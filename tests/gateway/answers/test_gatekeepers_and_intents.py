"""L1's classifier, intents with their responses, and templates by example."""

import msgspec
import pytest

from gateway.answers.embedding import HASHED, embed, mean
from gateway.answers.gatekeepers import Classifier, Model, checksum_path, load_classifier, softmax
from gateway.answers.intents import Intent, IntentFile, Intents, Response, load_intents, response_of
from gateway.answers.placeholders import fill, placeholders
from gateway.answers.templates import template_for
from gateway.errors import ConfigError
from gateway.policy import Template

REFUND, HOURS = embed("refund money back"), embed("opening hours open close")


def model(**changes) -> Model:
    weights = {place: (20.0 * REFUND.get(place, 0), 20.0 * HOURS.get(place, 0)) for place in {*REFUND, *HOURS}}
    fields = {
        "truefall_gatekeeper": 1,
        "space": HASHED,
        "classes": ("refund", "hours"),
        "bias": (0.0, 0.0),
        "weights": weights,
        "responses": {"hours": (Response(lang="en", text="In {city}: nine to five."),)},
    }
    return Model(**{**fields, **changes})


def test_the_classifier_answers_only_when_it_is_sure():
    classifier = Classifier(model())
    guess = classifier.guess("What are your opening hours?")
    assert guess.label == "hours"
    assert guess.confidence > 0.85
    ask = {"language": "en", "metadata": {"city": "Bern"}}
    answer = classifier.answer("What are your opening hours?", min_confidence=0.85, **ask)
    assert answer is not None
    assert answer.text == "In Bern: nine to five."
    unsure = Classifier(model(temperature=20.0))
    assert unsure.guess("What are your opening hours?").label == "hours"
    assert unsure.answer("What are your opening hours?", min_confidence=0.85, **ask) is None
    assert classifier.answer("A refund, my money back", min_confidence=0.5, **ask) is None
    assert classifier.answer("opening hours", language="zh", metadata={"city": "x"}, min_confidence=0.5) is None
    assert classifier.answer("opening hours", language="en", metadata={}, min_confidence=0.5) is None
    assert classifier.guess("…").confidence == pytest.approx(0.5)


def test_a_higher_temperature_makes_it_less_sure():
    sure, unsure = Classifier(model()), Classifier(model(temperature=5.0))
    assert unsure.guess("opening hours").confidence < sure.guess("opening hours").confidence
    assert sum(softmax([1000.0, 0.0, -1000.0])) == pytest.approx(1)


def written(tmp_path, found: Model):
    import hashlib

    path = tmp_path / "gk.json"
    raw = msgspec.json.encode(found)
    path.write_bytes(raw)
    checksum_path(path).write_text(hashlib.sha256(raw).hexdigest() + "  gk.json\n")
    return path


def test_a_classifier_is_read_only_with_its_checksum(tmp_path):
    path = written(tmp_path, model())
    assert load_classifier(path).classes == ("refund", "hours")
    path.write_bytes(path.read_bytes().replace(b"refund", b"refunt"))
    with pytest.raises(ConfigError, match="sha256 is"):
        load_classifier(path)
    checksum_path(path).unlink()
    with pytest.raises(FileNotFoundError):
        load_classifier(path)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"space": "hashed-0"}, "trained on embedding 'hashed-0'"),
        ({"bias": (0.0,)}, "one number for each of the 2 classes"),
        ({"weights": {1: (1.0,)}}, "one number for each of the 2 classes"),
    ],
)
def test_a_classifier_of_another_shape_is_refused(tmp_path, changes, told):
    with pytest.raises(ConfigError, match=told):
        load_classifier(written(tmp_path, model(**changes)))


def intents_file(tmp_path, **changes):
    texts = ("opening hours", "hours when open")
    intent = Intent(
        id="INT-07",
        centre=mean(embed(text) for text in texts),
        radius=0.5,
        responses=(Response(lang="en", text="Near {user.location.lat}, {user.location.lon}: nine to five."),),
    )
    path = tmp_path / "intents.json"
    path.write_bytes(
        msgspec.json.encode(IntentFile(**{"truefall_intents": 1, "space": HASHED, "intents": (intent,), **changes}))
    )
    return path


def test_a_question_within_the_radius_has_the_intent_and_its_response_is_filled(tmp_path):
    intents = load_intents(intents_file(tmp_path), space=HASHED)
    match = intents.match(embed("What are the opening hours"))
    assert match is not None
    assert match.intent.id == "INT-07"
    place = {"user": {"location": {"lat": 46.9, "lon": 7.4}}}
    response = response_of(match.intent, language="en", metadata=place)
    assert response is not None
    assert response.text == "Near 46.9, 7.4: nine to five."
    assert response_of(match.intent, language="en", metadata={"user": {"location": {"lat": 46.9}}}) is None
    assert response_of(match.intent, language="zh", metadata=place) is None
    assert intents.match(embed("refund my shoes")) is None
    assert Intents((), space=HASHED).match(embed("x")) is None


def test_an_intent_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="made with embedding 'hashed-0'"):
        load_intents(intents_file(tmp_path, space="hashed-0"), space=HASHED)
    path = tmp_path / "other.json"
    path.write_bytes(b'{"truefall_intents": 2, "space": "x", "intents": []}')
    with pytest.raises(ConfigError, match="not an intent file of version 1"):
        load_intents(path, space=HASHED)
    path.write_bytes(b"{")
    with pytest.raises(ConfigError, match="not JSON"):
        load_intents(path, space=HASHED)


def test_placeholders_take_plain_values_only():
    assert placeholders("{a.b} and {a.b} and {c} {} {1x}") == ("a.b", "c")
    assert fill("{a}", {"a": 0}) == "0"
    for value in (None, True, "", " ", {"x": 1}, [1], "x" * 201):
        assert fill("{a}", {"a": value}) is None


def test_a_template_is_found_by_example_then_by_keyword_then_by_default():
    templates = (
        Template(lang="en", text="default"),
        Template(lang="en", text="refund", keywords=("refund",), examples=("How do I get my money back?",)),
        Template(lang="en", text="hours", examples=("What are your opening hours?",)),
        Template(lang="zh", text="退款", examples=("怎么退款",)),
    )

    def found(question: str, language: str = "en") -> str | None:
        template = template_for(question, language=language, templates=templates, min_similarity=0.5)
        return template.text if template else None

    assert found("how can I get the money back") == "refund"
    assert found("the opening hours, please") == "hours"
    assert found("is a refund for a used racing bicycle from the spring sale thinkable") == "refund"
    assert found("where is Bern") == "default"
    assert found("请问怎么退款呢", "zh") == "退款"
    assert found("你好", "zh") is None
