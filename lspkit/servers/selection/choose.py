"""Which servers a file needs, by definitions, configuration and installed programs."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import msgspec

from lspkit.config import Config, ServerConfig
from lspkit.config.merge import expand_dotted_keys, merge_values
from lspkit.diagnostics.proof_rule import OFFERED, UNTRIED, ProofRule
from lspkit.protocol.uris import is_utf8
from lspkit.servers.adapters.adapter import Adapter
from lspkit.servers.adapters.adapter_table import adapter_of
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.project.project_files import PYTHON
from lspkit.servers.project.python_environment import Environments, find_environments
from lspkit.servers.restriction import trust_profile
from lspkit.servers.restriction.trust_profile import Permits
from lspkit.servers.selection.program_lookup import programs_named
from lspkit.servers.selection.project_tools import Wish, unfit_program, wishes_of
from lspkit.servers.selection.roots import is_wanted, root_of, upwards
from lspkit.workspace_boundary import folders_above, is_inside, project_tree


class Choice(msgspec.Struct, frozen=True):
    """A server that a file needs."""

    definition: Definition
    #: Program (an absolute path) and arguments; empty if no program was found.
    argv: tuple[str, ...]
    config: ServerConfig
    #: The folder that it runs in.
    root: str = ""
    #: What it may do there.
    permit: trust_profile.Permit = trust_profile.ALL
    #: Why it does not run there, even if its program is found; empty if it runs.
    held_back: str = ""
    #: Whether it would run if the project were trusted.
    trust_helps: bool = False
    #: Why it was chosen among several, as a sentence; empty if there was nothing to choose.
    why: str = ""
    #: The id of the server that the project uses, if that one cannot run.
    instead_of: str = ""
    #: Whether it was chosen since it serves the compiler that the project has.
    by_compiler: bool = False
    #: The virtual environments that it was chosen for, if it reads their packages.
    environments: Environments = Environments()

    @property
    def trust(self) -> str:
        """For status: the trust in the project where this server runs."""
        if self.permit.trusted:
            return "trusted"
        if self.held_back:
            return self.permit.state
        return "configured" if self.definition.trust.untrusted is None else "restricted"

    @property
    def why_not(self) -> str:
        """Why it does not run, and what would allow it; empty if it runs."""
        if not self.held_back:
            return ""
        if not self.trust_helps:
            return f"cannot run: {self.held_back}"
        remedy = f"; to allow it: {self.permit.remedy}" if self.permit.remedy else ""
        return f"held back: {self.held_back}{remedy}"

    def as_chosen_like(self, other: Choice) -> Choice:
        """The same with the other's reasons of being chosen."""
        return msgspec.structs.replace(
            self, why=other.why, instead_of=other.instead_of, by_compiler=other.by_compiler
        )

    @property
    def id(self) -> str:
        """The server's id."""
        return self.definition.id

    @property
    def adapter(self) -> Adapter:
        """What only this server needs."""
        return adapter_of(self.definition)


def aliases() -> dict[str, str]:
    """Aliases of the built-in servers, with their ids."""
    return {alias: definition.id for definition in BUILT_IN for alias in definition.aliases}


def is_built_in(id: str) -> bool:
    """Whether this is the id of a built-in server."""
    return any(definition.id == id for definition in BUILT_IN)


def might_answer(id: str, method: str) -> bool:
    """Whether a running server could answer a request, as far as lspkit knows."""
    known = next((definition for definition in BUILT_IN if definition.id == id), None)
    return known is None or not known.answers_only or method in known.answers_only


def definitions(config: Config) -> list[Definition]:
    """The built-in servers and those of the configuration, with its changes."""
    known = {definition.id: definition for definition in BUILT_IN}
    if isinstance(config.lsp, dict):
        by_alias = aliases()
        for name, server_config in config.lsp.items():
            id = by_alias.get(name, name)
            known[id] = _with(known.get(id), id, server_config)
    return list(known.values())


def disabled_servers(config: Config, known: Iterable[Definition]) -> list[str]:
    """The ids of those servers that the configuration disables."""
    return [
        definition.id
        for definition in known
        if config.server(definition.id, definition.aliases).disabled
    ]


def disabled_rivals(config: Config, definition: Definition) -> list[str]:
    """The disabled servers that could run in place of a server."""
    group = (definition.family, definition.role)
    rivals = (rival for rival in definitions(config) if (rival.family, rival.role) == group)
    return disabled_servers(config, rivals)


def disabled_text(ids: Sequence[str]) -> str:
    """That servers are disabled."""
    names = " and ".join([", ".join(ids[:-1]), ids[-1]] if ids[1:] else ids)
    return f"{names} {'are' if ids[1:] else 'is'} disabled in the configuration"


