"""What the candidates find without any config file, and how much they say about good code.

Mistakes are counted by pairs of texts (see `mistakes`). Noise is counted on code that is in
wide use: parts of the standard library and pure-Python packages of this environment. Not all
of that is false, so it is a hint and no verdict.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

from candidates import Candidate, Running
from mistakes import CASES, NEIGHBOUR, texts

#: Standard library sources, copied under another name so that they hide nothing.
LIBRARY = ("json", "argparse.py", "dataclasses.py", "textwrap.py", "queue.py")
#: Packages of the environment that runs this; typed and checked by their authors.
PACKAGES = ("_pytest", "pluggy", "packaging", "iniconfig")
#: Names of the two kinds of clean code.
GROUPS = ("standard library", "packages")
#: Protocol severities that count.
SEVERITIES = {1: "errors", 2: "warnings"}


def write_mistakes(folder: Path) -> dict[str, tuple[Path, Path, set[int]]]:
    """Wrong and right file of each case, and the marked lines of the wrong one."""
    shutil.rmtree(folder, ignore_errors=True)
    files = {}
    for package in ("wrong", "right"):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text("")
        (folder / package / "neighbour.py").write_text(NEIGHBOUR)
    for case in CASES:
        wrong, right, marked = texts(case)
        name = case.replace(" ", "_").lower() + ".py"
        files[case] = (folder / "wrong" / name, folder / "right" / name, marked)
        files[case][0].write_text(wrong)
        files[case][1].write_text(right)
    return files


def mistakes(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """Per case the severity of the finding, or None; and what is said about the right texts."""
    files = write_mistakes(folder)
    running = Running(candidate, folder)
    paths = [path for wrong, right, _ in files.values() for path in (wrong, right)]
    pushes = iter(running.diagnose(paths))
    running.close()
    found: dict[str, str | None] = {}
    noise: list[str] = []
    for case, (_, _, marked) in files.items():
        wrong, right = _counted(next(pushes)), _counted(next(pushes))
        known = {diagnostic.get("code") for diagnostic in right}
        severities = [
            diagnostic.get("severity", 1)
            for diagnostic in wrong
            if diagnostic.get("code") not in known and _touches(diagnostic, marked)
        ]
        found[case] = SEVERITIES[min(severities)][:-1] if severities else None
        noise += [f"{case}: {diagnostic.get('code')}" for diagnostic in right]
    return {
        "found": found,
        "as_error": sum(1 for severity in found.values() if severity == "error"),
        "as_warning": sum(1 for severity in found.values() if severity == "warning"),
        "of": len(found),
        "said_about_right_texts": noise,
    }


def _counted(push: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in push.get("diagnostics", ()) if item.get("severity", 1) in SEVERITIES]


def _touches(diagnostic: dict[str, Any], lines: set[int]) -> bool:
    span = diagnostic["range"]
    return any(span["start"]["line"] <= line <= span["end"]["line"] for line in lines)


def write_clean(folder: Path) -> dict[str, list[Path]]:
    """Copies of the clean code; group to files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paths = sysconfig.get_paths()
    groups: dict[str, list[Path]] = {group: [] for group in GROUPS}
    for name in LIBRARY:
        source, target = Path(paths["stdlib"]) / name, folder / f"copied_{name}"
        groups["standard library"] += _copied(source, target)
    for name in PACKAGES:
        source = Path(paths["purelib"]) / name
        if source.exists():
            groups["packages"] += _copied(source, folder / name)
    return groups


def _copied(source: Path, target: Path) -> list[Path]:
    if source.is_file():
        shutil.copy(source, target)
        return [target]
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    return sorted(target.rglob("*.py"))


def noise(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """Errors and warnings per 1,000 lines of code that works."""
    result: dict[str, Any] = {}
    groups = write_clean(folder)
    running = Running(candidate, folder, virtual=sys.prefix)
    for group, paths in groups.items():
        pushes = running.diagnose(paths, quiet=3, limit=150)
        lines = sum(path.read_text(encoding="utf-8").count("\n") for path in paths)
        counts = dict.fromkeys(SEVERITIES.values(), 0)
        codes: dict[str, int] = {}
        for push in pushes:
            for diagnostic in _counted(push):
                counts[SEVERITIES[diagnostic.get("severity", 1)]] += 1
                code = str(diagnostic.get("code"))
                codes[code] = codes.get(code, 0) + 1
        result[group] = {
            "files": len(paths),
            "answered": sum(1 for push in pushes if push),
            "lines": lines,
            **counts,
            **{f"{name}_per_1000": 1000 * count / lines for name, count in counts.items()},
            "most": dict(sorted(codes.items(), key=lambda item: -item[1])[:5]),
        }
    running.close()
    return result
