"""The decision whether a project is trusted.

The embedding program and the environment take precedence. Then come the entries of the user's
`lsp.json` (`root_pattern.py`), which trust a folder with any content, and those of lspkit's own
list (`trust_store.py`), which trust the content at the time of the entry. Only real paths are
compared, and any error means that the project is not trusted.

`key_gate.py` defines which settings need trust.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from lspkit.config.model import ProjectConfigPolicy, SecurityConfig
from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.config.trust.key_gate import EXECUTION_KEYS, digest
from lspkit.config.trust.root_pattern import Pattern, compile_pattern
from lspkit.config.trust.trust_store import TrustEntry, TrustList, trust_list_for
from lspkit.errors import ConfigError
from lspkit.visible_text import one_line
from lspkit.workspace_boundary import folders_above, is_inside

#: The environment variable: `always` or `never`, for every project.
VARIABLE = "LSPKIT_TRUST"

#: Folders with a project's configuration: the project is their parent.
CONFIG_FOLDERS = frozenset({".lspkit", ".pi", ".dispatch", ".github"})

#: Folders with third-party code inside a repository.
VENDORED = frozenset(
    {"node_modules", "bower_components", "vendor", "third_party", "site-packages", ".venv", "venv"}
)

#: From most to least trusted.
State = Literal["trusted", "stale", "untrusted"]
_ORDER = get_args(State)

#: The digest of a configuration without blocked settings.
NOTHING = digest({}, {})


class TrustDecision(msgspec.Struct, frozen=True):
    """Whether a project is trusted, and why."""

    #: `stale`: it was trusted, but the programs in its configuration have changed since.
    state: State
    #: The reason, as text.
    why: str
    #: The real path of the project's folder.
    candidate: str
    #: The user's policy for projects' configuration.
    policy: ProjectConfigPolicy
    #: Whether the program or the environment forbids trust.
    refused: bool = False
    #: Who else can change the project's folder or configuration, as text; empty if nobody.
    shared: str = ""
    #: Why lspkit's list cannot be used; empty if it can.
    warning: str = ""

    @property
    def allows_fields(self) -> bool:
        """Whether the project's configuration may name programs."""
        if self.refused or self.policy == "never":
            return False
        return self.policy == "always" or self.state == "trusted"

    @property
    def allows_programs(self) -> bool:
        """Whether programs inside the project may run."""
        return self.state == "trusted" and self.policy != "never"

    @property
    def remedy(self) -> str:
        """The command or the setting that would allow the blocked settings."""
        if self.refused:
            return f"do not set trusted=False or {VARIABLE}=never"
        if self.policy == "never":
            return 'set security.projectConfigPolicy to "trusted-only" in your own lsp.json'
        option = " --shared" if self.shared else ""
        command = f"lspkit trust add {shlex.quote(self.candidate)}{option}"
        return f"{command} (in a terminal), or Workspace(..., trusted=True)"


def patterns_of(
    security: SecurityConfig, *, environ: Mapping[str, str] = os.environ, file: str | None = None
) -> list[Pattern]:
    """The user's entries, compiled, or a `ConfigError` about the first invalid one."""
    patterns = []
    for number, entry in enumerate(security.trusted_project_roots):
        try:
            patterns.append(compile_pattern(entry, home=lambda name: home_of(name, environ)))
        except ConfigError as problem:
            place = f"security.trustedProjectRoots[{number}]"
            where = f"{one_line(file)}: {place}" if file else place
            raise ConfigError(
                f"{where}: {problem.message}", file=file, place=place, expected=problem.expected
            ) from None
    return patterns


def home_of(name: str, environ: Mapping[str, str]) -> str:
    """The real path that `~` or `~user` stands for."""
    named = environ.get("HOME", "") if name == "~" else ""
    folder = named or os.path.expanduser(name)
    return os.path.realpath(folder) if os.path.isabs(folder) else folder


