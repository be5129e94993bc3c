"""Which files decide what servers there are, and what they go by."""

from __future__ import annotations

from pathlib import Path

import pytest

from lspkit.protocol.registrations import CREATED
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import ConfigFiles, DiskReactions
from lspkit.servers.project.config_inputs import Inputs, Markers, imported_by
from lspkit.servers.project.file_relevance import is_named


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("eslint.config.js", True),
        ("pyproject.toml", True),
        ("go.work", True),
        ("deno.json", True),
        ("my.csproj", True),
        ("main.py", False),
        ("csproj", False),
    ],
)
def test_the_markers_of_all_servers_are_known(name: str, is_one: bool) -> None:
    assert Markers(BUILT_IN).hold(f"/project/deep/{name}") is is_one


def test_without_servers_there_are_no_markers() -> None:
    assert not Markers(()).hold("/project/pyproject.toml")
    assert not Markers(()).hold("")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/project/top.ini", True),
        ("/project/deep/top.ini", False),
        ("/project/any.ini", True),
        ("/project/deep/any.ini", True),
        ("/project/deep/any.cfg", True),
        ("/project/many.ini", False),
    ],
)
def test_a_name_with_a_slash_counts_only_in_the_root(path: str, named: bool) -> None:
    assert is_named(path, ("/top.ini", "any.*"), "/project") is named


def inputs(root: Path, **fields: object) -> Inputs:
    config = ConfigFiles(**fields)  # type: ignore[arg-type]
    row = Definition(
        id="x",
        family="x",
        languages={},
        disk=DiskReactions(config=config, packages="node_modules"),
    )
    return Inputs(row, str(root))


def test_a_file_counts_only_inside_the_root(tmp_path: Path) -> None:
    held = inputs(tmp_path / "inner", files=("a.ini",))
    assert held.hold(str(tmp_path / "inner" / "deep" / "a.ini"))
    assert not held.hold(str(tmp_path / "a.ini"))


def test_a_file_above_the_root_may_count(tmp_path: Path) -> None:
    held = inputs(tmp_path / "inner", files=("/a.ini",), above=True)
    assert held.hold(str(tmp_path / "inner" / "a.ini"))
    assert held.hold(str(tmp_path / "a.ini"))
    assert not held.hold(str(tmp_path / "b.ini"))
    assert not held.hold(str(tmp_path / "beside" / "a.ini"))
    assert not held.hold(str(tmp_path / "inner" / "deep" / "a.ini"))


def test_where_one_file_counts_the_others_do_not_while_it_is_there(tmp_path: Path) -> None:
    held = inputs(tmp_path, files=("/first.ini", "/second.ini"), first_only=True)
    assert held.hold(str(tmp_path / "second.ini"))
    (tmp_path / "first.ini").touch()
    assert held.hold(str(tmp_path / "first.ini"))
    assert not held.hold(str(tmp_path / "second.ini"))


@pytest.mark.parametrize(
    "text",
    [
        "import x from './base.js'",
        'const x = require("./base")',
        "extends: ['../project/base.js']",
        "await import(`./base.js`)",
        "export * from './base.js'",
        "require.resolve('./base')",
        "new URL('./base.js', import.meta.url)",
        "fs.readFileSync('./base.js')",
        "compat.extends('./base.js')",
        'extend = "base.js"',
    ],
)
def test_what_a_configuration_names_counts(tmp_path: Path, text: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "conf.js").write_text(text)
    found = {str(root / "conf.js"), str(root / "base.js")}
    assert imported_by(str(root), ("conf.js", "missing.js")) >= found
    (root / "base.js").touch()
    assert imported_by(str(root), ("conf.js", "missing.js")) - {str(root / "base.json")} == found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tsconfig.json", '{"compilerOptions": {"rootDir": "./src"}, "include": ["./src"]}'),
        ("tsconfig.json", '{"files": ["./src/index.ts"], "compilerOptions": {"paths": {}}}'),
        ("tsconfig.json", '{"extends": "./src"}'),
        ("pyproject.toml", '[tool.coverage.json]\noutput = "coverage.json"'),
        ("pyproject.toml", '[tool.mypy]\nplugins = ["./plugin.py"]'),
        ("eslint.config.js", "export default [{files: ['./src/index.ts'], ignores: ['a.js']}]"),
    ],
)
def test_sources_and_results_that_a_configuration_names_are_none_of_it(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "src").mkdir()
    others = ("src/index.ts", "src/a.ts", "coverage.json", "plugin.py", "a.js")
    for other in others:
        (tmp_path / other).touch()
    (tmp_path / name).write_text(text)
    held = inputs(tmp_path, imports=(name,))
    held.read()
    assert not any(held.hold(str(tmp_path / other)) for other in others)


def test_a_source_that_is_edited_is_not_held(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "index.ts").write_text("import './a'")
    (tmp_path / "src" / "a.ts").touch()
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"rootDir": "./src"}}')
    (tmp_path / "eslint.config.js").write_text("[{parserOptions: {project: './tsconfig.json'}}]")
    held = inputs(tmp_path, imports=("eslint.config.js",))
    held.read()
    assert held.hold(str(tmp_path / "tsconfig.json"))
    assert not held.hold(str(tmp_path / "src" / "index.ts"))
    assert not held.hold(str(tmp_path / "src" / "a.ts"))


