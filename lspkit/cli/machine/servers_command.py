"""`lspkit servers`: every server that lspkit knows, where it was found, or how to get it."""

from __future__ import annotations

import argparse

from lspkit.cli.arguments.project_root import chosen_root
from lspkit.cli.exit_codes import CLEAN
from lspkit.cli.machine.server_rows import ServerRow, rows_of, scene_of
from lspkit.cli.output import Part, as_json, print_lines, print_result
from lspkit.visible_text import one_line

#: Languages that are shown for one server.
MOST_LANGUAGES = 3


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    rows = list(rows_of(scene_of(chosen_root(arguments.root))))
    if arguments.json:
        print_result(as_json([one.to_dict() for one in rows]))
        return CLEAN
    ids = max(len(one.id) for one in rows)
    languages = max(len(_languages(one)) for one in rows)
    print_lines([_line(one, ids, languages) for one in rows])
    return CLEAN


def _languages(row: ServerRow) -> str:
    more = len(row.languages) - MOST_LANGUAGES
    return ", ".join(row.languages[:MOST_LANGUAGES]) + (f" +{more}" if more > 0 else "")


def _line(row: ServerRow, ids: int, languages: int) -> list[Part]:
    return [
        (row.id.ljust(ids), "name"),
        ("  " + _languages(row).ljust(languages) + "  ", ""),
        (one_line(str(row)), "added" if row.state == "found" else ""),
    ]
