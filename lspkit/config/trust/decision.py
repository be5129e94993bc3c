"""Whether a project is trusted: the one decision, from everything that has a say in it.

What the program or the environment says wins; then come the entries of the user's `lsp.json`
(`root_pattern.py`), which trust whatever is in a folder, and those of lspkit's own list
(`trust_store.py`), which trust what was there when somebody looked. Only real paths are compared,
and whatever goes wrong on the way means that the project is not trusted.

What trust lets through is in `key_gate.py`; that it is shown and asked for, in the faces.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from lspkit.boundary import is_inside
from lspkit.config.model import ProjectConfigPolicy, SecurityConfig
from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.config.trust.key_gate import EXECUTION_KEYS, digest
from lspkit.config.trust.root_pattern import Pattern, compile_pattern
from lspkit.config.trust.trust_store import TrustEntry, TrustList, trust_list_for
from lspkit.errors import ConfigError
from lspkit.visible_text import one_line

#: Says `always` or `never` for every project.
VARIABLE = "LSPKIT_TRUST"

#: Folders for a project's configuration, which are no projects themselves.
CONFIG_FOLDERS = frozenset({".lspkit", ".pi", ".dispatch", ".github"})

#: Folders that hold the code of others, copied into a repository.
VENDORED = frozenset(
    {"node_modules", "bower_components", "vendor", "third_party", "site-packages", ".venv", "venv"}
)

#: From the best for a project to the worst.
State = Literal["trusted", "stale", "untrusted"]
_ORDER = get_args(State)

#: The digest of a configuration that would run nothing.
NOTHING = digest({}, {})


class TrustDecision(msgspec.Struct, frozen=True):
    """How a project stands."""

    #: `stale`: it was trusted, but its configuration would run something else now.
    state: State
    #: Why, in words.
    why: str
    #: The real path of the folder that it is about.
    candidate: str
    #: The user's rule for projects' configuration.
    policy: ProjectConfigPolicy
    #: Whether the program or the environment has ruled trust out.
    refused: bool = False
    #: Who else can change the project's folder or configuration, in words; empty if nobody.
    shared: str = ""
    #: What is wrong with lspkit's list; empty if nothing is.
    warning: str = ""

    @property
    def allows_fields(self) -> bool:
        """Whether the project's configuration may name programs."""
        if self.refused or self.policy == "never":
            return False
        return self.policy == "always" or self.state == "trusted"

    @property
    def allows_programs(self) -> bool:
        """Whether programs that lie in the project may run."""
        return self.state == "trusted" and self.policy != "never"

    @property
    def remedy(self) -> str:
        """What would allow what is held back, as one command or one sentence."""
        if self.refused:
            return f"do not say trusted=False or {VARIABLE}=never"
        if self.policy == "never":
            return 'set security.projectConfigPolicy to "trusted-only" in your own lsp.json'
        option = " --shared" if self.shared else ""
        command = f"lspkit trust add {shlex.quote(self.candidate)}{option}"
        return f"{command} (in a terminal), or Workspace(..., trusted=True)"


def patterns_of(
    security: SecurityConfig, *, environ: Mapping[str, str] = os.environ, file: str | None = None
) -> list[Pattern]:
    """The user's entries, or a `ConfigError` about the first that makes no sense."""
    found = []
    for number, entry in enumerate(security.trusted_project_roots):
        try:
            found.append(compile_pattern(entry, home=lambda name: home_of(name, environ)))
        except ConfigError as problem:
            place = f"security.trustedProjectRoots[{number}]"
            where = f"{one_line(file)}: {place}" if file else place
            raise ConfigError(
                f"{where}: {problem.message}", file=file, place=place, expected=problem.expected
            ) from None
    return found


def home_of(name: str, environ: Mapping[str, str]) -> str:
    """What `~` or `~user` stands for. Only real paths are compared, so it is one."""
    named = environ.get("HOME", "") if name == "~" and os.name == "posix" else ""
    folder = named or os.path.expanduser(name)
    return os.path.realpath(folder) if os.path.isabs(folder) else folder


def candidate_of(project_file: str | None, root: str) -> str:
    """The folder that a project is known by: where its configuration is, or else the root."""
    folder = whole = os.path.abspath(root)
    if project_file is not None:
        folder = os.path.dirname(os.path.abspath(project_file))
        # A workspace may be called like one of these.
        if folder != whole and os.path.basename(folder) in CONFIG_FOLDERS:
            folder = os.path.dirname(folder)
    return os.path.realpath(folder, strict=True)


