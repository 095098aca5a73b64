"""Names, parameters and texts of the faults."""

from pathlib import Path

import pytest

from faults.catalogue import CATALOGUE, build, parameters, parse, summary
from faults.catalogue_text import example, explanation, listing, page
from faults.errors import BadFault
from faults.network import Latency

NAMES = list(CATALOGUE)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_that_of_its_class_and_each_parameter_is_explained(name: str) -> None:
    assert CATALOGUE[name].name == name
    assert summary(name).endswith(".")
    assert all(parameter.meaning.text for parameter in parameters(name))
    assert name in listing()
    assert summary(name) in explanation(name)
    assert parse(example(name)).name == name


def test_a_fault_is_read_from_text() -> None:
    assert parse("latency:mean_ms=500, jitter_ms=20,toxicity=.5,stream=upstream") == Latency(
        mean_ms=500, jitter_ms=20, toxicity=0.5, stream="upstream"
    )
    assert build("latency", {"mean_ms": 500}) == parse("latency:mean_ms=500")
    assert build("http_status", {"retry_after_s": None}) == parse("http_status")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("latncy:mean_ms=5", ["latncy", "did you mean latency"]),
        ("zzz", ["zzz", "truefall faults list"]),
        ("latency", ["latency", "mean_ms must be given"]),
        ("latency:mean_ms", ["mean_ms", "param=value"]),
        ("latency:mean_ms=5,mean_ms=6", ["mean_ms", "twice"]),
        ("latency:mean_sm=5", ["mean_sm", "did you mean mean_ms"]),
        ("latency:mean_ms=-1", ["mean_ms is -1", "at least 0"]),
        ("latency:mean_ms=1.5", ["mean_ms is '1.5'", "whole number"]),
        ("latency:mean_ms=nan", ["mean_ms is 'nan'", "whole number"]),
        ("latency:mean_ms=5,toxicity=1.01", ["toxicity is 1.01", "between 0 and 1"]),
        ("latency:mean_ms=5,toxicity=nan", ["toxicity is nan", "between 0 and 1"]),
        ("latency:mean_ms=5,stream=sideways", ["sideways", "downstream, upstream"]),
        ("bandwidth:rate_kb_s=0", ["rate_kb_s is 0", "at least 1"]),
        ("bandwidth:rate_kb_s=-1", ["rate_kb_s is -1"]),
        ("slicer:average_size_bytes=0", ["average_size_bytes is 0"]),
        ("slicer:average_size_bytes=8,size_variation_bytes=8", ["size_variation_bytes is 8", "less than"]),
        ("proxy_down:rate=1", ["rate", "no parameters"]),
        ("token_drop_answer:rate=1.5", ["token_drop_answer: rate is 1.5"]),
    ],
)
def test_a_wrong_text_is_refused_with_what_would_be_right(text: str, words: list[str]) -> None:
    with pytest.raises(BadFault) as refused:
        parse(text)
    assert all(word in str(refused.value) for word in words), refused.value


def test_the_page_in_the_docs_is_up_to_date() -> None:
    written = Path(__file__).parents[2] / "docs" / "faults.md"
    assert written.read_text(encoding="utf-8") == page(), "run `truefall faults page > docs/faults.md`"
