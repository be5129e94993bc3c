"""Which files are read, and what a file may be that somebody else has put there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

import platformdirs
import pytest

import lspkit
from lspkit.config.config_files import LARGEST, PROJECT_FILES, global_file
from lspkit.config.parse import read_config

IN_ORDER = [kind.name for kind in PROJECT_FILES]

#: By file: one that sets a timeout of so many milliseconds, or says as much as that file can.
CONTENT = {
    "pyproject.toml": "[tool.lspkit.timing]\nrequestTimeoutMs = 7\n",
    "opencode.json": '{"theme": "x", "lsp": {"timeout": 7}}',
    "opencode.jsonc": '{"lsp": {"timeout": 7,}} // seven',
}
USUAL = '{"timing": {"requestTimeoutMs": 7}}'


# The user's file


def test_a_missing_file_is_an_empty_one(scene):
    loaded = scene.load()
    assert loaded.config == lspkit.config.Config()
    assert (loaded.global_file, loaded.used) == (str(scene.global_file), None)
    assert loaded.warnings == ()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is taken from there")
@pytest.mark.parametrize("base", ["", "/tmp/base"])
def test_the_users_file_is_where_platformdirs_has_it(monkeypatch, base):
    monkeypatch.setenv("XDG_CONFIG_HOME", base)
    usual = os.path.join(platformdirs.user_config_dir("lspkit"), "lsp.json")
    assert global_file(os.environ, os.path.expanduser("~")) == usual


def test_a_relative_config_folder_is_not_the_current_one(scene, monkeypatch):
    monkeypatch.chdir(scene.root)
    scene.project(USUAL, "lspkit/lsp.json")
    scene.environ["XDG_CONFIG_HOME"] = "."
    assert scene.load().global_file == str(scene.global_file)


def test_a_variable_names_another_file(scene):
    scene.say('{"timing": {"requestTimeoutMs": 1}}')
    scene.write(scene.home / "mine.json", USUAL)
    for name in (str(scene.home / "mine.json"), "~/mine.json"):
        scene.environ["LSPKIT_CONFIG"] = name
        loaded = scene.load()
        assert loaded.config.timing.request_timeout_ms == 7
        assert loaded.global_file == str(scene.home / "mine.json")


def test_a_variable_that_names_a_missing_file_is_told(scene):
    scene.environ["LSPKIT_CONFIG"] = str(scene.home / "none.json")
    loaded = scene.load()
    assert loaded.config == lspkit.config.Config()
    [warning] = loaded.warnings
    assert "none.json" in str(warning) and "does not exist" in str(warning)


def test_the_file_of_pi_counts_where_there_is_no_other(scene):
    scene.write(scene.home / ".pi" / "agent" / "lsp.json", USUAL)
    assert scene.load().config.timing.request_timeout_ms == 7
    scene.say("{}")
    assert scene.load().config.timing.request_timeout_ms == 10_000


# The project's files


@pytest.mark.parametrize("name", IN_ORDER)
def test_every_file_of_a_project_is_read(scene, name):
    file = scene.project(CONTENT.get(name, USUAL), name)
    loaded = scene.load()
    assert loaded.config.timing.request_timeout_ms == 7
    assert (loaded.used, loaded.passed_over) == (str(file), ())
    assert loaded.warnings == ()


def test_the_first_file_counts_and_the_others_are_told(scene):
    files = [str(scene.project(CONTENT.get(name, USUAL), name)) for name in IN_ORDER]
    while files:
        loaded = scene.load()
        assert (loaded.used, loaded.passed_over) == (files[0], tuple(files[1:]))
        os.unlink(files.pop(0))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", '[project]\nname = "x"\n'),
        ("pyproject.toml", '[project]\ndependencies = ["lspkit"]\n'),
        ("pyproject.toml", 'dependencies = ["lspkit"\n'),
        ("opencode.json", '{"theme": "lsp"}'),
        ("opencode.json", "[]"),
        ("opencode.json", "{"),
        ("opencode.jsonc", "// no\n{}"),
    ],
)
def test_a_file_about_other_things_is_passed_by(scene, name, content):
    scene.project(content, name)
    scene.project(USUAL, ".lsp.json")
    loaded = scene.load()
    assert loaded.used == str(scene.root / ".lsp.json")
    assert loaded.passed_over == ()
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("pyproject.toml", "[tool.lspkit.timing\n", 1),
        ("pyproject.toml", '[tool."lspkit"]\nx = 1\ny =\n', 3),
        ("opencode.json", '{\n"lsp": {}\n', 3),
    ],
)
def test_a_file_about_other_things_that_is_broken_counts_if_it_was_meant(
    scene, name, content, line
):
    file = scene.project(content, name)
    loaded = scene.load()
    assert loaded.used == str(file)
    assert loaded.ignored
    assert line in [one.line for one in loaded.warnings]


def test_only_the_root_is_looked_at(scene):
    scene.write(scene.home / ".lsp.json", USUAL)
    (scene.root / "below").mkdir()
    scene.project(USUAL, "below/.lsp.json")
    assert scene.load().used is None


# What a file may be


def unusable(file) -> lspkit.ConfigError:
    with pytest.raises(lspkit.ConfigError) as caught:
        read_config(file)
    assert caught.value.file == str(file)
    assert str(file) in str(caught.value)
    return caught.value


def as_project(scene, why: str) -> None:
    """The same file does not stop anything if it is the project's."""
    started = time.monotonic()
    loaded = scene.load()
    assert time.monotonic() - started < 5
    assert loaded.ignored
    assert loaded.config == lspkit.config.Config()
    assert any(why in str(one) for one in loaded.warnings)


