"""The errors for callers of a server that has ended, did not start, or is late."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from lspkit import errors
from lspkit.install.install_hint import GET_IT_WITH, InstallHint, install_hint, user_folders
from lspkit.runtime.process.backoff import FailureRecord
from lspkit.runtime.process.child import describe_exit
from lspkit.runtime.server.connection import CLOSED_INPUT, CLOSED_OUTPUT
from lspkit.servers.selection.choose import Choice, disabled_text, unfit_programs
from lspkit.visible_text import count

#: Words of lines that say what went wrong; and beginnings of lines that do not.
ERROR_WORDS = re.compile(
    r"error|exception|panic|fatal|fail|cannot|can't|could not|unable|denied|missing|required"
    r"|not found|no such|not supported|unsupported|invalid|unknown",
    re.IGNORECASE,
)
EMPTY_WORDS = ("Traceback (", "Require stack", "Node.js v", "note: ", "node:internal", "    at ")
#: A longer line is cut.
LONGEST_LINE = 300


def telling_line(stderr: str) -> str:
    """The first line that says what went wrong; else the last line; empty if there is none.

    Later lines are a stack trace or consequences. Indented lines are code or part of a trace.
    """
    lines = [line for line in stderr.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(EMPTY_WORDS)] or lines
    whole = [line for line in lines if not line[0].isspace()] or lines
    telling = next((line for line in whole if ERROR_WORDS.search(line)), whole[-1] if whole else "")
    return telling.strip()[:LONGEST_LINE]


def gone(server: str, reason: str, status: int | None, stderr: str) -> errors.ServerBrokenError:
    """The server has ended."""
    line = telling_line(stderr)
    words = f"; it says: {line}" if line else ""
    return errors.ServerBrokenError(
        f"{server} is gone: {reason}{words}", server=server, exit_status=status, stderr=stderr
    )


def ended(
    choice: Choice, reason: str, status: int | None, stderr: str, *, never_up: bool
) -> errors.LspkitError:
    """The connection to the server has ended; `never_up`: before it has sent a message."""
    if status is not None and reason in (CLOSED_INPUT, CLOSED_OUTPUT):
        reason = f"it ended with {describe_exit(status)}"
    if never_up and status is not None and status >= 0:
        # For example a stub that exits at once: no server has crashed, there was none.
        words = f": {telling_line(stderr)}" if stderr else ""
        return not_starting(choice, f"{reason}{words}")
    return gone(choice.id, reason, status, stderr)


def with_record(error: errors.LspkitError, record: FailureRecord, now: float) -> errors.LspkitError:
    """A copy with how often the server has failed and when it is tried again."""
    if not isinstance(error, errors.ServerBrokenError):
        return error
    wait = record.retry_at - now if record.retry_at > now else None
    fields = {**error.fields, "attempts": record.attempts, "retry_in": wait}
    return errors.ServerBrokenError(error.message, **fields)


def too_early(failure: errors.LspkitError, record: FailureRecord, now: float) -> errors.LspkitError:
    """A server that has failed may not be started again yet."""
    wait = record.retry_at - now
    again = "not before a reload" if wait == float("inf") else f"in {wait:.0f} s"
    message = f"{failure} (failed {count(record.attempts, 'time')}; next try {again})"
    return with_record(errors.ServerBrokenError(message, **failure.fields), record, now)


def hint_of(choice: Choice) -> InstallHint:
    """How to get the server. Looks into the folders of programs."""
    return install_hint(choice.definition, user_folders())


def useless(
    choice: Choice, why: str, hint: InstallHint | None = None
) -> errors.ServerUnavailableError:
    """The program was found, but does not work."""
    program = choice.argv[0]
    return errors.ServerUnavailableError(
        f"{choice.id} does not work: {program}: {why}",
        server=choice.id,
        looked_for=program,
        install=(hint or hint_of(choice)).command,
    )


def not_starting(
    choice: Choice, why: str, hint: InstallHint | None = None
) -> errors.ServerUnavailableError:
    """The program was found, but ends or refuses when it is started as a server."""
    hint = hint or hint_of(choice)
    return useless(choice, f"{why}{_words(hint)}", hint)


def never_started(
    choice: Choice, error: errors.LspkitError, attempts: int, hint: InstallHint
) -> errors.ServerUnavailableError:
    """It has ended at each of several starts."""
    why = f"it does not start, tried {count(attempts, 'time')}: {error}"
    return not_starting(choice, why, hint)


def held_back(choice: Choice, folders: Sequence[str]) -> errors.ServerUnavailableError:
    """It would run code of a project that is not trusted, or lacks something."""
    if not choice.trust_helps:
        hint = install_hint(choice.definition, folders)
        message = f"{choice.id} {choice.why_not}{_words(hint)}"
        return errors.ServerUnavailableError(message, server=choice.id, install=hint.command)
    return errors.ServerUnavailableError(
        f"{choice.id} is {choice.why_not}", server=choice.id, rule=choice.permit.state
    )


def unusable_path(choice: Choice) -> errors.ServerUnavailableError:
    """The server would end if it was told of this file."""
    message = f"the path of the file is not valid UTF-8, and {choice.id} cannot be told of it"
    return errors.ServerUnavailableError(message, server=choice.id)


def missing(
    choice: Choice, folders: list[str], disabled: Sequence[str] = ()
) -> errors.ServerUnavailableError:
    """No program of the server was found. `disabled` servers could run in its place."""
    commands = choice.definition.launch.commands
    names = " or ".join(dict.fromkeys(command[0] for command in commands)) or "a command"
    any_of_family = not choice.config.selects and not choice.by_compiler
    hint = install_hint(choice.definition, folders, any_of_family=any_of_family, disabled=disabled)
    other = f" ({disabled_text(disabled)})" if disabled and any_of_family else ""
    why = [choice.why] if choice.by_compiler else []
    more = "; ".join(["", *why, *unfit_programs(choice.definition, folders)])
    return errors.ServerUnavailableError(
        f"{_not_there(choice, names)}{other}{more}{_words(hint)}",
        server=choice.id,
        looked_for=f"{names} in {os.pathsep.join(folders)}",
        install=hint.command,
    )


def _not_there(choice: Choice, names: str) -> str:
    """That the program of a server is missing. The program is named: its id may be a language."""
    if os.sep in names:
        return f"{names} was not found, which the configuration of {choice.id} names"
    whose = "" if choice.id in names else f", the program of {choice.id},"
    return f"{names}{whose} is not installed"


def _words(hint: InstallHint) -> str:
    words = str(hint)
    other = f"; {hint.instead} does the same" if hint.instead else ""
    return f"{other}{GET_IT_WITH}{words}" if words else ""


def late(
    server: str,
    method: str,
    waited: float,
    *,
    setting: str,
    state: str,
    progress: tuple[str, ...],
    in_flight: tuple[str, ...],
    stderr: str,
) -> errors.RequestTimeoutError:
    """The call has timed out; says what may explain it, and which setting set the limit."""
    doing = f"; it says it is busy with {', '.join(progress)}" if progress else ""
    limit = f"; {setting} ended the wait" if setting else ""
    what = f"did not answer {method}" if method else "was not ready"
    return errors.RequestTimeoutError(
        f"{server} {what} within {waited:.1f} s (it is {state}{doing}){limit}",
        server=server,
        state=state,
        progress=progress,
        in_flight=in_flight,
        stderr=stderr,
    )
