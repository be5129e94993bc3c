"""`lspkit doctor`: what works here, what does not, and what to do about it. Starts no server."""

from __future__ import annotations

import argparse
import os

from lspkit.cli.arguments.project_root import chosen_root
from lspkit.cli.exit_codes import CLEAN, FINDINGS
from lspkit.cli.machine.examinations import BROKEN, Examination, examine
from lspkit.cli.output import Part, as_json, print_lines, print_result
from lspkit.visible_text import count, one_line

#: The style of a state.
STYLE = {BROKEN: "removed", "ok": "added"}


def run(arguments: argparse.Namespace) -> int:
    """Print all examinations. The status is 1 if something is broken."""
    root = chosen_root(arguments.root)
    found = examine(root)
    broken = sum(one.state == BROKEN for one in found)
    if arguments.json:
        plain = {"root": os.path.realpath(root), "broken": broken}
        print_result(as_json({**plain, "examinations": [one.to_dict() for one in found]}))
    else:
        total = f"{count(broken, 'thing')} broken" if broken else "nothing broken"
        print_lines([*(_line(one) for one in found), [(total, "")]])
    return FINDINGS if broken else CLEAN


def _line(one: Examination) -> list[Part]:
    hint = f"; {one.hint}" if one.hint else ""
    return [
        (one.state.ljust(8), STYLE.get(one.state, "")),
        (one.subject.ljust(14), "name"),
        (one_line(f"{one.text}{hint}"), ""),
    ]
