"""References, renames and calls in files that the server leaves out of its answer.

It still reads the project, its configuration includes a part of it, or the file belongs to another
root. All questions are the first ones of their workspace.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import lspkit
from lspkit.answer import INSTALLED_COPY, UNEXPLAINED, Answer
from lspkit.edit_types import FileEdit
from lspkit.operations.renaming.rename import changed_places
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING, workspace
from tests.real.test_vue import FILES as VUE

pytestmark = [pytest.mark.server, pytest.mark.slow]

TIMEOUT = 60.0
CHECKERS = ["basedpyright", "pyright", "ty", "pyrefly"]
SCRIPTS = ["typescript", "typescript-7"]

_PROJECT = '[project]\nname = "shop"\nversion = "1"\n'
_INCLUDE = 'include = ["src"]\n'
#: A package whose configuration includes only its sources.
PACKAGE = {
    "pyproject.toml": f"{_PROJECT}[tool.pyright]\n{_INCLUDE}",  # basedpyright reads it as well
    "src/shop/__init__.py": 'from .prices import price_of\n\n__all__ = ["price_of"]\n',
    "src/shop/prices.py": "def price_of(name: str) -> int:\n    return len(name)\n",
    "tests/test_prices.py": "from shop.prices import price_of\n\nprice_of('a')\n",
    "scripts/run.py": "import shop\n\n\ndef run() -> int:\n    return shop.price_of('b')\n",
}
USES = ["scripts/run.py:5", "src/shop/__init__.py:1", "tests/test_prices.py:1"]
USES += ["tests/test_prices.py:3"]
DECLARED = "src/shop/prices.py:1"

#: Two packages with a root of their own, of which the second uses the first.
_OUTSIDE = "[tool.pyright]\nextraPaths = ['../a']\n[tool.ty.environment]\nextra-paths = ['../a']\n"
ROOTS = {
    "a/pyproject.toml": _PROJECT,
    "a/prices.py": "def price_of(name: str) -> int:\n    return len(name)\n",
    "b/pyproject.toml": _PROJECT + _OUTSIDE,
    "b/main.py": (
        "from prices import price_of\n\n\ndef total() -> int:\n    return price_of('a')\n\n\n"
        "print(price_of('b'))\n"
    ),
}
_OPTIONS = '{"compilerOptions": {"strict": true, "module": "esnext", "types": [], '
_OPTIONS += '"moduleResolution": "bundler"}, "include": ["src"]}'
PACKAGES = {
    "package.json": '{"name": "all", "private": true, "workspaces": ["packages/*"]}',
    "packages/a/package.json": '{"name": "@shop/a", "main": "src/a.ts", "types": "src/a.ts"}',
    "packages/a/tsconfig.json": _OPTIONS,
    "packages/a/src/a.ts": "export function priceOf(n: number): number {\n  return n;\n}\n",
    "packages/b/package.json": '{"name": "@shop/b"}',
    "packages/b/tsconfig.json": _OPTIONS,
    "packages/b/src/b.ts": "import { priceOf } from '@shop/a';\n\npriceOf(1);\n",
}
PRICES = "export function priceOf(n: number): number {\n  return n;\n}\n"
#: A component that uses a script, in its own script and in its template.
_SCRIPT = "lang=\"ts\">\nimport { priceOf } from './prices';\nconst n = priceOf(1);\n</script>\n"
COMPONENTS = {
    "shop.vue": f"<script setup {_SCRIPT}<template><p>{{{{ priceOf(n) }}}}</p></template>\n",
    "shop.svelte": f"<script {_SCRIPT}<p>{{priceOf(n)}}</p>\n",
}


def planted(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def lines(ws: lspkit.Workspace, places: list[lspkit.Location]) -> set[str]:
    return {f"{place.path.relative_to(ws.root)}:{place.line}" for place in places if place.path}


def references_in_time(ws: lspkit.Workspace, file: str, symbol: str) -> Answer[lspkit.Location]:
    """The first complete references: on a busy machine, another root may not be ready at first."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        places = ws.references(file, symbol=symbol, timeout=TIMEOUT)
        if places.complete or time.monotonic() > deadline:
            return places


