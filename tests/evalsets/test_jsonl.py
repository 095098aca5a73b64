from __future__ import annotations

import json

import pytest

from evalsets import EvalsetError, FieldError, FileError, UnknownNameError, load_set, select, set_names


def test_a_good_file_loads_from_its_path_or_its_folder(write, values, make_item):
    path = write(values)
    assert load_set(path) == load_set(path.parent) == (make_item(),)


def test_a_set_that_comes_along_loads_by_its_name():
    assert "support" in set_names()
    assert load_set("support")[0].id == "support-en-001"


def test_an_unknown_set_names_near_ones():
    with pytest.raises(UnknownNameError, match=r"unknown evaluation set 'suport' .*did you mean support"):
        load_set("suport")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"none\.jsonl: no such file; expected a folder"):
        load_set(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "blank line"),
        ("{", "bad JSON at column 2"),
        ("[1]", r"\[1\] is not an object"),
        ("null", "None is not an object"),
        ('{"id": NaN}', "NaN is not JSON"),
        ('{"id": "a", "id": "b"}', "a key stands twice"),
        ("[" * 100_000, "bad JSON"),
        ('{"id": ' + "9" * 5000 + "}", "bad JSON"),
        (b'{"id": "\xff"}', "byte 0xff at column 9 is not UTF-8"),
    ],
)
def test_a_line_that_is_not_a_json_object_is_refused_with_file_and_line(write, values, line, said):
    path = write(values, line)
    with pytest.raises(FileError, match=rf"items\.jsonl, line 2: .*{said}.*; expected "):
        load_set(path)


def test_a_byte_order_mark_is_named(write, values):
    path = write(values)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(FileError, match="line 1: starts with a byte order mark"):
        load_set(path)


def test_an_unknown_key_is_refused_and_the_near_one_named(write, values):
    values["must_kep"] = values.pop("must_keep")
    with pytest.raises(FieldError, match=r"line 1: field 'must_kep' .* expected 'must_keep'"):
        load_set(write(values))


def test_a_missing_key_is_refused(write, values):
    del values["licence"]
    with pytest.raises(FieldError, match=r"line 1: field 'licence' .* missing"):
        load_set(write(values))


def test_a_wrong_type_is_refused_with_file_line_field_and_value(write, values):
    with pytest.raises(FieldError, match=r"items\.jsonl, line 2: field 'reference' is 12; expected a string"):
        load_set(write(values, {**values, "id": "b", "reference": 12}))


def test_an_id_that_stands_twice_is_refused_and_the_first_line_named(write, values):
    with pytest.raises(FieldError, match=r"line 3: field 'id' .*\(line 1 has it\)"):
        load_set(write(values, {**values, "id": "other"}, values))


def test_a_line_separator_within_a_string_does_not_end_the_line(write, values):
    text = json.dumps({**values, "system": "one\u2028two"}, ensure_ascii=False)
    assert load_set(write(text))[0].system == "one\u2028two"


def test_an_empty_file_is_not_an_empty_set(write):
    with pytest.raises(EvalsetError, match="line 1: blank line"):
        load_set(write())


def test_selecting_keeps_the_order_asked_for():
    items = load_set("support")
    asked = [items[3].id, items[0].id]
    assert [item.id for item in select(items, asked)] == asked


def test_selecting_an_unknown_id_names_near_matches():
    with pytest.raises(UnknownNameError, match=r"unknown item id 'support-en-01' .*did you mean support-en-0"):
        select(load_set("support"), ["support-en-01"])
