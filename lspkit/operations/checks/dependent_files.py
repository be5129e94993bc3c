"""What an edit does to other files: which of them it breaks, and which were broken before.

`Host.find_dependents` has the files that refer to what the edit changed, as servers know them.
Then come those that hold a changed name as a word. They are checked with the text after the edit.
The findings before the edit are those of an earlier check; where there is none, the files with
findings are checked once more while the servers are shown the texts before the edit.

Checks of a project, the hooks, and changes with `check="project"` all use this.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from pathlib import Path

import msgspec

from lspkit.config.model import Config
from lspkit.diagnostics.compare import Before, compare_findings
from lspkit.diagnostics.report import Evidence, OtherFiles, verdict_of, why_of
from lspkit.errors import CancelledError, LspkitError
from lspkit.operations import host_results
from lspkit.operations.checks.findings import known_findings, merge_findings
from lspkit.operations.checks.import_lines import uses_imports
from lspkit.operations.checks.word_dependents import find_word_dependents
from lspkit.operations.host import Host, OtherScope
from lspkit.protocol.text import Text
from lspkit.protocol.uris import uri_to_path
from lspkit.servers.project.word_search import WordFiles
from lspkit.types import Diagnostic, Severity, Verdict

#: Most edited files whose dependents are searched.
MOST_EDITED = 32
#: Most dependents that are checked by other servers than those of the edited files.
MOST_ELSEWHERE = 20
#: Why there may be more dependents.
TOO_MANY = f"the edit has changed more than {MOST_EDITED} files"
#: The least time for the state before the edit, in seconds.
LEAST = 1.0
#: The least time for a request, in seconds.
MOMENT = 0.05


class EditedFile(msgspec.Struct, frozen=True):
    """A file that an edit has changed."""

    path: str
    #: Its text before the edit; None: the text of which the runtime was told last.
    before: str | None = None
    #: Its text after the edit, if that is not on disk.
    after: str | None = None


class EditSearch(msgspec.Struct, frozen=True):
    """The edited files of a call, and the files that depend on them."""

    #: By path: the text before the edit, None if it is not known.
    old: dict[str, str | None] = {}
    #: The files that refer to what the edit changed, with the lines that do.
    lines: dict[str, tuple[int, ...]] = {}
    #: The names of what the edit changed.
    names: tuple[str, ...] = ()
    #: Why there may be more.
    reason: str = ""
    #: Names of what the edit changed, and paths of edited files, whose uses were not searched.
    unsearched: tuple[str, ...] = ()
    #: The files that import files which the edit has removed.
    importers: tuple[str, ...] = ()
    #: Seconds that are left; None: no limit.
    left: float | None = None
    #: Seconds until the servers were ready.
    waited: float = 0.0
    #: What the servers had reported about other files before the edit.
    known: tuple[host_results.KnownDiagnostics, ...] = ()
    #: Whether a server was asked for the first time: it has reported nothing before.
    is_first: bool = False
    #: Whether no other file can be concerned.
    is_internal: bool = False

    @property
    def dependents(self) -> tuple[str, ...]:
        """The paths of the files that refer to what the edit changed."""
        return tuple(self.lines)

    def without(self, paths: Iterable[str]) -> EditSearch:
        """The search without these files."""
        own = set(paths)
        lines = {path: numbers for path, numbers in self.lines.items() if path not in own}
        return msgspec.structs.replace(self, lines=lines) if len(lines) < len(self.lines) else self

    def concerns(self, path: str, finding: Diagnostic, text: str) -> bool:
        """Whether a finding is about what the edit changed: its message or its lines name that."""
        first, last = finding.range.start.line, finding.range.end.line
        lines = self.lines.get(path, ())
        if any(name in finding.message for name in self.names):
            return True
        if path in self.importers and uses_imports(text, lines, range(first, last + 1)):
            return True
        return any(first <= line <= last for line in lines)


def find_dependents(
    host: Host,
    files: Sequence[EditedFile],
    seconds: float | None = None,
    ready_within: float | None = None,
) -> EditSearch:
    """The files that depend on the edited ones, in these seconds after the servers are ready."""
    old: dict[str, str | None] = {}
    lines: dict[str, set[int]] = {}
    names: dict[str, None] = {}
    reason, left, is_first, age, waited = "", seconds, False, 0.0, 0.0
    unsearched = dict.fromkeys(file.path for file in files[MOST_EDITED:])
    is_internal = 0 < len(files) <= MOST_EDITED
    known = host.known_diagnostics(None)
    searches: dict[tuple[str, ...], WordFiles] = {}
    for file in files[:MOST_EDITED]:
        until = time_left(ready_within, waited)
        try:
            dependents = host.find_dependents(file.path, file.before, file.after, left, until)
        except CancelledError:
            raise
        except LspkitError:
            is_internal = False
            continue  # its check says why no server can be asked
        is_internal = is_internal and dependents.is_internal
        old[dependents.path] = dependents.old
        reason = reason or dependents.reason
        unsearched |= dict.fromkeys(dependents.unsearched)
        names |= dict.fromkeys(dependents.names)
        for path, numbers in dependents.lines.items():
            lines.setdefault(path, set()).update(numbers)
        is_first, age = is_first or dependents.is_first, max(age, dependents.age)
        left, waited = time_left(left, dependents.duration), waited + dependents.waited
        holders = find_word_dependents(host, dependents, left, searches)
        for path, held in holders.lines.items():
            lines.setdefault(path, set()).update(held)
        if holders.reason:
            reason = reason or holders.reason
            unsearched |= dict.fromkeys((dependents.path,))
        left = time_left(left, holders.duration)
    edited = {file.path for file in files} | old.keys()
    paths = [path for path in lines if path not in edited]
    return EditSearch(
        old,
        {path: tuple(sorted(lines[path])) for path in paths},
        tuple(names),
        reason or (TOO_MANY if len(files) > MOST_EDITED else ""),
        tuple(unsearched),
        # After the first search of a server, its first checks take longer, too.
        left=None if is_first and paths else left,
        waited=waited,
        known=tuple(report for report in known if report.age > age),
        is_first=is_first,
        is_internal=is_internal,
    )


def add_importers(
    host: Host, search: EditSearch, gone: tuple[str, ...], seconds: float | None = None
) -> EditSearch:
    """A search with the files that import files which the edit has removed."""
    importers = host.find_importers(gone, seconds)
    lines = {path: set(numbers) for path, numbers in search.lines.items()}
    for path, numbers in importers.lines.items():
        if path not in search.old:
            lines.setdefault(path, set()).update(numbers)
    return msgspec.structs.replace(
        search,
        # The state before cannot be shown to a server any more.
        old={path: old for path, old in search.old.items() if path not in gone},
        lines={path: tuple(sorted(numbers)) for path, numbers in lines.items()},
        reason=search.reason or importers.reason,
        unsearched=(*search.unsearched, *(gone if importers.reason else ())),
        importers=tuple(importers.lines),
        known=tuple(report for report in search.known if report.age > importers.age),
        # Without an edited file, nothing was checked yet that a server had to read the project for.
        left=time_left(search.left, importers.duration) if search.old.keys() - set(gone) else None,
        is_internal=search.is_internal and not importers.lines,
    )


def search_again(
    host: Host, search: EditSearch, files: Sequence[EditedFile], seconds: float | None = None
) -> EditSearch:
    """Search once more after the first check, if there was nothing: by then, a server may have read
    the project. The check has told the runtime the new texts, so the old ones must be known."""
    if search.lines or not search.is_first or not search.names or None in search.old.values():
        return search
    after = {file.path: file.after for file in files}
    again = find_dependents(
        host, [EditedFile(path, old, after.get(path)) for path, old in search.old.items()], seconds
    )
    return msgspec.structs.replace(again, old=search.old, left=None, is_first=True)


def time_left(seconds: float | None, took: float) -> float | None:
    """What is left of a time limit: always a moment, in which a quick server may answer."""
    return None if seconds is None else max(seconds - took, MOMENT)


class _State(msgspec.Struct, frozen=True):
    """The findings of one file at one time."""

    findings: list[Diagnostic]
    servers: list[Evidence]

    @property
    def is_proven(self) -> bool:
        return verdict_of([], self.servers) is Verdict.CLEAN

    @property
    def is_complete(self) -> bool:
        """Whether there can be no more findings, also not of a source that reads only the disk."""
        return self.is_proven and all(evidence.applies for evidence in self.servers)


def proven_servers(servers: Iterable[Evidence]) -> set[str]:
    """The servers whose findings are all proven."""
    applying = [evidence for evidence in servers if evidence.applies]
    unproven = {evidence.server for evidence in applying if not evidence.proven}
    return {evidence.server for evidence in applying} - unproven


def read_states(host: Host, examined: Iterable[host_results.Elsewhere]) -> dict[str, _State]:
    """The findings of the servers by path."""
    states: dict[str, _State] = {}
    for file in examined:
        findings, servers = merge_findings(host, file.uri, file.servers)
        path = str(findings[0].path) if findings and findings[0].path else uri_to_path(file.uri)
        states[path or file.uri] = _State(findings, servers)
    return states


def check_dependents(
    host: Host, search: EditSearch, paths: tuple[str, ...], scope: OtherScope
) -> OtherFiles:
    """The findings in other files than the edited ones, which are on disk."""
    others = host.examine_others(paths, scope)
    return compare_others(host, others, search, others.severity)


def compare_others(
    host: Host,
    others: host_results.OthersExamined,
    search: EditSearch,
    severity: Severity,
    *,
    on_disk: bool = True,
) -> OtherFiles:
    """The findings in other files, compared with those before the edit.

    They are kept for the next comparison if the edit is on disk.
    """
    if others.coverage == "none":
        return OtherFiles()
    states = read_states(host, others.elsewhere)
    if on_disk:
        states |= _states_by_other_servers(
            host, search, states, time_left(search.left, others.duration)
        )
    texts, before = _known_states(host, states)
    dated = {path for path, state in states.items() if state.findings and path in texts}
    wanted = [
        path
        for path in sorted(dated - before.keys())
        if any(finding.severity.counts(severity) for finding in states[path].findings)
    ]
    earlier: dict[str, list[Before]] = {path: [baseline] for path, baseline in before.items()}
    if wanted:
        left = time_left(search.left, others.duration)
        # A text before the edit does not bring back a file that is gone.
        shown = [path for path in wanted if others.sees_unsaved and path not in search.importers]
        first = [path for path, text in search.old.items() if text is not None and shown][:1]
        for path, state in old_states(host, search.old, first, shown, left):
            if path in wanted:
                earlier.setdefault(path, []).append(Before(texts[path], tuple(state.findings)))
        undated = [path for path in wanted if path not in earlier]
        for path, baseline in _reported_before(host, search, undated, texts):
            earlier[path] = [baseline]
    compared = _Comparison()
    for path in sorted(states):
        state = states[path]
        if path not in earlier and (path in search.lines or search.is_first):
            # Nothing is known from before: what does not concern the edit is taken for old.
            text = texts.get(path, Text(""))
            old = [
                finding
                for finding in state.findings
                if not search.concerns(path, finding, text.value)
            ]
            earlier[path] = [Before(text, tuple(old))]
        compared.add(path, state, earlier.get(path, []))
        if on_disk and path in texts and states[path].is_proven:
            last = Before(texts[path], tuple(states[path].findings))
            host.remember(Path(path), last, keeps_text=False)
    return _result(others, states, compared, search, severity)


def _states_by_other_servers(
    host: Host, search: EditSearch, known: Container[str], seconds: float | None
) -> dict[str, _State]:
    """The findings in dependents of which the servers of the edited files know nothing.

    They belong to another root, or to another language.
    """
    own: set[tuple[str, str]] = set()
    for path in search.old:
        own |= _servers_of(host, path)
    states: dict[str, _State] = {}
    for path in search.lines:
        if path in known or len(states) == MOST_ELSEWHERE or seconds == MOMENT:
            continue
        servers = _servers_of(host, path)
        if not own or not servers or not own.isdisjoint(servers):
            continue
        try:
            seen = host.examine(path, None, seconds=seconds)
        except CancelledError:
            raise
        except LspkitError:
            continue
        seconds = time_left(seconds, seen.duration)
        states |= read_states(host, [host_results.Elsewhere(seen.uri, seen.servers)])
    return states


def _servers_of(host: Host, path: str) -> set[tuple[str, str]]:
    """The servers of a file, running or not, each by id and root."""
    try:
        servers = host.file_servers(path)
    except LspkitError:
        return set()
    return {(server.server, server.root) for server in servers}


def _known_states(
    host: Host, states: dict[str, _State]
) -> tuple[dict[str, Text], dict[str, Before]]:
    """The texts of files with findings now or before, and their findings before the edit."""
    texts: dict[str, Text] = {}
    before: dict[str, Before] = {}
    for path in states:
        try:
            known = host.baseline(path)
            text = host.read_text(path)
        except LspkitError:
            continue  # a file outside, or none
        texts[path] = text
        if known is not None and known.text.value == text.value:
            before[path] = known
    return texts, before


def _reported_before(
    host: Host, search: EditSearch, paths: Sequence[str], texts: dict[str, Text]
) -> list[tuple[str, Before]]:
    """What servers have reported by themselves about these files before the edit."""
    findings = known_findings(host, search.known) if paths else {}
    return [
        (path, Before(texts[path], tuple(findings[Path(path)])))
        for path in paths
        if Path(path) in findings
    ]


def old_states(
    host: Host,
    old: dict[str, str | None],
    edited: Sequence[str],
    paths: Sequence[str],
    seconds: float | None,
) -> list[tuple[str, _State]]:
    """The proven findings before the edit, of these edited files and of others.

    Each time, all edited files are shown with their old texts.
    """
    texts = {path: text for path, text in old.items() if text is not None}
    scope = OtherScope(first=tuple(paths), most=len(paths), only=True) if paths else None
    left = None if seconds is None else max(seconds, LEAST)
    complete_states: list[tuple[str, _State]] = []
    for path in edited:
        if path not in texts or (left is not None and left <= MOMENT):
            continue
        other_texts = {other: text for other, text in texts.items() if other != path}
        try:
            seen = host.examine(path, texts[path], scope, left, other_texts)
        except CancelledError:
            raise
        except LspkitError:
            continue
        left = time_left(left, seen.duration)
        states = read_states(
            host, (host_results.Elsewhere(seen.uri, seen.servers), *seen.others.elsewhere)
        )
        complete_states += [
            (seen_path, state) for seen_path, state in states.items() if state.is_complete
        ]
    return complete_states


class _Comparison:
    """Findings by path: new ones, those that are gone, and those that remain."""

    def __init__(self) -> None:
        self.introduced: dict[Path, list[Diagnostic]] = {}
        self.fixed: dict[Path, list[Diagnostic]] = {}
        self.remaining: dict[Path, list[Diagnostic]] = {}

    def add(self, path: str, state: _State, earlier: list[Before]) -> None:
        """Compare one file, whose text is the same as before.

        A finding is old if it was there in every earlier state; if none is known, it is new.
        """
        remaining, fixed = state.findings if earlier else [], list[Diagnostic]()
        for baseline in earlier:
            _, fixed, remaining = compare_findings(
                baseline, baseline.text, remaining, proven_servers(state.servers)
            )
        new = [finding for finding in state.findings if finding not in remaining]
        for kept, findings in (
            (self.introduced, new),
            (self.fixed, fixed),
            (self.remaining, remaining),
        ):
            if findings:
                kept[Path(path)] = findings


def _result(
    others: host_results.OthersExamined,
    states: dict[str, _State],
    compared: _Comparison,
    search: EditSearch,
    severity: Severity,
) -> OtherFiles:
    by_path: dict[Path, list[Diagnostic]] = {}
    unknown: dict[Path, str] = {}
    for path, state in sorted(states.items()):
        if state.findings:
            by_path[Path(path)] = state.findings
        if why := why_of(state.servers):
            unknown[Path(path)] = why
    counted = [
        finding
        for findings in by_path.values()
        for finding in findings
        if finding.severity.counts(severity)
    ]
    left = [path for path in search.dependents if path not in states or not states[path].is_proven]
    everybody = [evidence for state in states.values() for evidence in state.servers]
    # Without other files there are no findings in them.
    verdict = verdict_of(counted, everybody) if states else Verdict.CLEAN
    if verdict is Verdict.CLEAN and (left or search.reason):
        verdict = Verdict.UNKNOWN
    return OtherFiles(
        others.coverage,
        verdict,
        by_path,
        unknown,
        compared.introduced,
        compared.fixed,
        compared.remaining,
        len(left),
        list(search.unsearched),
        search.reason,
    )


def limits_of(config: Config) -> tuple[int, float]:
    """Most dependents, and the seconds for them, as configured."""
    return config.diagnostics.max_dependents, config.timing.dependents_timeout_ms / 1000
