"""`lspkit doctor`: what works here, what does not, and what to do about it. Starts no server."""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
from collections.abc import Iterator

from lspkit.cli.failure import CLEAN, FINDINGS
from lspkit.cli.machine.servers_command import Scene, choices_for, row_of, scene_of
from lspkit.cli.output import Part, as_json, print_lines, print_result
from lspkit.cli.project_root import chosen_root
from lspkit.errors import ConfigError, LspkitError, PathError
from lspkit.install.install_hint import hint_for, managers_in
from lspkit.install.program_version import version_of
from lspkit.install.recipe_table import RECIPES, processor_name
from lspkit.install.tools_home import installed_packages
from lspkit.servers.project.project_files import ENOUGH, walk
from lspkit.servers.restriction.held_back_servers import is_silent, notice
from lspkit.servers.restriction.python_interpreter import interpreter_of
from lspkit.servers.selection.choose import definitions, disabled_rivals, disabled_text
from lspkit.servers.selection.program_lookup import find_program, tools_home
from lspkit.service.election import connect_socket, service_pid
from lspkit.service.runtime_folder import bootstrap_of
from lspkit.types import Value
from lspkit.version import VERSION
from lspkit.visible_text import count, one_line

#: The style of a state.
STYLE = {"broken": "removed", "ok": "added"}


def run(arguments: argparse.Namespace) -> int:
    """Print all examinations. The status is 1 if something is broken."""
    root = chosen_root(arguments.root)
    examinations = examine(root)
    broken = sum(examination.state == BROKEN for examination in examinations)
    if arguments.json:
        plain = {"root": os.path.realpath(root), "broken": broken}
        print_result(
            as_json(
                {**plain, "examinations": [examination.to_dict() for examination in examinations]}
            )
        )
    else:
        total = f"{count(broken, 'thing')} broken" if broken else "nothing broken"
        print_lines([*(_line(examination) for examination in examinations), [(total, "")]])
    return FINDINGS if broken else CLEAN


def _line(examination: Examination) -> list[Part]:
    hint = f"; {examination.hint}" if examination.hint else ""
    return [
        (examination.state.ljust(8), STYLE.get(examination.state, "")),
        (examination.subject.ljust(14), "name"),
        (one_line(f"{examination.text}{hint}"), ""),
    ]


OK, NOTE, BROKEN = "ok", "note", "broken"

#: Families of documents and data, which nearly every project has: a missing server is no fault.
DOCUMENTS = frozenset(
    {"json", "html", "css", "yaml", "toml", "markdown", "dockerfile", "latex", "typst"}
)
#: Package managers that are named.
MANAGERS = ("pip", "uv", "npm", "go", "gem", "rustup", "cargo", "brew", "apt", "nix")
#: Open files below which lspkit cannot keep several servers running.
FEWEST_OPEN_FILES = 128
#: Where Linux keeps its limits of inotify.
INOTIFY = "/proc/sys/fs/inotify"


class Examination(Value, frozen=True):
    """One result."""

    subject: str
    #: `ok`, `note` or `broken`.
    state: str
    text: str
    #: What to do.
    hint: str = ""


def examine(root: str) -> list[Examination]:
    """All results about this machine and the workspace at a folder. Raises `PathError`."""
    examinations = [_versions()]
    try:
        scene = scene_of(root)
    except PathError:
        raise
    except ConfigError as problem:
        hint = "correct the file; `lspkit config path` names it"
        return [*examinations, Examination("configuration", BROKEN, str(problem), hint)]
    for look in (_configuration, _trust, _servers, _tools, _managers, _limits, _service):
        examinations += look(scene)
    return examinations


def _versions() -> Examination:
    machine = f"{platform.system()} {processor_name(platform.machine())}"
    python = f"Python {platform.python_version()} ({sys.executable})"
    return Examination("versions", OK, f"lspkit {VERSION}, {python}, {machine}")


def _configuration(scene: Scene) -> Iterator[Examination]:
    loaded, name = scene.loaded, "configuration"
    own = loaded.global_file
    files = [file for file in (own, loaded.used) if file is not None and os.path.exists(file)]
    if loaded.ignored:
        faults = "; ".join(loaded.warning_lines) or f"{loaded.used} is ignored"
        yield Examination(name, BROKEN, faults, "correct it: it is ignored as a whole")
        return
    yield Examination(name, OK, ", ".join(files) or "no file, so the defaults hold")
    for warning in loaded.warning_lines:
        yield Examination(name, NOTE, warning)


def _trust(scene: Scene) -> Iterator[Examination]:
    """What the project may do, and what would allow it more."""
    standing = scene.loaded.standing
    held = notice(scene.loaded)
    if held:
        yield Examination("trust", NOTE, held)
    elif standing.allows_programs:
        text = f"{standing.candidate} is trusted ({standing.why}): its own programs may run"
        yield Examination("trust", OK, text)
    elif is_silent(standing):
        why = standing.why if standing.refused else "projectConfigPolicy is never"
        text = f"no program of {standing.candidate} may run, as you have decided: {why}"
        yield Examination("trust", OK, text, f"to allow it: {standing.remedy}")
    else:
        text = f"nothing in {standing.candidate} needs to be trusted, and it is not"
        yield Examination("trust", OK, text, f"if something does later: {standing.remedy}")


