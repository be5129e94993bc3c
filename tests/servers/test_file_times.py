"""Files whose time and size hide that they have changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lspkit.protocol.registrations import CHANGED, CREATED, DELETED, REPLACED
from lspkit.servers.adapters.systems_adapters import Times
from lspkit.servers.definition import Definition
from lspkit.servers.project.config_inputs import Inputs

#: Nanoseconds: a time long ago, and one that is not here yet.
LONG_AGO, LATER = 10**18, 4 * 10**18


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.go"


def put(path: Path, when: int, text: str = "text") -> str:
    """Another content with this time, in another file."""
    aside = path.with_name("aside")
    aside.write_text(text)
    os.utime(aside, ns=(when, when))
    aside.replace(path)
    return str(path)


@pytest.mark.parametrize("kind", [CHANGED, REPLACED])
def test_a_time_from_before_the_process_hides_a_change(path: Path, kind: int) -> None:
    assert Times().hide(put(path, LONG_AGO), kind)


def test_a_new_file_may_be_as_old_as_it_likes(path: Path) -> None:
    assert not Times().hide(put(path, LONG_AGO), CREATED)


def test_a_new_time_hides_nothing(path: Path) -> None:
    times = Times()
    for when in range(3):
        assert not times.hide(put(path, LATER + when), CHANGED)


def test_the_same_time_as_at_the_last_change_hides_one(path: Path) -> None:
    times = Times()
    assert not times.hide(put(path, LATER), CHANGED)
    assert times.hide(put(path, LATER), CHANGED)


def test_another_size_hides_nothing(path: Path) -> None:
    times = Times()
    assert not times.hide(put(path, LATER), CHANGED)
    assert not times.hide(put(path, LATER, "longer"), CHANGED)


def test_who_hears_twice_of_one_change_is_not_misled(path: Path) -> None:
    times = Times()
    assert not times.hide(put(path, LATER), CHANGED)
    assert not times.hide(str(path), REPLACED)


def test_a_file_that_comes_back_with_its_time_hides_a_change(path: Path) -> None:
    times = Times()
    times.hide(put(path, LATER), CHANGED)
    path.unlink()
    assert not times.hide(str(path), DELETED)
    assert times.hide(put(path, LATER), CREATED)


def test_so_does_one_that_was_there_before_the_process(path: Path) -> None:
    times = Times()
    assert not times.hide(str(path), DELETED)
    assert times.hide(put(path, LONG_AGO), CREATED)


def test_a_file_that_is_gone_again_hides_nothing(path: Path) -> None:
    assert not Times().hide(str(path), CHANGED)


def test_only_sources_in_the_root_of_a_server_that_goes_by_times_count(tmp_path: Path) -> None:
    def definition(id: str) -> Definition:
        return Definition(id=id, family=id, languages={".go": "go"})

    root = tmp_path / "root"
    root.mkdir()
    source, other, outside = root / "a.go", root / "a.log", tmp_path / "a.go"
    for path in (source, other, outside):
        put(path, LONG_AGO)
    held = Inputs(definition("gopls"), str(root))
    assert not held.hold(str(other))
    assert not held.hold(str(outside))
    assert not Inputs(definition("another"), str(root)).hold(str(source))
    assert held.hold(put(source, LONG_AGO))


def test_a_new_process_knows_no_times(tmp_path: Path) -> None:
    held = Inputs(Definition(id="gopls", family="go", languages={".go": "go"}), str(tmp_path))
    assert not held.hold(put(tmp_path / "a.go", LATER))
    held.read()
    assert not held.hold(put(tmp_path / "a.go", LATER), CREATED)
    assert held.hold(put(tmp_path / "a.go", LATER))


@pytest.mark.parametrize("name", ["a.pyi", "__init__.py", "a.py"])
def test_zuban_is_replaced_when_a_stub_or_a_package_comes_or_goes(
    tmp_path: Path, name: str
) -> None:
    held = Inputs(Definition(id="zuban", family="python", languages={}), str(tmp_path / "root"))
    for kind in (CREATED, DELETED):
        assert held.hold(str(tmp_path / "root" / "p" / name), kind) is (name != "a.py")
        assert not held.hold(str(tmp_path / name), kind)
    assert not held.hold(str(tmp_path / "root" / "p" / name), CHANGED)