def opened(server: str, folder: Path) -> lspkit.Workspace:
    real_servers.require(server)
    return workspace(folder, server, argv=real_servers.command(server))


def opened_with_components(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str]
) -> lspkit.Workspace:
    """A workspace for components and the scripts that they use, on a PATH with all servers."""
    for server in ("typescript", "vue", "svelte"):
        real_servers.require(server)
    (folder / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    monkeypatch.setenv("PATH", f"{real_servers.PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    wanted = ("typescript", "vue", "vue-typescript", "svelte")
    others = {server.id: {"disabled": True} for server in BUILT_IN if server.id not in wanted}
    config = {"lsp": others, "timing": TIMING}
    return lspkit.Workspace(planted(folder / "project", files), config=config)


@pytest.mark.parametrize("server", CHECKERS)
def test_the_first_references_have_files_that_the_configuration_leaves_out(
    server: str, tmp_path: Path
) -> None:
    with opened(server, planted(tmp_path / "project", PACKAGE)) as ws:
        found = ws.references("src/shop/prices.py", symbol="price_of", timeout=TIMEOUT)
        assert lines(ws, found) >= {DECLARED, *USES}
        assert found.complete


@pytest.mark.parametrize("server", CHECKERS)
def test_the_first_rename_reaches_all_users_and_the_public_names(
    server: str, tmp_path: Path
) -> None:
    folder = planted(tmp_path / "project", PACKAGE)
    with opened(server, folder) as ws:
        edit = ws.rename(
            "src/shop/prices.py", symbol="price_of", new_name="cost_of", timeout=TIMEOUT
        )
        applied = ws.apply(edit, check="project", timeout=TIMEOUT)
        assert applied.unchecked == ()
    for name, text in PACKAGE.items():
        assert (folder / name).read_text() == text.replace("price_of", "cost_of")


@pytest.mark.parametrize("server", ["pyright", "ty"])
def test_another_root_is_searched_renamed_and_asked_for_callers(
    server: str, tmp_path: Path
) -> None:
    folder = planted(tmp_path / "project", ROOTS)
    with opened(server, folder) as ws:
        found = ws.references("a/prices.py", symbol="price_of", timeout=TIMEOUT)
        assert lines(ws, found) == {"a/prices.py:1", "b/main.py:1", "b/main.py:5", "b/main.py:8"}
        calls = ws.incoming_calls("a/prices.py", symbol="price_of", timeout=TIMEOUT)
        assert [(one.item.name, len(one.ranges)) for one in calls] == [("total", 1)]
        assert not calls.complete  # no function is around the other call
        assert [(one.kind, [at.line for at in one.places]) for one in calls.caveats] == [
            (UNEXPLAINED, [8])
        ]
        edit = ws.rename("a/prices.py", symbol="price_of", new_name="cost_of", timeout=TIMEOUT)
        assert ws.apply(edit, check="project", timeout=TIMEOUT).unchecked == ()
    for name in ("a/prices.py", "b/main.py"):
        assert (folder / name).read_text() == ROOTS[name].replace("price_of", "cost_of")


@pytest.mark.parametrize("server", SCRIPTS)
def test_a_linked_package_of_the_same_repository_is_renamed(server: str, tmp_path: Path) -> None:
    folder = planted(tmp_path / "project", PACKAGES)
    (folder / "node_modules" / "@shop").mkdir(parents=True)
    (folder / "node_modules" / "@shop" / "a").symlink_to("../../packages/a")
    with opened(server, folder) as ws:
        source, target = "packages/a/src/a.ts", "packages/b/src/b.ts"
        found = ws.references(source, symbol="priceOf", timeout=TIMEOUT)
        assert lines(ws, found) == {f"{source}:1", f"{target}:1", f"{target}:3"}
        edit = ws.rename(source, symbol="priceOf", new_name="costOf", timeout=TIMEOUT)
        assert ws.apply(edit, check="project", timeout=TIMEOUT).unchecked == ()
    for name in (source, target):
        assert (folder / name).read_text() == PACKAGES[name].replace("priceOf", "costOf")


def test_a_go_module_that_replaces_another_one_is_renamed(tmp_path: Path) -> None:
    files = {
        "a/go.mod": "module example.com/a\n\ngo 1.19\n",
        "a/a.go": "package a\n\nfunc PriceOf(n int) int { return n }\n",
        "b/go.mod": (
            "module example.com/b\n\ngo 1.19\n\nrequire example.com/a v0.0.0\n\n"
            "replace example.com/a => ../a\n"
        ),
        "b/b.go": (
            'package main\n\nimport "example.com/a"\n\nfunc main() { println(a.PriceOf(1)) }\n'
        ),
    }
    folder = planted(tmp_path / "project", files)
    real_servers.require("gopls")
    argv = real_servers.command("gopls")
    with workspace(folder, "gopls", argv=argv, trusted=True) as ws:
        found = ws.references("a/a.go", symbol="PriceOf", timeout=TIMEOUT)
        assert lines(ws, found) == {"a/a.go:3", "b/b.go:5"}
        edit = ws.rename("a/a.go", symbol="PriceOf", new_name="CostOf", timeout=TIMEOUT)
        assert ws.apply(edit, check="project", timeout=TIMEOUT).unchecked == ()
    for name in ("a/a.go", "b/b.go"):
        assert (folder / name).read_text() == files[name].replace("PriceOf", "CostOf")


def test_a_crate_that_another_one_takes_by_its_path_is_renamed(tmp_path: Path) -> None:
    package = "[package]\nname = '{}'\nversion = '0.1.0'\nedition = '2021'\n".format
    files = {
        "a/Cargo.toml": f"{package('a')}[lib]\npath = 'a.rs'\n",
        "a/a.rs": "pub fn price_of(n: i32) -> i32 {\n    n\n}\n",
        "b/Cargo.toml": (
            f"{package('b')}[[bin]]\nname = 'b'\npath = 'b.rs'\n"
            "[dependencies]\na = { path = '../a' }\n"
        ),
        "b/b.rs": "use a::price_of;\n\nfn main() {\n    price_of(a::price_of(1));\n}\n",
    }
    folder = planted(tmp_path / "project", files)
    real_servers.require("rust-analyzer")
    argv = real_servers.command("rust-analyzer")
    # Else each of the two servers reads the whole standard library.
    settings = {"cargo": {"sysroot": None}}
    more = {"initialization": settings, "settings": {"rust-analyzer": settings}}
    with workspace(folder, "rust-analyzer", argv=argv, more=more, trusted=True) as ws:
        places = references_in_time(ws, "a/a.rs", "price_of")
        assert [f"{place.path.name}:{place.range.start}" for place in places if place.path] == [
            "a.rs:1:8",
            "b.rs:1:8",
            "b.rs:4:5",
            "b.rs:4:17",
        ]
        edit = ws.rename("a/a.rs", symbol="price_of", new_name="cost_of", timeout=TIMEOUT)
        assert ws.apply(edit, check="project", timeout=TIMEOUT).unchecked == ()
    for name in ("a/a.rs", "b/b.rs"):
        assert (folder / name).read_text() == files[name].replace("price_of", "cost_of")


@pytest.mark.parametrize("server", SCRIPTS)
def test_a_project_that_another_one_references_is_renamed(server: str, tmp_path: Path) -> None:
    options = '"compilerOptions": {"composite": true, "strict": true, "types": []}'
    files = {
        "tsconfig.json": '{"files": [], "references": [{"path": "a"}, {"path": "b"}]}',
        "a/tsconfig.json": f"{{{options}}}",
        "a/prices.ts": PRICES,
        "b/tsconfig.json": f'{{{options}, "references": [{{"path": "../a"}}]}}',
        "b/main.ts": "import { priceOf } from '../a/prices';\n\npriceOf(1);\n",
    }
    folder = planted(tmp_path / "project", files)
    with opened(server, folder) as ws:
        places = references_in_time(ws, "a/prices.ts", "priceOf")
        assert lines(ws, places) == {"a/prices.ts:1", "b/main.ts:1", "b/main.ts:3"}
        edit = ws.rename("a/prices.ts", symbol="priceOf", new_name="costOf", timeout=TIMEOUT)
        assert ws.apply(edit, check="project", timeout=TIMEOUT).unchecked == ()
    for name in ("a/prices.ts", "b/main.ts"):
        assert (folder / name).read_text() == files[name].replace("priceOf", "costOf")


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_is_renamed_with_the_script_that_it_uses(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {path: text for path, text in VUE.items() if path not in ("main.vue", "shapes.ts")}
    files |= {"prices.ts": PRICES, name: COMPONENTS[name]}
    with opened_with_components(tmp_path, monkeypatch, files) as ws:
        places = references_in_time(ws, "prices.ts", "priceOf")
        assert lines(ws, places) == {"prices.ts:1", *(f"{name}:{line}" for line in (2, 3, 5))}
        edit = ws.rename("prices.ts", symbol="priceOf", new_name="costOf", timeout=TIMEOUT)
        assert ws.apply(edit, check="project", timeout=TIMEOUT).unchecked == ()
        for path, text in (("prices.ts", PRICES), (name, COMPONENTS[name])):
            assert (ws.root / path).read_text() == text.replace("priceOf", "costOf")


def test_a_word_in_a_template_without_types_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package vue nobody knows what it means."""
    files = {"package.json": "{}", "tsconfig.json": VUE["tsconfig.json"], "prices.ts": PRICES}
    files["shop.vue"] = COMPONENTS["shop.vue"]
    with opened_with_components(tmp_path, monkeypatch, files) as ws:
        edit = ws.rename("prices.ts", symbol="priceOf", new_name="costOf", timeout=TIMEOUT)
        assert len(changed_places(edit)) == 3
        [caveat] = edit.caveats
        assert caveat.kind == UNEXPLAINED
        assert lines(ws, list(caveat.places)) == {"shop.vue:5"}
        applied = ws.apply(edit, check="project", timeout=TIMEOUT)
        assert any("shop.vue:5:17" in line for line in applied.unchecked)


def test_keys_and_exports_of_another_root_keep_their_names(tmp_path: Path) -> None:
    user = "import { priceOf } from '@shop/a';\nexport const tools = { priceOf };\n"
    files = {**PACKAGES, "packages/b/src/b.ts": f"{user}export {{ priceOf }};\n"}
    folder = planted(tmp_path / "project", files)
    (folder / "node_modules" / "@shop").mkdir(parents=True)
    (folder / "node_modules" / "@shop" / "a").symlink_to("../../packages/a")
    with opened("typescript", folder) as ws:
        edit = ws.rename(
            "packages/a/src/a.ts", symbol="priceOf", new_name="costOf", timeout=TIMEOUT
        )
        ws.apply(edit, timeout=TIMEOUT)
    assert (folder / "packages/b/src/b.ts").read_text().splitlines() == [
        "import { costOf } from '@shop/a';",
        "export const tools = { priceOf: costOf };",
        "export { costOf as priceOf };",
    ]


@pytest.mark.parametrize("server", ["pyright", "ty"])
def test_an_edit_that_breaks_another_root_says_so(server: str, tmp_path: Path) -> None:
    with opened(server, planted(tmp_path / "project", ROOTS)) as ws:
        text = ROOTS["a/prices.py"].replace("price_of", "cost_of")
        change = ws.write("a/prices.py", text, check="project")
        assert change.verdict.dirty
        assert change.report is not None
        introduced = change.report.other_files.introduced or {}
        assert list(introduced) == [ws.root / "b/main.py"]


def test_a_word_that_leads_to_no_module_is_named(tmp_path: Path) -> None:
    files = {**ROOTS, "b/pyproject.toml": _PROJECT}  # nothing leads from `b` to `a`
    folder = planted(tmp_path / "project", files)
    with opened("ty", folder) as ws:
        found = ws.references("a/prices.py", symbol="price_of", timeout=TIMEOUT)
        assert lines(ws, found) == {"a/prices.py:1"}
        (caveat,) = found.caveats
        assert caveat.kind == UNEXPLAINED
        assert lines(ws, list(caveat.places)) == {"b/main.py:1", "b/main.py:5", "b/main.py:8"}
        edit = ws.rename("a/prices.py", symbol="price_of", new_name="cost_of", timeout=TIMEOUT)
        assert not edit.complete
        applied = ws.apply(edit, check="project", timeout=TIMEOUT)
        assert any("b/main.py:5:12" in line for line in applied.unchecked)


@pytest.mark.parametrize("server", ["pyright", "ty"])
def test_an_untyped_receiver_is_named_and_other_meanings_are_not(
    server: str, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": _PROJECT,
        "m.py": "class Basket:\n    def total(self) -> int:\n        return 1\n",
        "user.py": (
            "from m import Basket\n\n\ndef use(basket, data: dict[str, int]):\n"
            "    print(Basket().total(), basket.total(), data['total'])  # total\n"
        ),
        "other.py": "total = 3\n\n\nclass Sum:\n    total = 4\n\n\nprint(total, Sum.total)\n",
    }
    with opened(server, planted(tmp_path / "project", files)) as ws:
        found = ws.references("m.py", symbol="Basket.total", timeout=TIMEOUT)
        assert lines(ws, found) == {"m.py:2", "user.py:5"}
        assert [[str(at.range.start) for at in one.places] for one in found.caveats] == [["5:36"]]


@pytest.mark.parametrize("server", ["pyright", "ty"])
def test_the_users_of_a_fixture_are_renamed_or_named(server: str, tmp_path: Path) -> None:
    files = {
        "pyproject.toml": _PROJECT,
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef basket():\n    return [1]\n",
        "test_a.py": "def test_a(basket):\n    assert basket == [1]\n",
    }
    folder = planted(tmp_path / "project", files)
    with opened(server, folder) as ws:
        edit = ws.rename("conftest.py", symbol="basket", new_name="cart", timeout=TIMEOUT)
    # ty knows fixtures, if it finds pytest.
    changed = {
        str(one.range.start)
        for change in edit.changes
        if isinstance(change, FileEdit) and change.path == folder / "test_a.py"
        for one in change.edits
    }
    named = {str(at.range.start) for one in edit.caveats for at in one.places}
    assert changed | named == {"1:12", "2:12"}


@pytest.mark.parametrize("server", ["pyright", "ty"])
def test_a_finding_that_only_names_the_new_name_undoes_nothing(server: str, tmp_path: Path) -> None:
    files = {
        "pyproject.toml": _PROJECT,
        "lookup.py": "class LookupDict:\n    pass\n",
        "codes.py": "from lookup import LookupDict\n\ncodes = LookupDict()\n",
        "models.py": "from codes import codes\n\nprint(codes.moved)\n",
    }
    folder = planted(tmp_path / "project", files)
    with opened(server, folder) as ws:
        assert ws.check("models.py", timeout=TIMEOUT).verdict.dirty
        edit = ws.rename("lookup.py", symbol="LookupDict", new_name="DictLookup", timeout=TIMEOUT)
        ws.apply(edit, check="project", timeout=TIMEOUT)
    assert "DictLookup()" in (folder / "codes.py").read_text()


@pytest.mark.parametrize("server", ["pyright", "ty"])
def test_a_keyword_in_another_file_follows_its_parameter(server: str, tmp_path: Path) -> None:
    files = {
        "pyproject.toml": _PROJECT,
        "m.py": "def cut(text: str, most: int) -> str:\n    return text[:most]\n",
        "user.py": "from m import cut\n\nmost = 3\nprint(cut('a', most=most))\n",
    }
    folder = planted(tmp_path / "project", files)
    with opened(server, folder) as ws:
        edit = ws.rename("m.py", 1, 20, new_name="limit", timeout=TIMEOUT)
        ws.apply(edit, check="project", timeout=TIMEOUT)
    assert (folder / "user.py").read_text().endswith("most = 3\nprint(cut('a', limit=most))\n")


def test_an_installed_copy_of_the_package_is_neither_written_nor_in_the_way(
    tmp_path: Path,
) -> None:
    """The tests import the copy: nothing leads from them to the sources."""
    copied = "env/lib/python3.11/site-packages/shop"
    files = {
        "pyproject.toml": f"{_PROJECT}[tool.ty.environment]\npython = './env'\n",
        "code/shop/__init__.py": "",
        "code/shop/prices.py": PACKAGE["src/shop/prices.py"],
        "tests/test_prices.py": PACKAGE["tests/test_prices.py"],
        f"{copied}/__init__.py": "",
        f"{copied}/prices.py": PACKAGE["src/shop/prices.py"],
        "env/bin/python": "",
        "env/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.0\n",
    }
    folder = planted(tmp_path / "project", files)
    with opened("ty", folder) as ws:
        source = "code/shop/prices.py"
        edit = ws.rename(source, symbol="price_of", new_name="cost_of", timeout=TIMEOUT)
        assert [one.kind for one in edit.caveats] == [INSTALLED_COPY]
        applied = ws.apply(edit, check="project", timeout=TIMEOUT)
    assert any("install it again" in line for line in applied.unchecked)
    for name in (source, "tests/test_prices.py"):
        assert (folder / name).read_text() == files[name].replace("price_of", "cost_of")
    assert (folder / copied / "prices.py").read_text() == files[source]


@pytest.mark.parametrize(("line", "column"), [(1, 8), (2, 2), (3, 11)])
def test_what_a_style_sheet_takes_from_another_one_is_named(
    tmp_path: Path, line: int, column: int
) -> None:
    mixins = "@mixin box($w) { width: $w; }\n$gap: 3px;\n@function twice($n) { @return $n * 2; }\n"
    use = "@use 'mixins';\n.a { @include mixins.box(1px); margin: mixins.$gap mixins.twice(2); }\n"
    planted(tmp_path, {"package.json": "{}", "_mixins.scss": mixins, "a.scss": use})
    with opened("css", tmp_path) as ws:
        places = ws.references("_mixins.scss", line, column, timeout=TIMEOUT)
    assert not places.complete
    [caveat] = places.caveats
    assert caveat.kind == UNEXPLAINED
    assert lines(ws, list(caveat.places)) == {"a.scss:2"}


def test_a_file_has_the_same_references_by_its_name_and_through_a_link(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": _PROJECT,
        "real/__init__.py": "",
        "real/part.py": "def area() -> int:\n    return 1\n",
        "user.py": "from linked.part import area\n\narea()\n",
    }
    planted(tmp_path, files)
    (tmp_path / "linked").symlink_to("real")
    with opened("ty", tmp_path) as ws:
        for name in ("real/part.py", "linked/part.py"):
            places = ws.references(name, symbol="area", timeout=TIMEOUT)
            assert lines(ws, places) == {"real/part.py:1", "user.py:1", "user.py:3"}


def test_behind_a_link_out_of_the_workspace_references_may_be_missing_at_any_time(
    tmp_path: Path,
) -> None:
    project, shared = tmp_path / "project", tmp_path / "shared"
    planted(project, {"pyproject.toml": _PROJECT, "user.py": "from linked.part import area\n"})
    planted(
        shared, {"__init__.py": "", "part.py": "def area() -> int:\n    return 1\n\n\narea()\n"}
    )
    (project / "linked").symlink_to(shared)
    with opened("ty", project) as ws:
        for name, column in (("user.py", 25), ("linked/part.py", 5), ("user.py", 25)):
            places = ws.references(name, 1, column, timeout=TIMEOUT)
            assert not places.complete
            assert "linked/part.py lies behind a link" in str(places.caveats[0])
