"""Vue: two servers for one file, one of which has its questions answered by the other.

`vue` knows the template and the styles, `vue-typescript` the types. lspkit finds the programs by
itself, on a PATH that has all of them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import lspkit
from lspkit.servers.built_in import BUILT_IN
from tests import real_servers
from tests.real.running import TIMING

pytestmark = [pytest.mark.server, pytest.mark.slow]

#: Seconds for one question, on a busy machine.
TIMEOUT = 60.0
BOTH = ("vue", "vue-typescript")

MAIN = """\
<script setup lang="ts">
import { size } from "./shapes";
const area: number = size(2);
</script>

<template>
  <p>{{ area }}</p>
</template>

<style>
p { color: red; }
</style>
"""
FILES = {
    "package.json": "{}\n",
    "tsconfig.json": """\
{"compilerOptions": {"strict": true, "target": "es2022", "module": "esnext",
 "moduleResolution": "bundler", "types": []}}
""",
    "shapes.ts": "export function size(edge: number): number {\n  return edge * edge;\n}\n",
    "main.vue": MAIN,
    # What templates need of the package itself. Without it, everything in them is `any`.
    "node_modules/vue/package.json": '{"name": "vue", "version": "3.5.0", "types": "vue.d.ts"}\n',
    "node_modules/vue/vue.d.ts": """\