def test_a_file_of_a_gigabyte_is_refused_without_reading(scene):
    file = scene.project("{}")
    os.truncate(file, 2**30)
    started = time.process_time()
    assert "more than 256 KiB" in str(unusable(file))
    as_project(scene, "more than 256 KiB")
    assert time.process_time() - started < 1


def test_a_file_that_is_just_not_too_large_is_read(scene):
    file = scene.project("{}" + " " * (LARGEST - 2))
    assert read_config(file) == lspkit.config.Config()
    os.truncate(file, LARGEST + 1)
    unusable(file)


def test_a_fifo_does_not_block_anybody(scene):
    file = scene.project("{}")
    file.unlink()
    os.mkfifo(file)
    assert "not a regular file" in str(unusable(file))
    as_project(scene, "not a regular file")


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "."])
def test_a_device_or_folder_is_refused(scene, target):
    file = scene.project("{}")
    file.unlink()
    file.symlink_to(target)
    assert "not a regular file" in str(unusable(file))
    if target == ".":
        as_project(scene, "not a regular file")
    else:
        [warning] = scene.load().warnings
        assert "outside the project" in str(warning)


def test_a_link_that_leads_in_a_circle_is_refused(scene):
    file = scene.project("{}")
    file.unlink()
    file.symlink_to(file)
    assert "cannot be read" in str(unusable(file))
    as_project(scene, "cannot be read")


@pytest.mark.parametrize("name", IN_ORDER)
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_file_that_lies_outside_of_the_project_is_ignored_with_one_warning(scene, name, linked):
    """It may be any file of the user's, and its keys would be told as names that nobody knows."""
    elsewhere = scene.write(scene.home / "private" / "secret", CONTENT.get(name, USUAL))
    file = scene.root / name
    if linked == "folder" and "/" in name:
        elsewhere.rename(elsewhere.parent / file.name)
        file.parent.symlink_to(elsewhere.parent)
    else:
        file.parent.mkdir(exist_ok=True)
        file.symlink_to(elsewhere)
    loaded = scene.load()
    assert (loaded.used, loaded.passed_over, loaded.ignored) == (None, (), False)
    assert loaded.config == lspkit.config.Config()
    [warning] = loaded.warnings
    assert str(warning) == f"{file}: it is ignored: it is a link to a file outside the project"


def test_nothing_of_a_private_file_is_told(scene):
    scene.write(scene.home / ".docker" / "config.json", {"auths": {"alice@ghcr.io": {}}, "x": 1})
    (scene.root / ".lsp.json").symlink_to("../.docker/config.json")
    (scene.root / "opencode.json").symlink_to("../.docker/config.json")
    (scene.root / "pyproject.toml").symlink_to("../.docker/config.json")
    [warning] = scene.load().warnings
    assert "alice" not in str(warning) and "auths" not in str(warning)


