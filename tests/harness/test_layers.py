"""The picture in the docs is the one that the tables in the code give."""

from pathlib import Path
from xml.etree import ElementTree

from gateway.backends import breaker
from gateway.health import TRANSITIONS
from harness.layers import layers, picture

DOCS = Path(__file__).parent.parent.parent / "docs"


def test_the_picture_is_up_to_date():
    assert (DOCS / "four-layers.svg").read_text("utf-8") == picture(), "run: truefall layers --out docs/four-layers.svg"


def test_the_picture_holds_every_layer_state_and_signal():
    words = " ".join(node.text or "" for node in ElementTree.fromstring(picture()).iter() if node.tag.endswith("text"))
    for layer in layers():
        assert layer.name in words
        assert all(reason in words for reason in layer.reasons)
    for (state, signal), after in (*TRANSITIONS.items(), *breaker.TRANSITIONS.items()):
        assert state in words
        assert after in words
        assert signal.startswith("forced_") or signal.replace("_", " ") in words


def test_the_docs_show_the_picture():
    assert "](four-layers.svg)" in (DOCS / "four-layers.md").read_text("utf-8")
