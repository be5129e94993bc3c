"""Where the service's socket, locks and log are.

They are in a folder that only the user can access, outside any project. The path of a Unix socket
may have at most about 100 bytes, so names are short hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lspkit.config import Config
from lspkit.config.config_files import PROJECT_FILES, global_files, user_home
from lspkit.config.trust.file_ownership import who_else_can_change
from lspkit.config.trust.trust_store import FILE as TRUST_FILE
from lspkit.config.trust.trust_store import state_folder
from lspkit.errors import ConfigError, ServerUnavailableError
from lspkit.msgspec_types import convert
from lspkit.types import to_plain
from lspkit.version import VERSION
from lspkit.workspace_boundary import is_inside, project_tree

# Whether the configuration of a workspace has changed on disk.

#: Device, inode, size and times of each file; None for one that is missing.
ConfigStamp = tuple[tuple[int, ...] | None, ...]


def config_sources(root: str, given: object, environ: Mapping[str, str]) -> list[str]:
    """The files that the configuration of a workspace may be read from."""
    trust = os.path.join(state_folder(environ), TRUST_FILE)
    if given is not None:
        return [trust, given] if isinstance(given, str) else [trust]
    project = [os.path.join(root, *kind.name.split("/")) for kind in PROJECT_FILES]
    return [trust, *global_files(environ, user_home(environ)), *project]


def config_stamp(files: Sequence[str]) -> ConfigStamp:
    """The state of these files. It takes some microseconds for each."""
    return tuple(map(_stamp, files))


def _stamp(file: str) -> tuple[int, ...] | None:
    # Most are missing. To ask for one with `stat` takes three times as long: it raises.
    if not os.access(file, os.F_OK):
        return None
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


#: Bytes of a socket's path on the systems that allow least, without the final NUL.
LONGEST_SOCKET_PATH = 103
#: Endings of the files that are removed when their service is gone, and the seconds after which.
REMOVED = (".sock", ".log", ".token")
OLD = 7 * 24 * 3600.0

ConfigLike = Config | Mapping[str, Any] | str | os.PathLike[str] | None


class Place(msgspec.Struct, frozen=True):
    """The files of one service."""

    folder: str
    #: Stands for the root. All versions of lspkit have the same.
    key: str
    version: str = VERSION

    @property
    def socket(self) -> str:
        """The socket that it listens on."""
        return os.path.join(self.folder, f"{self.key}-{_digest(self.version, 8)}.sock")

    @property
    def starting_lock(self) -> str:
        """Held by the client that starts it."""
        return self.socket.removesuffix("sock") + "start"

    @property
    def running_lock(self) -> str:
        """Held by the service as long as it runs."""
        return self.socket.removesuffix("sock") + "lock"

    @property
    def log(self) -> str:
        """What it has printed and logged since it was started."""
        return self.socket.removesuffix("sock") + "log"

    @property
    def token(self) -> str:
        """The token for its HTTP server."""
        return self.socket.removesuffix("sock") + "token"

    def other_sockets(self) -> list[str]:
        """The sockets of other versions of lspkit for the same workspace."""
        sockets = Path(self.folder).glob(f"{self.key}-*.sock")
        return sorted(str(path) for path in sockets if str(path) != self.socket)


class Bootstrap(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """How a service is started: its workspace and its configuration."""

    workspace_root: str
    #: A configuration, or the path of its file; None: that of the user and of the project.
    config: dict[str, Any] | str | None = None
    trusted: bool | None = None

    def place(self, environ: Mapping[str, str], *, create: bool = True) -> Place:
        """The files of this service. One per user, folder, configuration and trust.

        Variables of a client that lead to another configuration lead to another service. Without
        `create` nothing is written.
        """
        root = os.path.realpath(self.workspace_root)
        sources = config_sources(root, self.config, environ)
        values = [root, self.config, self.trusted, sources, environ.get("LSPKIT_TRUST", "")]
        text = json.dumps(values, sort_keys=True)
        folder = runtime_folder(environ, self.workspace_root, create=create)
        return Place(folder, _digest(text, 16))


def bootstrap_of(
    root: str | os.PathLike[str], config: ConfigLike, trusted: bool | None
) -> Bootstrap:
    """How the service for these arguments of `connect` is started."""
    given: dict[str, Any] | str | None = None
    if isinstance(config, Config | Mapping):
        given = to_plain(config if isinstance(config, Config) else dict(config))
    elif config is not None:
        given = os.path.abspath(os.fspath(config))
    return Bootstrap(os.path.realpath(root), given, trusted)


def write_bootstrap(bootstrap: Bootstrap) -> str:
    """The value of `LSP_BOOTSTRAP`. A path that is not UTF-8 is written with escapes."""
    return json.dumps(msgspec.to_builtins(bootstrap))


def read_bootstrap(text: str) -> Bootstrap:
    """The value of `LSP_BOOTSTRAP`. Raises a `ConfigError` if it cannot be used."""
    try:
        # Not msgspec: it refuses lone surrogates, which are parts of paths that are not UTF-8.
        bootstrap = convert(json.loads(text), Bootstrap)
    except (msgspec.ValidationError, ValueError, RecursionError) as problem:
        raise _bad_bootstrap(str(problem)) from None
    root = bootstrap.workspace_root
    if not os.path.isabs(root) or not os.path.isdir(root):
        raise _bad_bootstrap(
            f"workspaceRoot is {root!r}, which is not the absolute path of a folder"
        )
    return bootstrap


def _bad_bootstrap(why: str) -> ConfigError:
    return ConfigError(
        f"LSP_BOOTSTRAP cannot be used: {why}",
        expected='{"workspaceRoot": "/path/to/project", "config": {}}',
    )


def runtime_folder(environ: Mapping[str, str], root: str, *, create: bool = True) -> str:
    """The folder for sockets and locks; with `create` it is made if necessary.

    Raises a `ServerUnavailableError` if there is none that only the user can access.
    """
    tried: list[str] = []
    for folder in _candidates(environ):
        if is_inside(os.path.realpath(folder), project_tree(os.path.realpath(root))):
            tried.append(f"{folder} is in the project")
        elif why := _unusable(folder, create=create):
            tried.append(why)
        else:
            return folder
    raise ServerUnavailableError(
        f"there is no folder for the service's socket: {'; '.join(tried)}. "
        "Set XDG_RUNTIME_DIR to a folder that only you can access"
    )


def runtime_folders(environ: Mapping[str, str]) -> list[str]:
    """The folders that `runtime_folder` can return, whatever the workspace."""
    return [folder for folder in _candidates(environ) if not _unusable(folder, create=False)]


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    """The folders to try, each once, without a trailing or doubled slash in it."""
    base = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base):
        yield os.path.normpath(os.path.join(base, "lspkit"))
    else:
        usual = f"/run/user/{os.getuid()}"
        if os.path.isdir(usual):
            yield os.path.join(usual, "lspkit")
    # Where `tempfile` would look; importing it takes 5 ms.
    given = [environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    bases = filter(os.path.isabs, [*given, "/tmp", "/var/tmp", "/usr/tmp"])
    for base in dict.fromkeys(map(os.path.realpath, bases)):
        yield os.path.join(base, f"lspkit-{os.getuid()}")


def _unusable(folder: str, *, create: bool) -> str:
    """Why a folder cannot hold the socket; empty if it can. With `create` it is made."""
    if len(os.fsencode(folder)) + 1 + len(_digest("", 16)) + 14 > LONGEST_SOCKET_PATH:
        return f"{folder} is too long for a socket"
    try:
        if not create and not os.path.lexists(folder):
            return "" if os.access(os.path.dirname(folder), os.W_OK) else f"{folder} is missing"
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode):
            return f"{folder} is not a folder"
        if status.st_uid != os.geteuid():
            return f"{folder} belongs to somebody else"
        if status.st_mode & 0o077:
            os.chmod(folder, 0o700)
        return who_else_can_change(folder)
    except OSError as problem:
        return f"{folder}: {problem.strerror}"


def remove_old_files(place: Place) -> None:
    """Remove the logs, tokens and sockets of other services that were ended, or killed, days ago.

    Their locks are held meanwhile, so that none of them starts. The files of the locks stay, which
    are empty: a process that waits for a lock whose file is removed would not exclude others.
    """
    import filelock  # here: a client does not need it

    for entry in list(Path(place.folder).iterdir()):
        stem, ending = os.path.splitext(entry)
        if ending not in REMOVED or stem == os.path.splitext(place.socket)[0] or not _is_old(entry):
            continue
        starting = filelock.FileLock(f"{stem}.start", mode=0o600, timeout=0)
        running = filelock.FileLock(f"{stem}.lock", mode=0o600, timeout=0)
        try:
            with starting, running:
                if _is_old(entry):
                    entry.unlink()
        except (filelock.Timeout, OSError):
            continue  # it runs, or starts, or somebody else has removed it


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > OLD
    except OSError:
        return False


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
