"""Starting the service: of all clients that need it, one starts it and the others wait."""

from __future__ import annotations

import atexit
import fnmatch
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping

from lspkit.errors import ConfigError, ServerUnavailableError
from lspkit.servers.restriction.launch_environment import clean_path
from lspkit.service.runtime_folder import Bootstrap, Place, write_bootstrap
from lspkit.workspace_boundary import project_tree

#: Variables of the client that the service gets; other variables never reach a server.
PASSED_ON = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("LANG", "LANGUAGE", "LC_*", "XDG_*", "LSPKIT_*"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_*", "PYTHONPATH", "PYTHONHOME"),
    *("GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOENV", "GOFLAGS", "GOPROXY"),
    *("GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN", "GO111MODULE"),
    *("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"),
    *("JAVA_HOME", "JDK_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME"),
    *("NODE_PATH", "NODE_OPTIONS", "NVM_*", "FNM_*", "VOLTA_HOME", "PNPM_HOME", "DENO_*"),
    *("GEM_HOME", "GEM_PATH", "RBENV_*", "DOTNET_*", "SDKROOT", "DEVELOPER_DIR"),
    *("SYSTEMROOT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "USERPROFILE"),
)
#: The variable with the workspace and configuration of a service.
BOOTSTRAP_VARIABLE = "LSP_BOOTSTRAP"
#: The variable with the `PYTHONPATH` of the servers, where the service does without a part of it.
SERVERS_PYTHONPATH = "LSPKIT_SERVERS_PYTHONPATH"
#: Bytes of an environment variable that every system accepts.
LARGEST_BOOTSTRAP = 100 * 1024
#: Seconds between attempts to reach a service that is starting.
RETRY = 0.02
#: Bytes of the end of the log that an error quotes.
QUOTED = 2000


def service_environment(environ: Mapping[str, str], root: str) -> dict[str, str]:
    """The variables of a service of a folder that this client starts.

    It imports nothing from the project. Its servers may, if the project is trusted.
    """
    passed = {
        name: value
        for name, value in environ.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in PASSED_ON)
    }
    python_path = passed.get("PYTHONPATH", "")
    outside = clean_path(python_path, project_tree(root))
    if outside == python_path:
        return passed
    return passed | {"PYTHONPATH": outside, SERVERS_PYTHONPATH: python_path}


def connect_socket(place: Place) -> socket.socket | None:
    """A connection to the running service; None if there is none."""
    return connect_path(place.socket)


def connect_path(path: str) -> socket.socket | None:
    """A connection to the service on a socket; None if none listens there."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        made.close()
        return None
    except OSError as problem:
        made.close()
        raise ServerUnavailableError(
            f"the service cannot be reached at {path}: {problem.strerror}"
        ) from None
    return made


def service_pid(connection: socket.socket) -> int:
    """The process that listens at the other end, also if it hangs."""
    if sys.platform == "darwin":
        return connection.getsockopt(0, 2)  # LOCAL_PEERPID
    size = struct.calcsize("3i")
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid: int = struct.unpack("3i", data)[0]
    return pid


def connect_or_start(
    place: Place, bootstrap: Bootstrap, environ: Mapping[str, str], deadline: float
) -> socket.socket:
    """A connection to the service, which is started if none runs.

    The lock belongs to the process that holds it: it does not outlive a client that is killed.
    """
    reap_services()
    made = connect_socket(place)
    if made is not None:
        return made
    import filelock  # here: a running service needs no lock

    try:
        lock = filelock.FileLock(place.starting_lock, mode=0o600)
        with lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            made = connect_socket(place)
            return _start(place, bootstrap, environ, deadline) if made is None else made
    except filelock.Timeout:
        raise ServerUnavailableError(
            "another program is starting the service, and has not finished in time"
        ) from None
    except OSError as problem:
        raise ServerUnavailableError(
            f"the service cannot be started: {place.folder}: {problem.strerror or problem}"
        ) from None


def _start(
    place: Place, bootstrap: Bootstrap, environ: Mapping[str, str], deadline: float
) -> socket.socket:
    """Start the service, and connect to it. Called with the lock."""
    text = write_bootstrap(bootstrap)
    if len(text) > LARGEST_BOOTSTRAP:
        raise ConfigError(f"the configuration has more than {LARGEST_BOOTSTRAP} bytes as JSON")
    variables = service_environment(environ, bootstrap.workspace_root)
    variables[BOOTSTRAP_VARIABLE] = text
    with open(place.log, "wb", opener=_private) as log:
        process = subprocess.Popen(
            # -P: nothing is imported from the current folder.
            [sys.executable, "-P", "-m", "lspkit", "serve", "--started-by-client"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=variables,
            cwd=os.sep,
            start_new_session=True,
        )
    _started.append(process)
    try:
        made = _await_socket(place, process, deadline)
    except BaseException:
        process.kill()  # also after an interrupt: nobody waits for it any longer
        raise
    if made is None:
        process.kill()
        raise ServerUnavailableError(f"the service was not ready in time. {log_tail(place)}")
    return made


def _await_socket(
    place: Place, process: subprocess.Popen[bytes], deadline: float
) -> socket.socket | None:
    """A connection to a service that was just started; None if there is none in time."""
    while time.monotonic() < deadline:
        ended = process.poll()
        made = connect_socket(place)
        if made is not None:
            return made
        if ended is not None:
            raise ServerUnavailableError(
                f"the service ended with status {ended} before it was ready. {log_tail(place)}"
            )
        time.sleep(RETRY)
    return None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


#: Services that this process has started, which may outlive it.
_started: list[subprocess.Popen[bytes]] = []


@atexit.register
def _forget_services() -> None:
    """At the end of this process: Python need not warn about what outlives it on purpose."""
    for process in _started:
        if process.poll() is None:
            process.returncode = 0


def reap_services() -> None:
    """Collect the exit status of services that have ended, so that no zombie is left."""
    for process in _started.copy():
        if process.poll() is not None and process in _started:
            _started.remove(process)


def log_tail(place: Place) -> str:
    """The end of the service's log, as a sentence."""
    try:
        with open(place.log, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - QUOTED))
            text = stream.read().decode(errors="replace").strip()
    except OSError:
        text = ""
    return f"Its log ends with: {text}" if text else "Its log is empty"