def test_the_next_file_counts_in_place_of_one_that_lies_outside(scene):
    elsewhere = scene.write(scene.home / "other.json", '{"timing": {"requestTimeoutMs": 5}}')
    (scene.root / ".lspkit").mkdir()
    (scene.root / ".lspkit" / "lsp.json").symlink_to(elsewhere)
    used = scene.project(USUAL, ".lsp.json")
    loaded = scene.load()
    assert (loaded.used, loaded.config.timing.request_timeout_ms) == (str(used), 7)
    assert len(loaded.warnings) == 1


@pytest.mark.parametrize("work_tree", [False, True])
def test_a_link_to_another_part_of_the_work_tree_is_followed(scene, work_tree):
    elsewhere = scene.write(scene.home / "shared.json", USUAL)
    (scene.root / ".lsp.json").symlink_to(elsewhere)
    if work_tree:
        (scene.home / ".git").mkdir()
    assert (scene.load().used is not None) == work_tree


def test_a_link_inside_of_the_project_is_followed_also_where_the_root_is_one(scene):
    scene.project(USUAL, "tools/lsp.json")
    (scene.root / ".lsp.json").symlink_to("tools/lsp.json")
    (scene.home / "link").symlink_to(scene.root)
    scene.root = scene.home / "link"
    loaded = scene.load()
    assert (loaded.used, loaded.warnings) == (str(scene.root / ".lsp.json"), ())


def test_a_link_that_leads_nowhere_is_a_missing_file(scene):
    file = scene.project("{}")
    file.unlink()
    file.symlink_to("none")
    assert scene.load().used is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(scene):
    file = scene.project("{}")
    file.chmod(0)
    assert "Permission denied" in str(unusable(file))
    as_project(scene, "Permission denied")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b"\xff\xfe{\0}\0", "not UTF-8"),
        (b"{}\0", "not valid JSON"),
        (b'{"a": "\0"}', "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"lsp": {"x": {"settings": {"a": ' + b"[" * 80 + b"]" * 80 + b"}}}}", "64 levels"),
        (b"[]", "expected an object, found a list"),
        (b"null", "expected an object, found null"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(scene, content, why):
    file = scene.project("")
    file.write_bytes(content)
    assert why in str(unusable(file))
    as_project(scene, why)


def test_a_byte_order_mark_is_passed_over(scene):
    scene.project("\ufeff" + USUAL)
    assert scene.load().config.timing.request_timeout_ms == 7


def test_a_line_with_bytes_that_are_no_text_is_named(scene):
    file = scene.project("")
    file.write_bytes(b"{\n\n\xff}")
    assert unusable(file).line == 3


def test_of_a_double_key_the_last_one_counts_with_a_warning(scene):
    file = scene.project('{"timing": {"requestTimeoutMs": 5,\n"requestTimeoutMs": 7}}')
    loaded = scene.load()
    assert loaded.config.timing.request_timeout_ms == 7
    [warning] = loaded.warnings
    assert str(warning).startswith(f"{file}:2: timing.requestTimeoutMs: ")
    assert "more than once" in str(warning)


def object_of(members: Iterable[str]) -> str:
    return "{" + ",".join(members) + "}"


MANY = {
    "servers": '{"lsp": ' + object_of(f'"s{at}": {{}}' for at in range(15_000)) + "}",
    "faults": '{"lsp": ' + object_of(f'"s{at}": {{"command": 1}}' for at in range(1000)) + "}",
    "keys": object_of(f'"timng{at}": 1' for at in range(15_000)),
    "words": '{"lsp": {"x": {"command": [' + "0," * 120_000 + "]}}}",
    "comments": "/*" * 120_000,
    "texts": '{"lsp": "' + "\\\\" * 120_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", [*MANY])
def test_a_file_with_very_many_of_something_takes_no_long_time(scene, what):
    file = scene.project(MANY[what])
    started = time.process_time()
    loaded = scene.load()
    assert loaded.used == str(file)
    assert 0 < len(loaded.warnings) <= 101
    assert time.process_time() - started < 4
