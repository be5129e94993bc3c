"""What TypeScript 7 makes of changes that it was told of, whatever it has seen by itself.

It adds up all changes of a file since the last question: deleted and created is changed, created
and deleted is nothing. But it looks for files whenever it is asked, also before it is told.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.protocol.capabilities import Registration
from lspkit.protocol.registrations import (
    CHANGED,
    CREATED,
    DELETED,
    METHOD,
    REPLACED,
    WatchRegistrations,
)
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.raw_client import RawClient
from tests.real.running import environment

pytestmark = pytest.mark.server

SERVER = "typescript-7"
RIGHT, WRONG = "export const n: number = 1;\n", 'export const n: string = "";\n'
OPTIONS = (
    '{"files": ["main.ts"], "compilerOptions": {"types": [], "module": "preserve", '
    '"moduleResolution": "bundler"}}'
)
MISSING, UNFIT = [2307], [2322]


class Told:
    """A project whose server knows only what it is told, or sees when it looks."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self._root = client.folder
        (definition,) = [one for one in BUILT_IN if one.id == SERVER]
        self._watched = WatchRegistrations(str(self._root), kinds=definition.disk.told_as)
        watchers = {"watchers": [{"globPattern": "**/*"}]}
        self._watched.add(Registration(id="", method=METHOD, options=watchers))
        self.folder = self._root / "folder"
        self.file = self.folder / "inner.ts"

    def put(self, text: str) -> None:
        """The file is there, with this text."""
        self.folder.mkdir(exist_ok=True)
        self.file.write_text(text, encoding="utf-8")

    def tell(self, kind: int) -> None:
        """Of the file, as lspkit does."""
        self._send(self.file, self._watched.kinds_to_send(str(self.file), kind))

    def tell_of_folder(self, kind: int) -> None:
        """And of the folder."""
        self._send(self.folder, (kind,))

    def look(self) -> list[int]:
        """Have it look around by a change of its configuration, and say what is wrong."""
        options = self._root / "tsconfig.json"
        options.write_text(OPTIONS.replace("preserve", "esnext"), encoding="utf-8")
        self._send(options, (CHANGED,))
        return self.ask()

    def ask(self) -> list[int]:
        """The codes of what is wrong."""
        return [one["code"] for one in self._client.pulled(self._root / "main.ts")]

    def _send(self, path: Path, kinds: tuple[int, ...]) -> None:
        changes = [{"uri": path.as_uri(), "type": kind} for kind in kinds]
        self._client.notify(METHOD, {"changes": changes})


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    real_servers.require(SERVER)
    project = tmp_path / "project"
    project.mkdir()
    (project / "tsconfig.json").write_text(OPTIONS, encoding="utf-8")
    main = project / "main.ts"
    text = "import { n } from './folder/inner';\nexport const m: number = n;\n"
    main.write_text(text, encoding="utf-8")
    argv, known = real_servers.command(SERVER), environment(project, SERVER)
    with RawClient(argv, project, known, "utf-16") as client:
        client.initialize()
        client.open(main, "typescript")
        yield Told(client)


def test_a_folder_that_it_has_missed_is_found_again(told: Told) -> None:
    told.put(RIGHT)
    assert told.ask() == []
    shutil.rmtree(told.folder)
    assert told.look() == MISSING
    told.put(RIGHT)
    told.tell(DELETED)
    told.tell_of_folder(DELETED)
    told.tell_of_folder(CREATED)
    told.tell(CREATED)
    assert told.ask() == []


@pytest.mark.parametrize("kind", [CREATED, REPLACED])
def test_a_file_that_it_has_read_before_it_was_told_is_read_again(told: Told, kind: int) -> None:
    assert told.ask() == MISSING
    told.put(RIGHT)
    # It does not look there, having missed the folder, until something calls for that.
    told.tell_of_folder(CREATED)
    assert told.ask() == []
    told.put(WRONG)
    told.tell(kind)
    assert told.ask() == UNFIT


def test_a_file_that_it_has_read_and_that_is_gone_is_missed(told: Told) -> None:
    assert told.ask() == MISSING
    told.put(RIGHT)
    told.tell_of_folder(CREATED)
    assert told.ask() == []
    told.file.unlink()
    told.tell(CREATED)
    told.tell(DELETED)
    assert told.ask() == MISSING


def test_a_file_that_comes_goes_and_comes_is_found(told: Told) -> None:
    assert told.ask() == MISSING
    told.put(WRONG)
    for kind in (CREATED, DELETED, CREATED):
        told.tell(kind)
    assert told.ask() == UNFIT