def _with(known: Definition | None, id: str, config: ServerConfig) -> Definition:
    if known is None:
        rules = {None: UNTRIED, "pull": OFFERED, "version": ProofRule(how="version")}
        known = Definition(id=id, family=id, languages={}, proofs=(rules[config.proof],))
    languages = known.languages
    if config.extensions is not None:
        languages = {ext: languages.get(ext) or _language(ext) for ext in config.extensions}
    roots, changes = known.roots, dict[str, object]()
    if config.roots is not None:
        roots = msgspec.structs.replace(roots, markers=tuple(config.roots))
    if config.command is not None:
        changes["commands"] = (tuple(config.command),)
    if config.initialization is not None:
        changes["initialization"] = merge_values(known.launch.initialization, config.initialization)
    if config.position_encodings is not None:
        changes["encodings"] = config.position_encodings
    if config.settings is not None:
        changes["settings"] = merge_values(
            known.launch.settings, expand_dotted_keys(config.settings)
        )
    languages = {**languages, **config.language_ids}
    known = msgspec.structs.replace(known, languages=languages, roots=roots)
    return known.with_launch(**changes)


def _language(extension: str) -> str:
    """The `languageId` that built-in servers use for an extension, or the extension itself."""
    known = (
        definition.languages[extension]
        for definition in BUILT_IN
        if extension in definition.languages
    )
    return next(known, extension[1:])


class Kinds:
    """Which files have the same servers: those of one folder with one extension.

    A file whose name is in a definition, or is not UTF-8, is a kind of its own.
    """

    def __init__(self, config: Config) -> None:
        self._names = {name for definition in definitions(config) for name in definition.languages}

    def kind_of(self, path: str) -> tuple[str, str]:
        """The kind of a path: `choose` gives equal results for paths of one kind."""
        folder, name = os.path.split(path)
        stem, _, extension = name.rpartition(".")
        if (
            not stem
            or not is_utf8(name)
            or not self._names.isdisjoint((name, name.partition(".")[0] + ".*"))
        ):
            return folder, name
        return folder, "*." + extension


def choose(
    path: str,
    workspace: str,
    config: Config,
    folders: Sequence[str],
    unusable: Container[str] = (),
    permits: trust_profile.Permits = lambda _: trust_profile.ALL,
    known: Iterable[Definition] | None = None,
) -> list[Choice]:
    """The servers for a file, including those whose program is missing.

    `unusable` programs were found but did not work: an alternative has precedence over them.
    `known` are those `definitions` of this configuration that know the file's name.

    Of the type checkers of one family the selected ones run; if none is selected, the one that the
    project uses by its own files, or else the first, as far as their programs are found. If none is
    found, that one is reported as missing. A server that does not serve the project's compiler does
    not stand in for one that does.
    """
    if not config.enabled:
        return []
    candidates: list[Choice] = []
    if known is None:
        name = os.path.basename(path)
        known = (
            definition
            for definition in definitions(config)
            if definition.language_of(name) is not None
        )
    for definition in known:
        server_config = config.server(definition.id, definition.aliases)
        if server_config.disabled:
            continue
        if server_config.selects or is_wanted(path, definition, workspace):
            root = trusted_root_of(path, definition, workspace, permits)
            permit = permits(root)
            at = begins_at(workspace, permit if root == workspace else permits(workspace))
            candidates.append(
                permitted(definition, server_config, root, workspace, folders, permit, at, unusable)
            )
    above = list(upwards(path, project_tree(workspace)))
    chosen, families = list[Choice](), set[str]()
    for choice in candidates:
        family = choice.definition.family
        if choice.definition.role == "lint":
            # Also one that is held back, so that its silence is not taken for a clean result.
            chosen += [choice] if choice.argv or choice.config.selects else []
        elif family not in families:
            families.add(family)
            types = [candidate for candidate in candidates if candidate.definition.role == "types"]
            rivals = [rival for rival in types if rival.definition.family == family]
            chosen += _type_servers(rivals, above, unusable)
    return chosen


def begins_at(workspace: str, permit_of_workspace: trust_profile.Permit) -> str:
    """The base of a relative command: the workspace, if that is trusted itself.

    A root in it may be trusted while the folder above it, where the program would lie, is not.
    """
    return workspace if permit_of_workspace.trusted else ""


def permitted(
    definition: Definition,
    config: ServerConfig,
    root: str,
    workspace: str,
    folders: Sequence[str],
    permit: trust_profile.Permit,
    at: str = "",
    unusable: Container[str] = (),
) -> Choice:
    """A server as it would run in a root, or why it would not.

    `at` is the base of a relative command; see `begins_at`. Of several programs the first is taken
    that may run and is not `unusable`.
    """
    first = None
    searched = trust_profile.program_folders(root, permit, list(folders))
    for argv in argvs_of(definition, searched, at if permit.trusted else ""):
        choice = _permitted_with(argv, definition, config, root, workspace, searched, permit)
        if not choice.held_back and argv[0] not in unusable:
            return choice
        first = first or choice
    return first or _permitted_with((), definition, config, root, workspace, searched, permit)


