"""gopls is not notified of files that are open documents: their text has to be enough.

It registers all folders of a project in one pattern, and again after each new package.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import lspkit
from tests import real_servers
from tests.real.running import workspace_with

pytestmark = [pytest.mark.server, pytest.mark.slow]

MODULE = "module example.com/{}\n\ngo 1.15\n"
MAIN = 'package main\n\nimport "example.com/one/lib"\n\nfunc main() { _ = lib.Value() }\n'
ONE = "package lib\n\nfunc Value() int { return 1 }\n"
TWO = "package lib\n\nfunc Value() (int, int) { return 1, 2 }\n"
IMPORTS = 'package lib\n\nimport "fmt"\n\nfunc Value() int { fmt.Println(); return 1 }\n'


def project(folder: Path) -> lspkit.Workspace:
    real_servers.require("gopls")
    (folder / "lib").mkdir(parents=True)
    (folder / "go.mod").write_text(MODULE.format("one"), encoding="utf-8")
    (folder / "main.go").write_text(MAIN, encoding="utf-8")
    (folder / "lib" / "lib.go").write_text(ONE, encoding="utf-8")
    return workspace_with(folder, {"gopls": real_servers.command("gopls")})


def test_another_name_of_the_module_is_seen_in_its_open_file(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    with project(folder) as ws:
        for name, verdict in (("one", "clean"), ("two", "dirty"), ("one", "clean")):
            (folder / "go.mod").write_text(MODULE.format(name), encoding="utf-8")
            assert ws.check("go.mod", timeout=60).verdict.clean
            assert ws.check("main.go", timeout=60).verdict.value == verdict


def test_another_text_of_an_open_file_is_seen_in_what_uses_it(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    with project(folder) as ws:
        assert ws.check("lib/lib.go", timeout=60).verdict.clean
        for text, verdict in ((ONE, "clean"), (TWO, "dirty"), (IMPORTS, "clean")):
            (folder / "lib" / "lib.go").write_text(text, encoding="utf-8")
            assert ws.check("main.go", timeout=60).verdict.value == verdict


@pytest.mark.parametrize("order", [("go.mod", "lib/lib.go", "main.go"), ("main.go", "go.mod")])
def test_open_files_that_change_together_are_all_seen(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    folder = tmp_path / "project"
    names = ["go.mod", "lib/lib.go", "main.go"]
    with project(folder) as ws:
        for number, (module, wanted) in enumerate(
            (("one", "one"), ("two", "two"), ("three", "two"), ("three", "three"))
        ):
            texts = {
                "go.mod": MODULE.format(module),
                "lib/lib.go": f"// {number}\n{ONE}",
                "main.go": MAIN.replace("example.com/one", f"example.com/{wanted}"),
            }
            for name in order:
                (folder / name).write_text(texts[name], encoding="utf-8")
            reports = ws.check_all(names, timeout=60)
            found = {path.name: report.verdict.value for path, report in reports.items()}
            main = "clean" if module == wanted else "dirty"
            assert found == {"go.mod": "clean", "lib.go": "clean", "main.go": main}


def package(folder: Path, name: str, body: str = "") -> Path:
    path = folder / name / "file.go"
    path.parent.mkdir()
    path.write_text(f"package {name}\n\nfunc Value() int {{ return 1 }}\n{body}", encoding="utf-8")
    return path


def test_many_new_packages_in_a_large_project_are_checked(tmp_path: Path) -> None:
    real_servers.require("gopls")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "go.mod").write_text("module example.com/one\n\ngo 1.15\n", encoding="utf-8")
    paths = [package(folder, f"package{number}") for number in range(120)]
    with workspace_with(folder, {"gopls": real_servers.command("gopls")}) as ws:
        assert ws.check(paths[0], timeout=60).verdict.clean
        for number in range(20):
            new = package(folder, f"new{number}", "func Broken() int { return missing }\n")
            report = ws.check(new, timeout=60)
            assert (report.verdict.value, report.why) == ("dirty", "")
