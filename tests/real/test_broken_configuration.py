"""A configuration that a server cannot read: nothing is proven, and the finding is at that file."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from lspkit import Severity, Workspace
from tests.real.disk_courses import CLEAN, TIMEOUT, UNKNOWN, elsewhere, workspace
from tests.real.test_disk_changes import project

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.timeout(240),  # some are started four times
    pytest.mark.usefixtures("programs_on_the_path"),
]

_PYTHON = "main.py", "own: int = 1\n"
_SCRIPT = "main.ts", "export const own = 1;\n"
_NO_BASE = '{"extends": "./base.json", "compilerOptions": {"types": []}}\n'
_STRICT = '{"compilerOptions": {"strict": "yes", "types": []}}\n'
_FINE = '{"compilerOptions": {"strict": true, "types": []}}\n'
_TYPESCRIPT = [
    (server, _SCRIPT, "tsconfig.json", _FINE, broken, words)
    for server in ("typescript", "vtsls", "typescript-7")
    for broken, words in ((_STRICT, "requires a value of type boolean"), (_NO_BASE, "base.json"))
]


@pytest.mark.parametrize(
    ("server", "source", "name", "fine", "broken", "words"),
    [
        ("ty", _PYTHON, "ty.toml", "[rules]\n", "[rules\n", "TOML parse error at line 1, column 7"),
        ("ty", _PYTHON, "ty.toml", "", '[rules]\nunresolved-import = "loud"\n', "variant `loud`"),
        ("ruff", _PYTHON, "ruff.toml", "", "[lint\n", "TOML parse error"),
        ("pyright", _PYTHON, "pyrightconfig.json", "{}", "{ nope", "could not be parsed"),
        ("pyright", _PYTHON, "pyrightconfig.json", "{}", '{"extends": "./no.json"}', "no.json"),
        (
            "basedpyright",
            _PYTHON,
            "pyrightconfig.json",
            "{}",
            '{"reportMissingImports": "loud"}',
            'Config "reportMissingImports" entry must be',
        ),
        *_TYPESCRIPT,
    ],
)
def test_a_file_is_unknown_as_long_as_the_configuration_cannot_be_read(
    server: str,
    source: tuple[str, str],
    name: str,
    fine: str,
    broken: str,
    words: str,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "project"
    path, configuration = folder / source[0], folder / name
    with workspace(server, project(server, {source[0]: source[1], name: broken}), folder) as ws:
        report = ws.check(path, timeout=TIMEOUT)
        assert report.verdict is UNKNOWN
        assert report.why.startswith(f"{server}: it cannot read its configuration: ")
        assert words in report.why
        finding = ws.diagnostics()[configuration][0]
        assert finding.severity is Severity.ERROR
        assert words in finding.message
        assert ws.check(path, text=source[1] + "\n", timeout=TIMEOUT).verdict is UNKNOWN
        for text, verdict in ((fine, CLEAN), (broken, UNKNOWN), (fine, CLEAN)):
            elsewhere("write", configuration, text)
            assert ws.check(path, timeout=TIMEOUT).verdict is verdict
        if server != "vtsls":  # it publishes about the file as well, and late
            assert ws.diagnostics() == {}


def _processes(ws: Workspace) -> list[int]:
    return [root.pid for row in ws.status().rows for root in row.roots if root.pid]


@pytest.mark.parametrize(
    ("server", "name", "extending", "fine", "broken"),
    [
        ("pyright", "shared.json", '{"extends": "./shared.json"}', "{}", "{ nope"),
        ("ruff", "shared.toml", 'extend = "shared.toml"\n', "", "[lint\n"),
    ],
)
def test_only_a_change_of_the_broken_files_restarts_the_server(
    server: str, name: str, extending: str, fine: str, broken: str, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    path = folder / _PYTHON[0]
    first = "pyrightconfig.json" if server == "pyright" else "ruff.toml"
    files = {_PYTHON[0]: _PYTHON[1], first: extending, name: broken}
    with workspace(server, project(server, files), folder) as ws:
        assert ws.check(path, timeout=TIMEOUT).verdict is UNKNOWN
        [process] = _processes(ws)
        elsewhere("write", folder / "data.json", "{}")
        elsewhere("write", folder / "data.toml", "")
        assert ws.check(path, timeout=TIMEOUT).verdict is UNKNOWN
        assert _processes(ws) == [process]
        elsewhere("write", folder / name, fine)
        assert ws.check(path, timeout=TIMEOUT).verdict is CLEAN


def test_it_is_unknown_also_while_files_of_data_change(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    path, configuration, is_over = folder / _SCRIPT[0], folder / "tsconfig.json", threading.Event()
    files = {_SCRIPT[0]: _SCRIPT[1], configuration.name: _STRICT}

    def change_data() -> None:
        while not is_over.wait(0.002):
            (folder / "data.json").write_text(str(time.monotonic()), encoding="utf-8")

    with workspace("typescript-7", project("typescript-7", files), folder) as ws:
        assert ws.check(path, timeout=TIMEOUT).verdict is UNKNOWN
        changing = threading.Thread(target=change_data)
        changing.start()
        try:
            for spaces in range(5):
                elsewhere("write", configuration, _STRICT + " " * spaces)
                assert ws.check(path, timeout=TIMEOUT).verdict is UNKNOWN
        finally:
            is_over.set()
            changing.join()
