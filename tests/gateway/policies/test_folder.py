"""Manifests from files and folders; a ConfigMap's files are all of one swap."""

import os

import pytest
from manifests import TEXT

from gateway.errors import ConfigError
from gateway.policies.folder import load, stamp


def mount(folder, revision, **files):
    """What the kubelet writes first: the new folder, and the link to it. The visible links follow later."""
    (folder / f"..{revision}").mkdir(parents=True)
    for name, text in files.items():
        (folder / f"..{revision}" / f"{name}.yaml").write_text(text)
    (folder / "..tmp").symlink_to(f"..{revision}")
    os.replace(folder / "..tmp", folder / "..data")


def named(name):
    return TEXT.replace("slow-shop", name)


def names(path):
    return [one.name for one in load(path).manifests]


def test_right_after_a_swap_the_new_files_count_although_the_visible_links_are_the_old_ones(tmp_path):
    mount(tmp_path, "r1", one=named("one"), gone=named("gone"))
    for name in ("one", "gone"):
        (tmp_path / f"{name}.yaml").symlink_to(f"..data/{name}.yaml")
    assert names(tmp_path) == ["gone", "one"]
    before = stamp(tmp_path)
    mount(tmp_path, "r2", one=named("one"), new=named("new"))
    assert names(tmp_path) == ["new", "one"]
    assert stamp(tmp_path) not in (None, before)


def test_the_digest_follows_the_text_and_not_the_time(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(TEXT)
    first = load(file)
    file.write_text(TEXT)
    assert load(file).digest == first.digest
    file.write_text(named("other"))
    assert load(file).digest != first.digest


def test_a_folder_takes_yaml_and_json_and_leaves_the_rest(tmp_path):
    (tmp_path / "a.yaml").write_text(named("a"))
    (tmp_path / "b.yml").write_text(named("b"))
    (tmp_path / "c.json").write_text(
        '{"apiVersion": "truefall.dev/v1alpha1", "kind": "DegradationPolicy", "metadata": {"name": "c"},'
        ' "spec": {"targetService": "shop", "fallback": "template"}}'
    )
    (tmp_path / ".hidden.yaml").write_text("not: [yaml")
    (tmp_path / "README.md").write_text("no")
    assert names(tmp_path) == ["a", "b", "c"]


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(OSError, match=r"nothing\.yaml"):
        load(tmp_path / "nothing.yaml")
    assert stamp(tmp_path / "nothing.yaml") is None
    (tmp_path / "a.yaml").write_bytes(b"kind: \xff")
    with pytest.raises(ConfigError, match=r"a\.yaml: not UTF-8 at byte 6"):
        load(tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"#" * 1_048_577)
    with pytest.raises(ConfigError, match=r"a\.yaml: 1048577 bytes, at most 1048576"):
        load(tmp_path)


def test_a_snapshot_link_that_leads_back_to_itself_cannot_be_read_and_has_no_stamp(tmp_path):
    (tmp_path / "..data").symlink_to("..data")
    with pytest.raises(OSError, match=r"leads back to itself|symbolic links"):
        load(tmp_path)
    assert stamp(tmp_path) is None
