"""The folder of each conversation of a front end, kept in the user's state folder.

    from lspkit import conversations

    cwd = conversations.resolve("tab-1", "/path/to/project")  # stores it
    cwd = conversations.resolve("tab-1")  # the stored one, also after a restart

The store is a SQLite file that only the user can access. Any number of processes and threads may
use it at once. A file that cannot be used is an error, and is never replaced.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.config.trust.trust_store import state_folder
from lspkit.errors import ConfigError, PathError
from lspkit.visible_text import one_line

__all__ = ["cwds", "forget", "get_cwd", "resolve", "set_cwd"]

#: The store, in the state folder.
FILE = "conversations.sqlite3"
#: Marks the file as this store: "lspk".
APPLICATION_ID = 0x6C73706B
#: Version of the tables. A file of another version is not used.
VERSION = 1
#: Characters of an id.
LONGEST_ID = 200
#: What an id is made of, in the syntax that Python and OpenAPI have in common: no control
#: characters, no space but the common one, and no invisible characters of the usual plane.
ID_PATTERN = (
    r"^[^\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    r"\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]+$"
)
_ID = re.compile(ID_PATTERN)
#: Bytes that are no UTF-8, as Python shows them.
_SURROGATES = re.compile(r"[\ud800-\udfff]")
#: Conversations that are kept. The ones that were not set for the longest time are removed.
MOST = 100_000
#: Seconds to wait for another process that writes.
PATIENCE = 30.0


def get_cwd(id: str) -> Path | None:
    """The folder of a conversation, None if it has none yet.

    Raises a `PathError` if the folder does not exist any more.
    """
    return ConversationStore(state_folder()).get_cwd(id)


def set_cwd(id: str, cwd: str | os.PathLike[str]) -> Path:
    """Store the folder of a conversation; returns its real path."""
    return ConversationStore(state_folder()).set_cwd(id, cwd)


def resolve(id: str, cwd: str | os.PathLike[str] | None = None) -> Path:
    """The folder for one turn of a conversation: `cwd`, which is stored, or else the stored one."""
    return ConversationStore(state_folder()).resolve(id, cwd)


def cwds() -> dict[str, str]:
    """The folders of all conversations, by id: those that were set last come first.

    They are as they were stored; some may not exist any more.
    """
    return ConversationStore(state_folder()).cwds()


def forget(id: str) -> str | None:
    """Remove a conversation; returns its folder, None if it had none."""
    return ConversationStore(state_folder()).forget(id)


def check_id(id: str) -> None:
    """Raise a `ValueError` if this cannot be the id of a conversation."""
    if len(id) > LONGEST_ID or not _ID.fullmatch(id) or _SURROGATES.search(id):
        raise ValueError(f"an id has 1 to {LONGEST_ID} visible characters, not {id[:40]!r}")


class ConversationStore:
    """The conversations in one state folder. It keeps nothing open between calls."""

    def __init__(self, folder: str) -> None:
        self._file = os.path.join(folder, FILE)

    def get_cwd(self, id: str) -> Path | None:
        """The folder of a conversation, None if it has none yet."""
        check_id(id)
        if not os.path.lexists(self._file):
            return None
        with self._opened() as store:
            row = store.execute("SELECT cwd FROM conversations WHERE id = ?", (id,)).fetchone()
        return None if row is None else _existing(os.fsdecode(row[0]), id)

    def set_cwd(self, id: str, cwd: str | os.PathLike[str]) -> Path:
        """Store the folder of a conversation; returns its real path."""
        check_id(id)
        real = _existing(os.fspath(cwd))
        with self._opened() as store:
            store.execute(
                "INSERT INTO conversations (id, cwd, changed) VALUES (?, ?, ?) ON CONFLICT (id) "
                "DO UPDATE SET cwd = excluded.cwd, changed = excluded.changed",
                (id, os.fsencode(real), time.time()),
            )
            store.execute(
                "DELETE FROM conversations WHERE id IN (SELECT id FROM conversations "
                "ORDER BY changed DESC LIMIT -1 OFFSET ?)",
                (MOST,),
            )
        return real

    def cwds(self) -> dict[str, str]:
        """The folders of all conversations, by id: those that were set last come first."""
        if not os.path.lexists(self._file):
            return {}
        with self._opened() as store:
            rows = store.execute(
                "SELECT id, cwd FROM conversations ORDER BY changed DESC"
            ).fetchall()
        return {id: os.fsdecode(cwd) for id, cwd in rows}

    def forget(self, id: str) -> str | None:
        """Remove a conversation; returns its folder, None if it had none."""
        check_id(id)
        if not os.path.lexists(self._file):
            return None
        with self._opened() as store:
            row = store.execute("SELECT cwd FROM conversations WHERE id = ?", (id,)).fetchone()
            store.execute("DELETE FROM conversations WHERE id = ?", (id,))
        return None if row is None else os.fsdecode(row[0])

    def resolve(self, id: str, cwd: str | os.PathLike[str] | None = None) -> Path:
        """The folder for one turn: `cwd`, which is stored, or else the stored one."""
        if cwd is not None:
            return self.set_cwd(id, cwd)
        folder = self.get_cwd(id)
        if folder is None:
            raise PathError(f"the conversation {id} has no folder yet: give its cwd", path="")
        return folder

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database in a transaction, which is committed at the end."""
        try:
            self._prepare_file()
            # Transactions are begun here, and not by the module.
            connection = sqlite3.connect(self._file, timeout=PATIENCE, isolation_level=None)
            with contextlib.closing(connection) as store:
                store.execute("BEGIN IMMEDIATE")
                self._prepare_tables(store)
                yield store
                store.execute("COMMIT")
        except sqlite3.Error as problem:
            raise self._unusable(str(problem)) from None
        except OSError as problem:
            raise self._unusable(str(problem.strerror or problem)) from None

    def _prepare_file(self) -> None:
        """Make the file if it is missing. SQLite gives its journal the same mode."""
        os.makedirs(os.path.dirname(self._file), mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(self._file, flags, 0o600)
        try:
            if os.name == "posix" and os.fstat(descriptor).st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
        if why := who_else_can_change(self._file):
            raise self._unusable(why)

    def _prepare_tables(self, store: sqlite3.Connection) -> None:
        marks = [store.execute(f"PRAGMA {name}").fetchone()[0] for name in MARKS]
        if marks == list(MARKS.values()):
            return
        if marks != [0, 0] or store.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise self._unusable(f"it is no store of version {VERSION}")
        store.execute(
            "CREATE TABLE conversations (id TEXT PRIMARY KEY, cwd BLOB NOT NULL, "
            "changed REAL NOT NULL) WITHOUT ROWID"
        )
        store.execute("CREATE INDEX by_change ON conversations (changed)")
        for name, value in MARKS.items():
            store.execute(f"PRAGMA {name} = {value}")

    def _unusable(self, why: str) -> ConfigError:
        text = f"{one_line(self._file)} cannot be used: {why}"
        return ConfigError(f"{text}. It is left as it is; rename it to begin anew", file=self._file)


#: What is written into the head of the file, by the names of the pragmas.
MARKS = {"application_id": APPLICATION_ID, "user_version": VERSION}


def _existing(cwd: str, id: str = "") -> Path:
    """The real path of a folder; raises a `PathError` if it is none."""
    try:
        is_path = b"\0" not in os.fsencode(cwd)
    except UnicodeEncodeError:  # surrogates that stand for no byte
        is_path = False
    real = os.path.realpath(cwd) if is_path else cwd
    if is_path and os.path.isdir(real):
        return Path(real)
    missing = not is_path or not os.path.lexists(real)
    what = "does not exist" if missing else "is not a folder"
    whose = f", the folder of the conversation {id}," if id else ""
    raise PathError(f"{cwd}{whose} {what}", code="ENOENT", path=cwd, resolved=real)
