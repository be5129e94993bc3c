"""Writes the reference of the built-in servers: python tools/write_server_page.py [FILE]

All of it comes from the table and the adapters that lspkit itself goes by; a test compares the
committed page with a new one.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

from lspkit.install.recipe_table import PAGES, recipes_of
from lspkit.servers.adapters.adapter_table import ORDINARY, adapter_of
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition

PAGE = Path(__file__).resolve().parent.parent / "docs" / "servers.md"

HEAD = """\
# Built-in servers

<!-- Written by tools/write_server_page.py from lspkit/servers. Change it there. -->

These work without any configuration as soon as their program is found. Of several servers for one
language that runs which [the project's own files](choosing-servers.md#which-server) ask for, else
the first in this list; only the two for Vue work together. Linters run beside it,
those of the web only in projects that are set up for them. *Tested with* names the version that
answered lspkit's own tests; where it says *documentation*, the entry was written from what the
server's authors say, and nobody has tried it here yet.

*Initialization* and *Settings* are all that a server is told besides what you configure. What is
not named there is as the server has it by itself. What you configure goes before it, except for
what a server is told in a project that is not [trusted](trust.md), where only lists are put
together. A name in braces stands for what is found in the project or on the machine; where nothing
is found, nothing is said.
"""


UNSAVED = {
    "opened": "seen",
    "changed": "seen, as a change of what is on disk",
    "never": "not seen",
    "untried": "nobody has tried",
}


def code(words: tuple[str, ...] | list[str]) -> str:
    """Each word as code, with commas."""
    return ", ".join(f"`{word}`" for word in words)


def languages(definition: Definition) -> list[str]:
    """Its language ids, each once."""
    return list(dict.fromkeys(definition.languages.values()))


def summary() -> str:
    """One line for each server."""
    lines = ["| server | languages | kind | tested with |", "| --- | --- | --- | --- |"]
    for one in BUILT_IN:
        kind = "linter" if one.role == "lint" else "language"
        cells = (f"[{one.id}](#{one.id})", ", ".join(languages(one)), kind, one.verified)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def unsaved(one: Definition) -> str:
    """How it comes to see texts of other files that are not on disk."""
    if not one.compares_files:
        return "does not matter"
    also = ", also of new files" if one.documents.unsaved_files else ""
    return UNSAVED[one.documents.unsaved] + also


def signs(one: Definition) -> str:
    """What shows that a project uses it."""
    if (compiler := one.compiler) is not None:
        bounds = f"from {compiler.least} on" if compiler.least else f"below {compiler.below}"
        return f"`{compiler.package}` {bounds}"
    if one.signs is None:
        return ""
    package = one.signs.package
    return f"{code([*one.signs.files, f'[tool.{package}]'])}, or the package `{package}`"


def values(said: object) -> str:
    """What it is told, as it is told; empty if that is nothing."""
    return f"`{json.dumps(said)}`" if said else ""


def section(one: Definition) -> str:
    """All that is known about one server."""
    untrusted = one.trust.untrusted
    rows = {
        "Files": code(list(one.languages)),
        "Command": " or ".join(f"`{' '.join(command)}`" for command in one.launch.commands),
        "Other names": code(one.aliases),
        "Root": code(one.roots.markers) or "the workspace",
        "Root, outermost first": code(one.roots.outermost),
        "Only with": code(one.roots.only_with),
        "Not with": code(one.roots.kept_out_by),
        "Runs where the project has": signs(one),
        "Has questions answered by": code(list(filter(None, [adapter_of(one).companion]))),
        "Unsaved text of other files": unsaved(one),
        "Initialization": values(one.launch.initialization),
        "Settings": values(one.launch.settings),
        "Settings, trusted": values(one.trust.trusted_settings),
        "Initialization, not trusted": values(untrusted and untrusted.initialization),
        "Settings, not trusted": values(untrusted and untrusted.settings),
        "Tested with": one.verified,
    }
    lines = [f"## {one.id}", ""]
    lines += [f"- {name}: {value}" for name, value in rows.items() if value]
    lines += ["", "Install:", ""]
    lines += [f"- lspkit: `lspkit install {one.id}`"] if recipes_of(one.id) else []
    lines += [f"- {manager}: `{command}`" for manager, command in one.install_commands.items()]
    lines += [f"- page: <{PAGES[one.id]}>"] if one.id in PAGES else []
    if one.quirks:
        lines += ["", "Good to know:", ""]
        lines += [f"- {quirk}" for quirk in one.quirks]
    if (adapter := adapter_of(one)) is not ORDINARY:
        file = f"{type(adapter).__module__.replace('.', '/')}.py"
        lines += ["", f"Code in `{file}` is only for it:", ""]
        about = inspect.cleandoc(type(adapter).__doc__ or "")
        lines += [f"> {line}".rstrip() for line in about.splitlines()]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    return "\n\n".join([HEAD.rstrip(), summary(), *map(section, BUILT_IN)]) + "\n"


def main() -> None:
    """Write it."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