def trust_of(
    project_file: str | None,
    root: str,
    project: Mapping[str, Any],
    security: SecurityConfig,
    environ: Mapping[str, str],
    override: bool | None,
    around: str = "",
) -> TrustDecision:
    """How a project stands, by its configuration file, if there is one, and what that says.

    `project` is the project's layer in canonical form, `override` what the program says. A root
    inside of a workspace may stand otherwise than the workspace: ask for it, too, with no file and
    with the workspace `around` it.
    """
    patterns = patterns_of(security, environ=environ)
    said = environ.get(VARIABLE, "")
    if said not in ("", "always", "never"):
        why = f"{VARIABLE} is {said!r}; expected always, never, or nothing"
        raise ConfigError(why, place=VARIABLE, expected="always, never, or nothing")
    found = TrustDecision("untrusted", "", os.path.abspath(root), security.project_config_policy)
    try:
        found = replace(found, candidate=candidate_of(project_file, root))
        known = trust_list_for(around or found.candidate, environ)
        found = replace(
            found,
            warning=known.warning,
            shared=_others_who_can_change(found, project_file, environ),
        )
        found = _decide_by_entries(
            found, project_file, digest(project, EXECUTION_KEYS), patterns, known
        )
    except (OSError, ValueError, RecursionError) as problem:
        found = replace(found, state="untrusted", why=f"it cannot be looked at: {problem}")
    if override is False or said == "never":
        why = "trusted=False was given" if override is False else f"{VARIABLE} is never"
        return replace(found, state="untrusted", why=why, refused=True)
    if override is True or said == "always":
        why = "trusted=True was given" if override is True else f"{VARIABLE} is always"
        return replace(found, state="trusted", why=why)
    return found


def _decide_by_entries(
    found: TrustDecision,
    project_file: str | None,
    content: str,
    patterns: Sequence[Pattern],
    known: TrustList,
) -> TrustDecision:
    """What the entries say: trusted if one of them does, else stale, else why not."""
    places = _folders_to_trust(project_file, found.candidate)
    said: list[tuple[State, str]] = []
    for pattern in patterns:
        if all(map(pattern.trusts, places)):
            apart = any(_is_other_repository(pattern.anchor(place), place) for place in places)
            why = f"{one_line(pattern.entry)} in trustedProjectRoots"
            said.append(_judge(found.shared, apart, why))
    for entry in known.entries:
        if _covers(entry, found.candidate):
            apart = _is_other_repository(entry.path, found.candidate)
            why = f"{one_line(entry.path)} was trusted on {entry.added[:10]}"
            same = os.path.normcase(entry.path) == os.path.normcase(found.candidate)
            if not apart and content != (entry.digest if same else NOTHING):
                said.append(("stale", f"{why}, but what it would run has changed since"))
            else:
                said.append(_judge("" if entry.shared else found.shared, apart, why))
    said.append(("untrusted", "no entry trusts it"))
    state, why = min(said, key=lambda one: _ORDER.index(one[0]))
    return replace(found, state=state, why=why)


def _judge(shared: str, apart: bool, why: str) -> tuple[State, str]:
    if apart:
        return "untrusted", f"{why}, but this is somebody else's code inside of it"
    if shared:
        words = f"but {one_line(shared)}, so it has to be trusted as shared"
        return "untrusted", f"{why}, {words}"
    return "trusted", why


def _covers(entry: TrustEntry, candidate: str) -> bool:
    within = is_inside(os.path.normcase(candidate), os.path.normcase(entry.path))
    return os.path.isabs(entry.path) and within


def _folders_to_trust(project_file: str | None, candidate: str) -> tuple[str, ...]:
    """Every folder that has to be trusted: a configuration may be a link that leads elsewhere."""
    if project_file is None:
        return (candidate,)
    real = os.path.realpath(project_file, strict=True)
    return (candidate,) if is_inside(real, candidate) else (candidate, os.path.dirname(real))


def _others_who_can_change(
    found: TrustDecision, project_file: str | None, environ: Mapping[str, str]
) -> str:
    """Who else can change the project's folder or configuration, in words."""
    paths = [found.candidate, *([] if project_file is None else [project_file])]
    return next(filter(None, (who_else_can_change(path, environ) for path in paths)), "")


def _is_other_repository(anchor: str, place: str) -> bool:
    """Whether a folder below an entry is another repository than the one the entry lies in."""
    repository = _repository(anchor)
    if repository is None:
        return False
    between = os.path.relpath(place, anchor).split(os.sep)
    return _repository(place) != repository or not VENDORED.isdisjoint(between)


def _repository(folder: str) -> str | None:
    """The work tree that a folder lies in. What cannot be looked at is an error."""
    for at in _folder_and_parents(folder):
        try:
            os.lstat(os.path.join(at, ".git"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        return os.path.normcase(at)
    return None


def _folder_and_parents(folder: str) -> Iterator[str]:
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