def _permitted_with(
    argv: tuple[str, ...],
    definition: Definition,
    config: ServerConfig,
    root: str,
    workspace: str,
    searched: list[str],
    permit: trust_profile.Permit,
) -> Choice:
    environments = Environments()
    if argv and definition.disk.packages == PYTHON:
        # Before an interpreter is put into the settings: a change in between is noticed.
        variables = ChainMap(config.env, os.environ)
        environments = find_environments(root, workspace, definition.launch.settings, variables)
    if permit.trusted:
        made = trust_profile.at_home(definition, root, searched)
    elif definition.trust.untrusted is None and definition.id in permit.vouched:
        # The user has configured it to run.
        made = adapter_of(definition).complete(definition, searched)
    else:
        made = trust_profile.restrict(definition, argv, root, workspace)
    if isinstance(made, str):
        helps = not permit.trusted and trust_profile.trust_helps(definition, root)
        return Choice(definition, argv, config, root, permit, made, helps)
    return Choice(made, argv, config, root, permit, environments=environments)


def _type_servers(
    rivals: list[Choice], above: Sequence[str], unusable: Container[str]
) -> list[Choice]:
    """Those of one family that run for a file with these folders above it; never none."""
    if selected := [choice for choice in rivals if choice.config.selects]:
        why = "the configuration of lspkit selects it" if rivals[1:] else ""
        return [msgspec.structs.replace(choice, why=why) for choice in selected]
    if not rivals[1:]:
        return rivals
    wishes = wishes_of([choice.definition for choice in rivals], above)
    serving = [choice for choice in rivals if wishes[choice.id].serves] or rivals
    ranked = sorted(serving, key=lambda choice: wishes[choice.id].rank)
    candidates = [choice for choice in ranked if choice.argv]
    candidates = [choice for choice in candidates if not choice.held_back] or candidates
    candidates = [choice for choice in candidates if choice.argv[0] not in unusable] or candidates
    best = (candidates or ranked)[0]
    by_compiler = best.definition.compiler is not None and bool(wishes[best.id].why)
    why = _why_chosen(best, ranked[0], candidates, wishes)
    wanted = ranked[0].id if wishes[ranked[0].id].why and best is not ranked[0] else ""
    return [msgspec.structs.replace(best, why=why, instead_of=wanted, by_compiler=by_compiler)]


def _why_chosen(
    best: Choice, wanted: Choice, candidates: Sequence[Choice], wishes: Mapping[str, Wish]
) -> str:
    """Why the best of several is that, as a sentence. The project may have wanted another one."""
    if why := wishes[best.id].why:
        return why
    if why := wishes[wanted.id].why:
        state = "cannot run" if wanted.argv else "is not installed"
        return f"{why}, but {wanted.id} {state}"
    names = ", ".join(choice.id for choice in candidates)
    return f"the project configures none, and it is the first of {names}" if candidates[1:] else ""


def argvs_of(
    definition: Definition, folders: Sequence[str], at: str = ""
) -> Iterator[tuple[str, ...]]:
    """The commands whose program exists, with its absolute path, in order of preference."""
    for command in definition.launch.commands:
        for program in programs_named(command[0], folders, at):
            compiler = definition.compiler
            if compiler is None or not unfit_program(compiler, program):
                yield program, *command[1:]


def unfit_programs(definition: Definition, folders: Sequence[str]) -> list[str]:
    """Why programs were found, and do not count."""
    if (compiler := definition.compiler) is None:
        return []
    named = (program for name in compiler.programs for program in programs_named(name, folders))
    return [why for program in named if (why := unfit_program(compiler, program))]


# Repositories inside of another one: trust in the outer one does not extend to them.
#
# A server runs in a root, and a file may lie in a clone or submodule below that root. If the root
# is trusted and the clone is not, the file belongs to no server of that root: an unrestricted
# server uses what it finds beside and above each file that it is shown.


def trusted_root_of(path: str, definition: Definition, workspace: str, permits: Permits) -> str:
    """The root of a file, inside the repository to which trust in an outer root does not extend."""
    root = root_of(path, definition, workspace)
    if is_reached(path, root, permits):
        return root
    return root_of(path, definition, nested_repositories(path, root)[0])


def is_reached(path: str, root: str, permits: Permits) -> bool:
    """Whether trust in the root, if there is any, extends to a file."""
    nested = nested_repositories(path, root)
    return (
        not nested or not permits(root).trusted or all(permits(folder).trusted for folder in nested)
    )


def nested_repositories(path: str, root: str) -> list[str]:
    """The repositories that hold a file and not the root, the innermost first.

    For a file outside of the root, a repository that holds both does not count, either.
    """
    if not path.startswith(root + os.sep):
        return [
            folder
            for folder in folders_above(path)
            if not is_inside(root, folder) and _is_top(folder)
        ]
    # By names, from the root inwards: this runs before every request.
    repositories: list[str] = []
    folder = root
    for name in path[len(root) :].split(os.sep)[1:-1]:
        folder += os.sep + name
        if name and _is_top(folder):
            repositories.insert(0, folder)
    return repositories


def _is_top(folder: str) -> bool:
    try:
        os.lstat(f"{folder}{os.sep}.git")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # an unreadable one counts as a repository
    return True