def _servers(scene: Scene) -> Iterator[Examination]:
    """The servers of the languages that the project has files of."""
    has, installed = managers_in(scene.folders), installed_packages(tools_home())
    seen = False
    for choice in choices_for(scene).values():
        seen = True
        row = row_of(choice, hint_for(choice.definition, has), scene.root)
        if row.state == "missing":
            document = choice.definition.family in DOCUMENTS
            any_of_family = not choice.config.selects and not choice.by_compiler
            off = disabled_rivals(scene.loaded.config, choice.definition) if any_of_family else []
            get = hint_for(choice.definition, has, any_of_family=any_of_family, disabled=off)
            text = f"no server for {', '.join(row.languages[:3])}: {row.id} is missing"
            text += f" ({disabled_text(off)})" if off else ""
            text += f"; {choice.why}" if choice.by_compiler else ""
            yield Examination("server", NOTE if document else BROKEN, text, f"get it: {get}")
            continue
        if row.state == "held back":
            yield Examination("server", NOTE, f"{row.id} is {choice.why_not}")
            continue
        if row.state == "broken":
            text = f"{row.id} {choice.why_not}"
            yield Examination("server", BROKEN, text, f"get what it needs: {row.install}")
            continue
        version, fault = "", ""
        if row.where != "project":
            version, fault = version_of(choice.definition, row.path, installed)
        if fault:
            hint = f"get another: {hint_for(choice.definition, has)}"
            yield Examination("server", BROKEN, f"{row.id}: {row.path}: {fault}", hint)
            continue
        text = f"{row.id} {version or '(version unknown)'}: {row.path}"
        text += f", chosen because {choice.why}" if choice.why else ""
        wanted = [
            definition
            for definition in definitions(scene.loaded.config)
            if definition.id == choice.instead_of
        ]
        advice = f"get {wanted[0].id}: {hint_for(wanted[0], has)}" if wanted else ""
        yield Examination("server", NOTE if wanted else OK, text, advice)
        interpreter = interpreter_of(choice)
        if interpreter is not None:
            state = OK if interpreter.path else NOTE
            text = f"{row.id} uses {interpreter}"
            yield Examination("interpreter", state, text, f"to use another: {interpreter.change}")
    if not seen:
        yield Examination("server", NOTE, "no file here has a server")


def _tools(scene: Scene) -> Iterator[Examination]:
    home = tools_home()
    pins = {recipe.name: recipe.version for recipe in RECIPES}
    installed = installed_packages(home)
    names = (
        ", ".join(f"{package.recipe} {package.version}" for package in installed.values())
        or "nothing"
    )
    yield Examination("tools folder", OK, f"{home}: {names}")
    for package in installed.values():
        if not package.is_whole():
            hint = f"lspkit install {package.recipe}"
            yield Examination("tools folder", BROKEN, f"{package.recipe} has files missing", hint)
        elif package.version != pins.get(package.recipe, package.version):
            hint = f"lspkit install --upgrade {package.recipe}"
            text = f"{package.recipe} {package.version} is not {pins[package.recipe]}"
            yield Examination("tools folder", NOTE, text, hint)


def _managers(scene: Scene) -> Iterator[Examination]:
    has = managers_in(scene.folders)
    there = ", ".join(manager for manager in MANAGERS if has(manager)) or "none"
    node = find_program("node", scene.folders)
    yield Examination("installers", OK, there)
    if has("npm") and node is None:
        yield Examination("installers", NOTE, "npm is here, but node is not on PATH")


def _limits(scene: Scene) -> Iterator[Examination]:
    yield from _open_files()
    watches, instances = _number("max_user_watches"), _number("max_user_instances")
    if watches is None or instances is None:
        return
    files = itertools.islice(walk(scene.root), ENOUGH)
    folders = len({os.path.dirname(file) for file in files})
    size = count(folders, "folder")
    text = f"{watches} inotify watches, {instances} instances; the project has {size}"
    if folders < watches:
        yield Examination("limits", OK, text)
    else:
        hint = f"sysctl fs.inotify.max_user_watches={max(4 * folders, 65536)}"
        yield Examination("limits", BROKEN, text, f"raise the limit: {hint}")


def _open_files() -> Iterator[Examination]:
    if sys.platform == "win32":
        return
    import resource  # here: not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    shown = "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
    if soft == resource.RLIM_INFINITY or soft >= FEWEST_OPEN_FILES:
        yield Examination("limits", OK, f"{shown} open files")
    else:
        hint = f"raise the limit: ulimit -n {min(hard, 4096) if hard > 0 else 4096}"
        yield Examination("limits", BROKEN, f"only {shown} open files", hint)


def _number(name: str) -> int | None:
    try:
        with open(f"{INOTIFY}/{name}", encoding="ascii") as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return None


def _service(scene: Scene) -> Iterator[Examination]:
    try:
        place = bootstrap_of(scene.root, None, None).place(os.environ, create=False)
        connection = connect_socket(place)
    except LspkitError as problem:
        yield Examination("service", BROKEN, str(problem), "lspkit stop ends it")
        return
    if connection is None:
        yield Examination("service", OK, "none is running; commands start one")
        return
    with connection:
        yield Examination("service", OK, f"running, pid {service_pid(connection)}")