export interface ComponentPublicInstance { $attrs: {} }
export interface GlobalComponents {}
export interface GlobalDirectives {}
export interface PublicProps {}
export type ShallowUnwrapRef<T> = T;
export declare function defineComponent<T>(options: T): new () => T;
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, and a PATH that has the programs."""
    for server in ("vue", "typescript"):
        real_servers.require(server)
    folder = tmp_path / "project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PATH", f"{real_servers.PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    return folder


def opened(folder: Path) -> lspkit.Workspace:
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id not in BOTH}
    return lspkit.Workspace(folder, config={"lsp": others, "timing": TIMING})


@pytest.fixture
def ws(folder: Path) -> Iterator[lspkit.Workspace]:
    with opened(folder) as ws:
        yield ws


def told(report: lspkit.Report) -> list[tuple[str, int]]:
    """Who has found something, and on which line."""
    return [(server, one.range.start.line) for one in report.diagnostics for server in one.servers]


def test_an_error_in_the_script_is_found_and_gone_when_it_is_mended(
    ws: lspkit.Workspace, folder: Path
) -> None:
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.clean
    ws.write("main.vue", MAIN.replace("size(2)", 'size("2")'))
    broken = ws.check("main.vue", timeout=TIMEOUT)
    assert (broken.verdict.value, told(broken)) == ("dirty", [("vue-typescript", 3)])
    assert "not assignable" in broken.diagnostics[0].message
    ws.write("main.vue", MAIN)
    mended = ws.check("main.vue", timeout=TIMEOUT)
    assert (mended.verdict.value, told(mended)) == ("clean", [])
    assert {one.server: one.how for one in mended.servers} == {
        "vue": "pull",
        "vue-typescript": "ordered",
    }


@pytest.mark.parametrize(
    ("good", "bad", "server", "line", "message"),
    [
        ("<p>{{ area }}</p>", "<p>{{ area }}", "vue", 7, "missing end tag"),
        ("{{ area }}", "{{ missing }}", "vue-typescript", 7, "'missing' does not exist"),
        ("{{ area }}", "{{ area.length }}", "vue-typescript", 7, "'length' does not exist"),
        ("color: red", "color red", "vue", 11, "colon expected"),
    ],
)
def test_an_error_in_the_template_or_the_style_is_found(
    ws: lspkit.Workspace, good: str, bad: str, server: str, line: int, message: str
) -> None:
    assert good in MAIN
    report = ws.check("main.vue", text=MAIN.replace(good, bad), timeout=TIMEOUT)
    assert report.verdict.dirty
    assert (server, line) in told(report)
    assert message in "\n".join(one.message for one in report.diagnostics)
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.clean


def test_a_change_of_an_imported_file_on_disk_breaks_and_mends_it(
    ws: lspkit.Workspace, folder: Path
) -> None:
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.clean
    (folder / "shapes.ts").write_text("export const size = 1;\n", encoding="utf-8")
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.dirty
    (folder / "shapes.ts").write_text(FILES["shapes.ts"], encoding="utf-8")
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.clean


def test_a_type_of_another_component_is_known_as_it_is_on_disk(
    ws: lspkit.Workspace, folder: Path
) -> None:
    child = '<script setup lang="ts">\nexport interface Shape { edge: number }\n</script>\n'
    (folder / "child.vue").write_text(child, encoding="utf-8")
    main = MAIN.replace('"./shapes";', '"./shapes";\nimport type { Shape } from "./child.vue";')
    main = main.replace("size(2)", "size(({ edge: 2 } as Shape).edge)")
    ws.write("main.vue", main)
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.clean
    (folder / "child.vue").write_text(child.replace("number", "string"), encoding="utf-8")
    report = ws.check("main.vue", timeout=TIMEOUT)
    assert set(told(report)) == {("vue-typescript", 4)}


def test_places_are_found_from_the_template_and_from_the_script(ws: lspkit.Workspace) -> None:
    [place] = ws.definition("main.vue", 7, 9, timeout=TIMEOUT)
    assert (place.path.name, place.range.start.line, place.range.start.column) == ("main.vue", 3, 7)
    [place] = ws.definition("main.vue", 3, 22, timeout=TIMEOUT)
    assert (place.path.name, place.range.start.line) == ("shapes.ts", 1)
    used = ws.references("main.vue", 3, 7, timeout=TIMEOUT)
    assert sorted(one.range.start.line for one in used) == [3, 7]


def test_hover_knows_types_in_the_template_and_properties_in_the_style(
    ws: lspkit.Workspace,
) -> None:
    in_template = ws.hover("main.vue", 7, 9, timeout=TIMEOUT)
    assert in_template is not None
    assert "area: number" in str(in_template)
    in_style = ws.hover("main.vue", 11, 6, timeout=TIMEOUT)
    assert in_style is not None
    assert "color" in str(in_style)


def test_a_rename_in_the_script_changes_the_template(ws: lspkit.Workspace, folder: Path) -> None:
    ws.apply(ws.rename("main.vue", 3, 7, "surface", timeout=TIMEOUT))
    text = (folder / "main.vue").read_text(encoding="utf-8")
    assert text == MAIN.replace("area", "surface")


def test_symbols_are_those_of_both(ws: lspkit.Workspace) -> None:
    symbols = ws.document_symbols("main.vue", timeout=TIMEOUT)
    assert {"template", "script setup"} <= {one.name for one in symbols}


def test_without_types_the_template_is_still_looked_at_and_nothing_is_called_clean(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "vue-language-server").symlink_to(real_servers.PROGRAMS / "vue-language-server")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    broken = MAIN.replace("<p>{{ area }}</p>", "<p>{{ area }}")
    with opened(folder) as ws:
        report = ws.check("main.vue", timeout=TIMEOUT)
        assert report.verdict.unknown
        [missing] = [one for one in report.servers if one.server == "vue-typescript"]
        assert "typescript-language-server, the program of vue-typescript, is not" in missing.reason
        report = ws.check("main.vue", text=broken, timeout=TIMEOUT)
        assert told(report) == [("vue", 7)]
        assert ws.document_symbols("main.vue", timeout=TIMEOUT)


def test_when_the_server_of_types_dies_the_other_goes_on(
    ws: lspkit.Workspace, folder: Path
) -> None:
    assert ws.check("main.vue", timeout=TIMEOUT).verdict.clean
    # One that the server has not seen: it has to ask about it.
    (folder / "other.vue").write_text(MAIN.replace("color: red", "color red"), encoding="utf-8")
    [row] = [one for one in ws.status().rows if one.server == "vue-typescript"]
    assert row.roots[0].pid is not None
    os.kill(row.roots[0].pid, signal.SIGKILL)
    report = ws.check("other.vue", timeout=TIMEOUT)
    assert told(report) == [("vue", 11)]
    [proof] = [one for one in report.servers if one.server == "vue"]
    assert proof.proven
