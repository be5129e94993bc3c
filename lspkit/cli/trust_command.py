"""`lspkit trust`: which projects may run their own programs.

Before the question, the command shows what the project would be allowed to run, with control
characters escaped. The stored digest belongs to what was shown: if the files change in between, the
project is stale at once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterable

from lspkit.cli.failure import CLEAN, FINDINGS, USAGE
from lspkit.cli.output import as_json, is_terminal, print_message, print_result
from lspkit.cli.project_root import chosen_root
from lspkit.config.load import Loaded, load
from lspkit.config.merge import leaves
from lspkit.config.problems import place_of
from lspkit.config.trust.key_gate import EXECUTION_KEYS, blocked_content, digest
from lspkit.config.trust.trust_store import add, read_trust_list, remove, state_folder
from lspkit.errors import LspkitError, PathError
from lspkit.operations.host_results import TrustNotice
from lspkit.servers.restriction.held_back_servers import files_of, programs_of, servers_of
from lspkit.servers.selection.choose import aliases
from lspkit.types import to_plain
from lspkit.visible_text import one_line

_CONSEQUENCE = """\
Trusting it lets its code run as you: these programs, and whatever the tools of a language run in
a project, such as build scripts, plugins and configuration that is code. That includes what is
changed or fetched into this folder later; only the settings above are held to what they are now."""


def run(arguments: argparse.Namespace) -> int:
    """Run the action, and return the exit status."""
    as_data = arguments.json
    if arguments.action == "list":
        return _list(as_data=as_data)
    path = chosen_root(arguments.path)
    if arguments.action == "remove":
        # The current folder itself may be on the list, by its name.
        return _remove(dict.fromkeys((arguments.path or os.curdir, path)), as_data=as_data)
    return _add(path, shared=arguments.shared, yes=arguments.yes, as_data=as_data)


def _add(path: str, *, shared: bool, yes: bool, as_data: bool = False) -> int:
    if not os.path.isdir(path):
        raise PathError(f"{one_line(path)} is not a folder", code="ENOENT", path=path)
    loaded = _load(path)
    standing = loaded.standing
    if not as_data:
        print_result(_describe(loaded))
    refusal = _refusal(standing.shared if not shared else "", yes=yes, as_data=as_data)
    if refusal:
        return _print_outcome(USAGE, refusal, standing.candidate, trusted=False, as_data=as_data)
    if not yes and not _ask(f"Trust {one_line(standing.candidate)}? [y/N] "):
        print_result("It is not trusted.")
        return FINDINGS
    content = digest(loaded.project, EXECUTION_KEYS)
    add(state_folder(), standing.candidate, content, shared=shared)
    now = _load(path).standing
    trusted = now.state == "trusted" and now.allows_programs
    outcome = f"{one_line(standing.candidate)} is trusted."
    if not trusted:
        reason = now.warning or now.why
        why = f"projectConfigPolicy is {now.policy}" if now.state == "trusted" else reason
        outcome = (
            f"{one_line(standing.candidate)} is on the list, but not in force: {one_line(why)}."
        )
    return _print_outcome(CLEAN, outcome, standing.candidate, trusted=trusted, as_data=as_data)


def _refusal(shared: str, *, yes: bool, as_data: bool) -> str:
    """Why the project cannot be trusted with this call; empty if it can."""
    if shared:
        who = f"Other users can change it: {one_line(shared)}."
        return f"{who}\nIf that is meant to be so, add --shared."
    if not yes and as_data:
        return "It is not trusted: with --json there is no question; add --yes to trust it."
    if not yes and not is_terminal(sys.stdin, sys.stdout):
        return "It is not trusted: there is no terminal for the question; add --yes to trust it."
    return ""


def _print_outcome(status: int, outcome: str, path: str, *, trusted: bool, as_data: bool) -> int:
    plain = {"path": path, "trusted": trusted, "message": outcome}
    print_result(as_json(plain) if as_data else outcome)
    return status


def offer_trust(root: str, notice: TrustNotice) -> bool:
    """Before a check of an untrusted project: ask whether to trust it, or print a notice.

    On a terminal the question is asked once for each project; otherwise the notice is printed.
    Returns whether it was asked.
    """
    terminal = is_terminal(sys.stdin, sys.stdout, sys.stderr)
    if terminal and _first_time(state_folder(), notice.project):
        _add(root, shared=False, yes=False)
        return True
    print_message(notice.text)
    return False


def _first_time(state: str, candidate: str) -> bool:
    """Whether the question was not asked for this project before; records that it is now."""
    folder = os.path.join(state, "asked")
    name = hashlib.sha256(os.fsencode(candidate)).hexdigest()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True


def _remove(paths: Iterable[str], *, as_data: bool) -> int:
    """Remove the first of these folders that is on the list."""
    name, removed = "", list[str]()
    for folder in paths:
        names = dict.fromkeys([os.path.realpath(folder), os.path.abspath(folder)])
        removed = removed or [name for name in names if remove(state_folder(), name)]
        name = removed[0] if removed else os.path.realpath(folder)
    outcome = f"{one_line(name)} is {'no longer' if removed else 'not'} on the list."
    status = CLEAN if removed else USAGE
    return _print_outcome(status, outcome, name, trusted=False, as_data=as_data)


def _list(*, as_data: bool) -> int:
    known = read_trust_list(state_folder())
    if known.warning:
        print_message(known.warning)
    entries = sorted(known.entries, key=lambda entry: entry.path)
    if as_data:
        print_result(
            as_json([{**to_plain(entry), "state": _state(entry.path)} for entry in entries])
        )
        return CLEAN
    for entry in entries:
        marks = [_state(entry.path), *(["shared"] if entry.shared else []), entry.added[:10]]
        print_result(f"{one_line(entry.path)}  ({', '.join(marks)})")
    if not entries:
        print_result("No project was trusted with `lspkit trust`.")
    return CLEAN


def _state(path: str) -> str:
    if not os.path.isdir(path):
        return "missing"
    try:
        return _load(path).standing.state
    except LspkitError as problem:
        return one_line(problem.message)


def _load(path: str) -> Loaded:
    """The configuration of the project at a path, as a workspace there has it."""
    return load(path, aliases=aliases())


def _describe(loaded: Loaded) -> str:
    """A description of what the project would be allowed to run."""
    standing = loaded.standing
    lines = [
        f"Project: {one_line(standing.candidate)} ({standing.state}: {one_line(standing.why)})"
    ]
    if loaded.used is not None:
        ignored = " (ignored: it has mistakes)" if loaded.ignored else ""
        lines.append(f"Configuration: {one_line(loaded.used)}{ignored}")
    content = blocked_content(loaded.project, EXECUTION_KEYS)
    settings = [
        f"  {one_line(place_of(path))} = {json.dumps(value, default=str)}"
        for path, value in leaves(content)
        if path
    ]
    lines += ["Its configuration would set:", *settings] if settings else []
    programs = [f"  {one_line(program)}" for program in programs_of(standing.candidate, content)]
    lines += ["Of its own programs, these are servers:", *programs] if programs else []
    used = files_of(standing.candidate, loaded)
    files = [f"  {one_line(file)} ({one_line(server)})" for file, server in used.items()]
    lines += ["Of its files, servers run these, or do what they say:", *files] if files else []
    servers = [f"  {one_line(server)}" for server in servers_of(standing.candidate, loaded)]
    lines += ["These servers run code of it:", *servers] if servers else []
    if not (settings or programs or files or servers):
        lines.append("Its configuration names no program, and it has no server of its own.")
    return "\n".join([*lines, "", _CONSEQUENCE])


def _ask(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False