def candidate_of(project_file: str | None, root: str) -> str:
    """The folder that identifies a project: that of its configuration, or else the root."""
    folder = whole = os.path.abspath(root)
    if project_file is not None:
        folder = os.path.dirname(os.path.abspath(project_file))
        # The workspace itself may have such a name.
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
    """Decide whether a project is trusted.

    `project` is the normalised content of its configuration file, `override` the decision of the
    embedding program. A root inside a workspace may be trusted differently from the workspace: it
    is decided separately, with no file and with the workspace as `around`.
    """
    patterns = patterns_of(security, environ=environ)
    setting = environ.get(VARIABLE, "")
    if setting not in ("", "always", "never"):
        why = f"{VARIABLE} is {setting!r}; expected always, never, or nothing"
        raise ConfigError(why, place=VARIABLE, expected="always, never, or nothing")
    decision = TrustDecision("untrusted", "", os.path.abspath(root), security.project_config_policy)
    try:
        decision = replace(decision, candidate=candidate_of(project_file, root))
        known = trust_list_for(around or decision.candidate, environ)
        decision = replace(
            decision,
            warning=known.warning,
            shared=_others_who_can_change(decision, project_file, environ),
        )
        decision = _decide_by_entries(
            decision, project_file, digest(project, EXECUTION_KEYS), patterns, known
        )
    except (OSError, ValueError, RecursionError) as problem:
        decision = replace(decision, state="untrusted", why=f"it cannot be examined: {problem}")
    if override is False or setting == "never":
        why = "trusted=False was given" if override is False else f"{VARIABLE} is never"
        return replace(decision, state="untrusted", why=why, refused=True)
    if override is True or setting == "always":
        why = "trusted=True was given" if override is True else f"{VARIABLE} is always"
        return replace(decision, state="trusted", why=why)
    return decision


def _decide_by_entries(
    decision: TrustDecision,
    project_file: str | None,
    content: str,
    patterns: Sequence[Pattern],
    known: TrustList,
) -> TrustDecision:
    """The best result of all entries: trusted, else stale, else untrusted."""
    places = _folders_to_trust(project_file, decision.candidate)
    judgements: list[tuple[State, str]] = []
    for pattern in patterns:
        if all(map(pattern.trusts, places)):
            apart = any(_is_other_repository(pattern.folder, place) for place in places)
            why = f"{one_line(pattern.entry)} in trustedProjectRoots"
            judgements.append(_judge(decision.shared, apart, why))
    for entry in known.entries:
        if _covers(entry, decision.candidate):
            apart = _is_other_repository(entry.path, decision.candidate)
            why = f"{one_line(entry.path)} was trusted on {entry.added[:10]}"
            same = entry.path == decision.candidate
            if not apart and content != (entry.digest if same else NOTHING):
                judgements.append(
                    ("stale", f"{why}, but the programs that it would run have changed")
                )
            else:
                judgements.append(_judge("" if entry.shared else decision.shared, apart, why))
    judgements.append(("untrusted", "no entry trusts it"))
    state, why = min(judgements, key=lambda judgement: _ORDER.index(judgement[0]))
    return replace(decision, state=state, why=why)


def _judge(shared: str, apart: bool, why: str) -> tuple[State, str]:
    if apart:
        return "untrusted", f"{why}, but this is another repository or third-party code inside it"
    if shared:
        words = f"but {one_line(shared)}, so it must be trusted as shared"
        return "untrusted", f"{why}, {words}"
    return "trusted", why


def _covers(entry: TrustEntry, candidate: str) -> bool:
    within = is_inside(candidate, entry.path)
    return os.path.isabs(entry.path) and within


def _folders_to_trust(project_file: str | None, candidate: str) -> tuple[str, ...]:
    """Every folder that must be trusted: the configuration may be a link to another folder."""
    if project_file is None:
        return (candidate,)
    real = os.path.realpath(project_file, strict=True)
    return (candidate,) if is_inside(real, candidate) else (candidate, os.path.dirname(real))


def _others_who_can_change(
    decision: TrustDecision, project_file: str | None, environ: Mapping[str, str]
) -> str:
    """Who else can change the project's folder or configuration, as text."""
    paths = [decision.candidate, *([] if project_file is None else [project_file])]
    return next(filter(None, (who_else_can_change(path, environ) for path in paths)), "")


def _is_other_repository(anchor: str, place: str) -> bool:
    """Whether a folder below an entry is third-party code or in another repository."""
    repository = _repository(anchor)
    if repository is None:
        return False
    between = os.path.relpath(place, anchor).split(os.sep)
    return _repository(place) != repository or not VENDORED.isdisjoint(between)


def _repository(folder: str) -> str | None:
    """The work tree that contains a folder. A folder that cannot be examined is an error."""
    for at in (folder, *folders_above(folder)):
        try:
            os.lstat(os.path.join(at, ".git"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        return at
    return None