def test_a_base_may_have_a_base_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text('{"extends": ["./a"]}')
    (tmp_path / "a.json").write_text('{"extends": "./b.json"}')
    (tmp_path / "b.json").write_text("{}")
    found = {str(tmp_path / name) for name in ("tsconfig.json", "a.json", "b.json")}
    assert imported_by(str(tmp_path), ("tsconfig.json",)) == found


@pytest.mark.parametrize(
    ("name", "text", "base"),
    [
        (".oxlintrc.json", '{"extends": ["./base.json"]}', "base.json"),
        ("tsconfig.json", '{"extends": "./base"}', "base.json"),
        ("ruff.toml", 'extend = "base.toml"', "base.toml"),
        ("eslint.config.js", "import rules from './rules/index.js'", "rules/index.js"),
    ],
)
def test_a_base_that_is_missing_is_held_for_when_it_is_there(
    tmp_path: Path, name: str, text: str, base: str
) -> None:
    (tmp_path / name).write_text(text)
    held = inputs(tmp_path, imports=(name,))
    held.read()
    assert held.hold(str(tmp_path / base), CREATED)
    assert not held.hold(str(tmp_path / "other.json"), CREATED)


def test_a_file_that_would_come_before_the_imported_one_is_held(tmp_path: Path) -> None:
    (tmp_path / "conf.js").write_text("import './base'")
    (tmp_path / "base.cjs").touch()
    held = inputs(tmp_path, imports=("conf.js",))
    held.read()
    assert held.hold(str(tmp_path / "base.js"), CREATED)
    assert not held.hold(str(tmp_path / "base.json"), CREATED)


def test_a_base_that_comes_later_may_have_a_base_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "conf.json").write_text('{"extends": "./a.json"}')
    held = inputs(tmp_path, imports=("conf.json",))
    held.read()
    assert not held.hold(str(tmp_path / "b.json"), CREATED)
    (tmp_path / "a.json").write_text('{"extends": "./b.json"}')
    assert held.hold(str(tmp_path / "a.json"), CREATED)
    assert held.hold(str(tmp_path / "b.json"), CREATED)


def test_a_missing_package_is_no_file_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "tsconfig.json").write_text('{"extends": "@tsconfig/node20/tsconfig.json"}')
    assert imported_by(str(tmp_path), ("tsconfig.json",)) == frozenset()


def test_imports_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("import './b.js'")
    (tmp_path / "b.js").write_text("import './a.js'")
    assert len(imported_by(str(tmp_path), ("a.js",))) == 2


def test_a_package_of_the_same_workspace_counts_with_all_its_files(tmp_path: Path) -> None:
    own, fetched, app = (tmp_path / name for name in ("own", "app/node_modules/fetched", "app"))
    own.mkdir()
    fetched.mkdir(parents=True)
    (app / "node_modules" / "@our").mkdir()
    (app / "node_modules" / "@our" / "rules").symlink_to(own)
    (app / "conf.js").write_text("import a from '@our/rules/x';\nimport b from 'fetched';\n")
    held = inputs(app, imports=("conf.js",))
    held.read()
    assert held.hold(str(own / "deep" / "x.js"))
    assert not held.hold(str(fetched / "index.js"))


def test_a_configuration_that_changes_may_import_something_else(tmp_path: Path) -> None:
    held = inputs(tmp_path, files=("conf.js",), imports=("conf.js",))
    (tmp_path / "base.js").touch()
    held.read()
    assert not held.hold(str(tmp_path / "base.js"))
    (tmp_path / "conf.js").write_text("import './base.js'")
    assert held.hold(str(tmp_path / "conf.js"))
    assert held.hold(str(tmp_path / "base.js"))


@pytest.mark.parametrize(
    ("path", "is_held"),
    [
        ("", True),
        ("dep", True),
        ("dep/index.js", True),
        ("@scope/dep/package.json", True),
        (".pnpm/dep@1.0.0", True),
        (".pnpm/lock.yaml", True),
        (".package-lock.json", True),
        (".modules.yaml", True),
        (".vite", False),
        (".vite/deps/x.js", False),
        (".vite-temp", False),
        (".cache/x/package.json", False),
        (".bin/eslint", False),
        (".tmp", False),
        ("dep/.package-lock.json", False),
        ("~ep/__init__.py", False),
        ("dep/__pycache__/a.pyc", False),
    ],
)
def test_among_packages_only_what_is_one_is_held(tmp_path: Path, path: str, is_held: bool) -> None:
    held = inputs(tmp_path, packages=True)
    assert held.hold(str(tmp_path / "node_modules" / path)) is is_held


def test_without_packages_nothing_of_the_root_is_held(tmp_path: Path) -> None:
    assert not inputs(tmp_path).hold(str(tmp_path / "node_modules" / "dep"))
    assert not inputs(tmp_path, packages=True).hold(str(tmp_path / "a.js"))


def test_packages_that_a_server_reads_only_once_are_watched_for_it() -> None:
    rows = [one for one in BUILT_IN if one.disk.config is not None and one.disk.config.packages]
    assert rows
    assert all(one.disk.packages for one in rows)
