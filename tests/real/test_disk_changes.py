"""What another process does to a module of a project, as the next check sees it.

A file imports a module that is not there. Another process creates the module, breaks it, mends it,
replaces it, renames it away and back, and deletes it; after each step the importer is checked,
without any wait in between. The importer is open all the time, the module never is: the server has
to hear of it, or to look for itself. The same holds for a configuration file of the project.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

import lspkit
from benchmarks.overlap_projects import COURSES, Course, Template
from lspkit import Verdict
from tests import real_servers
from tests.real.disk_courses import (
    CLEAN,
    DIRTY,
    TIMEOUT,
    UNKNOWN,
    elsewhere,
    group_of,
    verdict_soon,
    workspace,
)
from tests.real.running import TIMING
from tests.side_by_side import SideBySide, selected

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.timeout(300),  # several servers in one test, on a busy machine
    pytest.mark.usefixtures("programs_on_the_path"),
]

#: For rust-analyzer the importer has to be the file that names the module: there the error is.
RUST = Course(
    language="rust",
    files={"Cargo.toml": COURSES["rust-analyzer"].files["Cargo.toml"]},
    alone=Template("src/lib.rs", "LINE\n", "", ""),
    pair=Template(
        "src/lib.rs",
        "pub mod other;\nLINE\npub fn copy() -> i32 { other::value() }\n",
        "pub fn own() -> i32 { NUMBER }",
        'pub fn own() -> i32 { "NUMBER" }',
    ),
    other=COURSES["rust-analyzer"].other,
)
#: Those that take longest come first, and so together.
SLOWEST = ("jdtls", "rust-analyzer", "intelephense", "clangd")
MODULES: dict[str, Course] = {server: COURSES[server] for server in SLOWEST}
MODULES |= {server: course for server, course in COURSES.items() if course.pair is not None}
MODULES["rust-analyzer"] = RUST

#: What is true after each step.
STEPS = {
    "missing": DIRTY,
    "created": CLEAN,
    "broken": DIRTY,
    "mended": CLEAN,
    "replaced by a broken one": DIRTY,
    "replaced by a good one": CLEAN,
    "renamed away": DIRTY,
    "renamed back": CLEAN,
    "deleted": DIRTY,
}

#: What a server says instead of what is true, and why. A version of it, or of lspkit, that does
#: better fails the test until these tables say so.
INSTEAD: dict[str, tuple[dict[str, Verdict], str]] = {}
#: Servers whose silence proves nothing: they may leave it open, but must not be wrong.
MAY_NOT_KNOW = {
    "jdtls": "it publishes without a version, up to two seconds after a change",
    "intelephense": "it publishes without a version, a second after a change",
}
#: Servers that are told at once, and may tell of what was wrong before for a moment. Never that all
#: is well when it is not.
LATER = {"rust-analyzer": "it reads the files that it is told of in a thread of its own"}


def told(
    ws: lspkit.Workspace, importer: Path, other: Path, template: Template, *, later: bool
) -> dict[str, Verdict]:
    """The verdicts, step by step."""
    # Out of the project: some servers do not care what a file is called.
    away = ws.root.with_name("away" + other.suffix)
    good, bad = (template.make(1, broken=broken).content for broken in (False, True))
    acts = {
        "missing": None,
        "created": ("write", other, good),
        "broken": ("write", other, bad),
        "mended": ("write", other, good),
        "replaced by a broken one": ("rewrite", other, bad),
        "replaced by a good one": ("rewrite", other, good),
        "renamed away": ("move", other, str(away)),
        "renamed back": ("move", away, str(other)),
        "deleted": ("delete", other),
    }
    found = {}
    for step, act in acts.items():
        if act is not None:
            elsewhere(*act)
        found[step] = ws.check(importer, timeout=TIMEOUT).verdict
        if later and found[step] is not CLEAN:
            found[step] = verdict_soon(ws, importer, STEPS[step])
    return found


def module_course(server: str, place: Path) -> dict[str, Verdict]:
    """What the server says at each step."""
    course, folder = MODULES[server], place / "project"
    assert course.pair is not None
    assert course.other is not None
    with workspace(server, course, folder) as ws:
        importer = folder / course.pair.name
        importer.write_text(course.pair.make(1, broken=False).content)
        other = folder / course.other.name
        return told(ws, importer, other, course.other, later=server in LATER)


@pytest.mark.parametrize("module_server", list(MODULES))
def test_the_next_check_sees_what_another_process_did_to_a_module(
    module_server: str, results: SideBySide, request: pytest.FixtureRequest
) -> None:
    server, group = module_server, group_of(module_server, selected(request, "module_server"))
    found = results.result(server, {one: partial(module_course, one) for one in group})
    expected = STEPS | INSTEAD.get(server, ({}, ""))[0]
    if server in MAY_NOT_KNOW:
        found = {step: expected[step] if one is UNKNOWN else one for step, one in found.items()}
    assert found == expected


@pytest.mark.parametrize("server", ["ty", "pyright", "typescript-7"])
def test_a_module_that_is_replaced_by_one_with_the_same_time_is_read(
    server: str, tmp_path: Path
) -> None:
    course, folder = MODULES[server], tmp_path / "project"
    assert course.pair is not None
    assert course.other is not None
    found = []
    with workspace(server, course, folder) as ws:
        importer, other = (folder / one.name for one in (course.pair, course.other))
        importer.write_text(course.pair.make(1, broken=False).content)
        for broken in (False, True, False):
            draft = tmp_path / "draft"
            draft.write_text(course.other.make(1, broken=broken).content)
            os.utime(draft, (10**9, 10**9))
            elsewhere("move", draft, str(other))
            found.append(ws.check(importer, timeout=TIMEOUT).verdict)
    assert found == [CLEAN, DIRTY, CLEAN]


def test_the_exceptions_are_about_servers_that_are_tried() -> None:
    assert {*INSTEAD, *MAY_NOT_KNOW, *LATER} <= set(MODULES)


@dataclass(frozen=True)
class Setting:
    """A text that is in order or not, depending on a file that configures the server."""

    server: str
    name: str
    text: str
    configuration: str
    #: `FOLDER` stands for that of the project.
    strict: str
    lax: str
    #: Other files of the project.
    files: dict[str, str] = field(default_factory=dict)
    #: Whether the server may tell of the old configuration for a moment after it was told of the
    #: new one. Never that all is well when it is not.
    later: bool = False

    def __str__(self) -> str:
        return f"{self.server}-{self.configuration}"


#: What is true of the text, as the configuration changes.
WANTED = [DIRTY, CLEAN, DIRTY, CLEAN]

_TYPED = 'own: int = "a"\n'
_TSCONFIG = (
    '{"compilerOptions": {"strict": STRICT, "noEmit": true, "lib": ["es2020"], "types": []},'
    ' "include": ["*.ts", "*.svelte"]}\n'
)
_UNTYPED = "export function own(given) { return given; }\n"
_DEBUGGER = "debugger;\n"


#: Packages that a project has to have.
_LINKS = {"eslint": ("eslint",), "svelte": COURSES["svelte"].links}


def project(server: str, files: dict[str, str]) -> Course:
    """With these files, and what the server needs."""
    folders = Template(next(iter(files)), "", "", "")
    return Course("", folders, files=files, links=_LINKS.get(server, ()))


def _tsconfig(
    server: str, name: str = "tsconfig.json", files: dict[str, str] | None = None
) -> Setting:
    strict, lax = (_TSCONFIG.replace("STRICT", word) for word in ("true", "false"))
    return Setting(server, "main.ts", _UNTYPED, name, strict, lax, files or {})


def _pyproject(server: str, lax: str, text: str = _TYPED) -> Setting:
    return Setting(server, "main.py", text, "pyproject.toml", "", lax)


def _rule(server: str, name: str, strict: str, files: dict[str, str] | None = None) -> Setting:
    lax = strict.replace('"error"', '"off"')
    return Setting(server, "main.js", _DEBUGGER, name, strict, lax, files or {})


def _flags(name: str, strict: str, lax: str) -> Setting:
    text = "#ifndef LAX\n#error strict\n#endif\n"
    return Setting("clangd", "main.cpp", text, name, strict, lax)


_COMMANDS = '[{"directory": "FOLDER", "file": "main.cpp", "command": "c++ FLAG -c main.cpp"}]'
_CARGO = COURSES["rust-analyzer"].files["Cargo.toml"]
_LAX_PYRIGHT = '{"reportAssignmentType": false}'

#: Those that take longest come first, and so together.
SETTINGS = [
    replace(
        _tsconfig("svelte"), name="A.svelte", text=f'<script lang="ts">\n{_UNTYPED}</script>\n'
    ),
    Setting(
        "rust-analyzer",
        "src/lib.rs",
        '#[cfg(feature = "strict")]\npub fn own() -> i32 { "a" }\n',
        "Cargo.toml",
        _CARGO + '\n[features]\nstrict = []\ndefault = ["strict"]\n',
        _CARGO + "\n[features]\nstrict = []\n",
        # cargo itself reads it at once; but what the server knows is from before until it has
        # asked cargo.
        later=True,
    ),
    _pyproject("pyright", "[tool.pyright]\nreportAssignmentType = false\n"),
    Setting("pyright", "main.py", _TYPED, "pyrightconfig.json", "{}", _LAX_PYRIGHT),
    Setting(
        "pyright",
        "main.py",
        _TYPED,
        "base.json",
        "{}",
        _LAX_PYRIGHT,
        {"pyrightconfig.json": '{"extends": "./base.json"}'},
    ),
    _pyproject("basedpyright", "[tool.basedpyright]\nreportAssignmentType = false\n"),
    _pyproject("ty", '[tool.ty.rules]\ninvalid-assignment = "ignore"\n'),
    _pyproject("pyrefly", "[tool.pyrefly.errors]\nbad-assignment = false\n"),
    _pyproject("zuban", '[tool.mypy]\ndisable_error_code = ["assignment"]\n'),
    Setting("zuban", "main.py", _TYPED, "mypy.ini", "", "[mypy]\ndisable_error_code=assignment\n"),
    _pyproject("ruff", '[tool.ruff.lint]\nignore = ["F821"]\n', "print(missing)\n"),
    Setting(
        "ruff",
        "main.py",
        "print(missing)\n",
        "base.toml",
        "",
        '[lint]\nignore = ["F821"]\n',
        {"ruff.toml": 'extend = "base.toml"\n'},
    ),
    _tsconfig("typescript"),
    _tsconfig("vtsls"),
    _tsconfig("typescript-7"),
    _tsconfig("typescript-7", "base.json", {"tsconfig.json": '{"extends": "./base.json"}'}),
    _flags(
        "compile_commands.json",
        _COMMANDS.replace("FLAG", "-DSTRICT"),
        _COMMANDS.replace("FLAG", "-DLAX"),
    ),
    _flags("compile_flags.txt", "-DSTRICT\n", "-DLAX\n"),
    _flags(".clangd", "", "CompileFlags:\n  Add: [-DLAX]\n"),
    _rule("eslint", "eslint.config.js", 'module.exports = [{rules: {"no-debugger": "error"}}];\n'),
    _rule(
        "eslint",
        "shared.js",
        'module.exports = {"no-debugger": "error"};\n',
        {"eslint.config.js": 'module.exports = [{rules: require("./shared.js")}];\n'},
    ),
    _rule("oxlint", ".oxlintrc.json", '{"rules": {"no-debugger": "error"}}'),
    _rule(
        "oxlint",
        "base.json",
        '{"rules": {"no-debugger": "error"}}',
        {".oxlintrc.json": '{"extends": ["./base.json"]}'},
    ),
    _rule("biome", "biome.json", '{"linter": {"rules": {"suspicious": {"noDebugger": "error"}}}}'),
    _rule(
        "biome",
        "base.json",
        '{"linter": {"rules": {"suspicious": {"noDebugger": "error"}}}}',
        {"biome.json": '{"extends": ["./base.json"]}'},
    ),
]


def setting_course(setting: Setting, place: Path) -> list[Verdict]:
    """What the server says as the configuration gets stricter and laxer."""
    folder = place / "project"
    course = project(setting.server, {setting.name: setting.text, **setting.files})
    path, configuration = folder / setting.name, folder / setting.configuration
    found = []
    with workspace(setting.server, course, folder) as ws:
        for verdict in WANTED:
            text = setting.strict if verdict is DIRTY else setting.lax
            elsewhere("write", configuration, text.replace("FOLDER", str(folder)))
            first = ws.check(path, timeout=TIMEOUT).verdict
            if setting.later and first is not CLEAN:
                first = verdict_soon(ws, path, verdict)
            found.append(first)
    return found


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_next_check_goes_by_the_configuration_that_another_process_wrote(
    setting: Setting, results: SideBySide, request: pytest.FixtureRequest
) -> None:
    group = group_of(setting, selected(request, "setting"))
    runs = {str(one): partial(setting_course, one) for one in group}
    assert results.result(str(setting), runs) == WANTED


@pytest.mark.parametrize("server", ["pyright", "basedpyright"])
def test_a_pyrightconfig_that_is_new_beside_another_file_counts(
    server: str, tmp_path: Path
) -> None:
    """The server itself takes no notice of it."""
    folder = tmp_path / "project"
    lax = f"[tool.{server}]\nreportAssignmentType = false\n"
    course = project(server, {"main.py": _TYPED, "pyproject.toml": lax})
    with workspace(server, course, folder) as ws:
        assert ws.check("main.py", timeout=TIMEOUT).verdict is CLEAN
        elsewhere("write", folder / "pyrightconfig.json", "{}")
        assert ws.check("main.py", timeout=TIMEOUT).verdict is DIRTY


@pytest.mark.parametrize(
    "setting",
    [one for one in SETTINGS if one.files and one.server != "biome"],
    ids=str,
)
def test_a_base_of_the_configuration_that_was_missing_counts_once_it_is_there(
    setting: Setting, tmp_path: Path
) -> None:
    """Missing at the start, and then for a moment. Biome reports nothing while one is missing."""
    folder = tmp_path / "project"
    course = project(setting.server, {setting.name: setting.text, **setting.files})
    base = folder / setting.configuration
    with workspace(setting.server, course, folder) as ws:
        for _ in range(2):
            without = ws.check(setting.name, timeout=TIMEOUT).verdict
            wanted = CLEAN if without is DIRTY else DIRTY
            elsewhere("write", base, setting.strict if wanted is DIRTY else setting.lax)
            assert ws.check(setting.name, timeout=TIMEOUT).verdict is wanted
            elsewhere("unlink", base)


def test_a_linter_that_a_new_file_calls_for_is_asked_at_once(
    tmp_path: Path,
) -> None:
    for server in ("eslint", "typescript"):
        real_servers.require(server)
    course = project("eslint", {"main.js": _DEBUGGER, "package.json": "{}"})
    course.write(tmp_path, real_servers.NODE_MODULES)
    with lspkit.Workspace(tmp_path, config={"timing": TIMING}, trusted=True) as ws:
        assert ws.check("main.js", timeout=TIMEOUT).verdict is CLEAN
        rules = 'module.exports = [{rules: {"no-debugger": "error"}}];\n'
        elsewhere("write", tmp_path / "eslint.config.js", rules)
        assert ws.check("main.js", timeout=TIMEOUT).verdict is DIRTY


def test_oxlint_goes_by_a_gitignore_that_has_changed(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    files = {"main.js": _DEBUGGER, ".oxlintrc.json": '{"rules": {"no-debugger": "error"}}'}
    found = []
    with workspace("oxlint", project("oxlint", files), folder) as ws:
        for ignored in ("other.js", "main.js", "other.js"):
            elsewhere("write", folder / ".gitignore", f"{ignored}\n")
            found.append(ws.check("main.js", timeout=TIMEOUT).verdict)
    assert found == [DIRTY, UNKNOWN, DIRTY]


def test_svelte_sees_types_also_after_a_file_was_created(tmp_path: Path) -> None:
    """In a project that does not say where its files are, it takes up node_modules then."""
    folder = tmp_path / "project"
    component = '<script lang="ts">\nlet own: number = VALUE;\n</script>\n<p>{own}</p>\n'
    files = {
        "A.svelte": component.replace("VALUE", "1"),
        "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}}',
    }
    folder.mkdir()
    (folder / "node_modules").symlink_to(real_servers.NODE_MODULES)
    with workspace("svelte", project("", files), folder) as ws:
        assert ws.check("A.svelte", timeout=TIMEOUT).verdict is CLEAN
        ws.write("util.ts", "export const one = 1;\n")
        report = ws.write("A.svelte", component.replace("VALUE", '"one"'), timeout=TIMEOUT)
        assert report.verdict is DIRTY
        ws.write("more.ts", "export const more = 1;\n")
        assert ws.check("A.svelte", timeout=TIMEOUT).verdict is DIRTY
