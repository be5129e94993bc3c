"""`lspkit config`: the configuration and its sources, its JSON Schema, and the file paths."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from lspkit.cli.failure import CLEAN, USAGE
from lspkit.cli.output import as_json, print_result
from lspkit.cli.project_root import chosen_root
from lspkit.config.config_files import find_project_files, global_file
from lspkit.config.json_schema import schema
from lspkit.config.load import Loaded, load
from lspkit.config.merge import leaves
from lspkit.config.problems import place_of
from lspkit.visible_text import one_line


def run(arguments: argparse.Namespace) -> int:
    """Print the configuration. The status is 2 if the project's file is ignored."""
    return _COMMANDS[arguments.what](arguments)


def _schema(arguments: argparse.Namespace) -> int:
    print_result(json.dumps(schema(), indent=2))
    return CLEAN


def _path(arguments: argparse.Namespace) -> int:
    """Print only the paths: this works also if the files are invalid."""
    own = global_file(os.environ, os.path.expanduser("~"))
    sources = find_project_files(os.path.abspath(chosen_root(arguments.root)))
    project = [file for file, source in sources if source is not None]
    if arguments.json:
        print_result(as_json({"global": own, "project": project[0] if project else None}))
        return CLEAN
    there = "" if os.path.lexists(own) else " (not there)"
    print_result("\n".join([f"global   {one_line(own)}{there}", f"project  {_or_none(project)}"]))
    return CLEAN


def _or_none(files: list[str]) -> str:
    return one_line(files[0]) if files else "(none)"


def _show(arguments: argparse.Namespace) -> int:
    from lspkit.servers.selection.choose import aliases  # here: the other actions do not need it

    loaded = load(chosen_root(arguments.root), aliases=aliases())
    print_result(
        _as_json(loaded, arguments.origin) if arguments.json else _as_text(loaded, arguments.origin)
    )
    return USAGE if loaded.ignored else CLEAN


def _as_json(loaded: Loaded, origin: bool) -> str:
    plain: dict[str, Any] = {
        "files": {
            "global": loaded.global_file,
            "project": loaded.used,
            "passedOver": list(loaded.passed_over),
        },
        "trust": {"state": loaded.standing.state, "why": loaded.standing.why},
        "heldBack": list(loaded.held_back),
        "warnings": [warning.to_dict() for warning in loaded.warnings],
        "config": loaded.values,
    }
    if origin:
        plain["origins"] = {place: origin.to_dict() for place, origin in loaded.origins.items()}
    return as_json(plain)


def _as_text(loaded: Loaded, origin: bool) -> str:
    lines = [f"# global   {_file(loaded.global_file)}"]
    counts = ", ignored" if loaded.ignored else ""
    why = f", {loaded.standing.state}: {one_line(loaded.standing.why)}"
    lines.append(f"# project  {one_line(loaded.used) if loaded.used else '(none)'}{counts}{why}")
    lines += [f"# passed over  {one_line(file)}" for file in loaded.passed_over]
    lines += [f"# warning  {one_line(str(warning))}" for warning in loaded.warnings]
    for path, value in leaves(loaded.values):
        place = place_of(path)
        line = f"{one_line(place)} = {as_json(value, indent=None)}"
        lines.append(f"{line}  # {one_line(str(loaded.origins[place]))}" if origin else line)
    return "\n".join(lines)


def _file(file: str | None) -> str:
    there = file is not None and os.path.lexists(file)
    return f"{one_line(file or '')}{'' if there else ' (not there)'}"


_COMMANDS = {"show": _show, "schema": _schema, "path": _path}
