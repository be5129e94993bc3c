"""The guardian: a small program that starts servers for one host and ends all their processes.

It runs as a process of its own, `python -I -S guardian_main.py HOST_PID FOLDER`, with a socket to
the host as standard input, and imports nothing of lspkit. Each message of the host brings the
descriptors of one server: a control socket, a memory file that says what to run, and the server's
three streams. For each the guardian forks a *keeper*, which starts the server and stays with it.

The guardian and the keepers are child subreapers: the kernel makes every orphan among their
descendants their child, whatever session it has moved to. So a keeper ends a whole tree by killing
its own children until none is left; the children of those that it kills become its own. If a keeper
is killed, its orphans become the guardian's, which kills them. If both are killed, nobody does.

Lines of a keeper to the host: `pid NUMBER` or `error NUMBER STEP`, `status NUMBER` when the server
has ended, `gone` when nothing of its tree is left. The host writes `T` for SIGTERM, and shuts its
end to have the tree killed; the keeper also does that when the server has ended.

Guardian and keepers watch the host by a pidfd, since the end of a socket is not reported while a
forked child of the host holds a copy of it. When the host has ended, the guardian waits for the
keepers, and removes FOLDER, in which the servers' temporary folders are.
"""

from __future__ import annotations

# Every first server of a host waits for the start of this program. The modules `signal` and
# `socket` take half of that time; what is needed of them is in the modules that they are made of.
import _signal as signal  # type: ignore[import-not-found]
import _socket as socket
import ctypes
import gc
import os
import resource
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Descriptors of a message: control socket, memory file, three streams.
DESCRIPTORS = 5
#: Only the host, or its end, ends the guardian: it must outlive all servers.
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)
#: Milliseconds after which children are looked for again during a kill, if none has ended.
PAUSE = 100
#: The kernel's list of the children of this process, which has one thread.
CHILDREN = "/proc/thread-self/children"

PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)

#: The host's limit of descriptors for its children: soft and hard.
LIMIT = resource.getrlimit(resource.RLIMIT_NOFILE)


def attempt(action: Callable[..., object], *arguments: object) -> None:
    """Do something, and ignore a failure: what it is about may be gone."""
    try:
        action(*arguments)
    except OSError:
        pass


def poll_for(*descriptors: int) -> select.poll:
    """Polls for descriptors that are readable or hung up."""
    watch = select.poll()
    for descriptor in descriptors:
        watch.register(descriptor, select.POLLIN)
    return watch


def adopt_orphans(name: bytes) -> None:
    """Become the subreaper of descendants, under a name that `ps` shows."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")
    LIBC.prctl(PR_SET_NAME, name, 0, 0, 0)


def child_end_pipe() -> int:
    """A new descriptor that is readable when a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    # Python writes to the descriptor only for signals that have a Python handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def reap() -> tuple[dict[int, int], bool]:
    """The children that have ended with their status, and whether no child is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, True
        if pid == 0:
            return ended, False
        ended[pid] = os.waitstatus_to_exitcode(status)


def kill_children(spare: set[int]) -> bool:
    """Send SIGKILL to all children of this process except `spare`; False if there is none."""
    with open(CHILDREN, "rb") as listing:
        children = {int(pid) for pid in listing.read().split()} - spare
    for pid in children:
        attempt(os.kill, pid, signal.SIGKILL)  # it may run as another user
    return bool(children)


# A keeper


def keep(control: int, host: int, what: int, streams: list[int]) -> None:
    """The main loop of a keeper: one server, from its start until nothing of it is left."""
    adopt_orphans(b"lspkit-keeper")
    ends = child_end_pipe()
    server = start_server(control, what, streams)
    for descriptor in (what, *streams):
        os.close(descriptor)
    watch = poll_for(control, host, ends)
    killing = False
    while True:
        ended, alone = reap()
        if server in ended:
            # At once, before anything else: the host waits for it, and has no other way to know,
            # since a grandchild can hold the server's streams open.
            tell(control, f"status {ended[server]}")
            server, killing = 0, True
        if alone:
            tell(control, "gone")
            return
        if killing:
            kill_children(spare=set())
        for descriptor, _ in watch.poll(PAUSE if killing else None):
            if descriptor == ends:
                os.read(ends, 4096)
            elif descriptor == control and ordered(control):
                if server:
                    attempt(os.killpg, server, signal.SIGTERM)
            else:
                watch.unregister(descriptor)
                killing = True


def start_server(control: int, what: int, streams: list[int]) -> int:
    """Start the server and send its pid, or send the error and return 0."""
    request = os.pread(what, os.fstat(what).st_size, 0)
    folder, count, *rest = request.split(b"\0")
    argv, settings = rest[: int(count)], rest[int(count) :]
    env = dict(setting.split(b"=", 1) for setting in settings)
    step = "folder"
    try:
        os.chdir(folder)
        step = "program"
        pid = os.posix_spawn(
            argv[0],
            argv,
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, place) for place, fd in enumerate(streams)],
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals(),
        )
    except OSError as error:
        tell(control, f"error {error.errno} {step}")
        return 0
    # The host's limit, not the one that this process has set for itself.
    resource.prlimit(pid, resource.RLIMIT_NOFILE, LIMIT)
    os.chdir("/")
    tell(control, f"pid {pid}")
    return pid


def tell(control: int, message: str) -> None:
    """Send one line to the host, which may be gone."""
    attempt(os.write, control, message.encode("ascii") + b"\n")


def ordered(control: int) -> bool:
    """Whether the host has sent an order, and not hung up."""
    try:
        return os.read(control, 64) != b""
    except OSError:
        return False


# The guardian


def guard(requests: socket.socket, host: int) -> None:
    """The main loop of the guardian: until the host and all keepers have ended."""
    ends = child_end_pipe()
    watch = poll_for(requests.fileno(), host, ends)
    keepers: set[int] = set()
    host_ended = False
    while True:
        ended, alone = reap()
        keepers -= ended.keys()
        if host_ended and alone:
            return
        orphans = kill_children(spare=keepers)
        for descriptor, _ in watch.poll(PAUSE if orphans else None):
            if descriptor == ends:
                os.read(ends, 4096)
            elif descriptor == host or not accept(requests, host, ends, keepers):
                watch.unregister(descriptor)
                host_ended = True


def accept(requests: socket.socket, host: int, ends: int, keepers: set[int]) -> bool:
    """Accept one request and fork its keeper; False if the host has hung up.

    If no keeper can be forked, the host sees that its control socket is closed.
    """
    try:
        # Room for more: a host sends no more, and what has no room would be lost without a word.
        message, rights, *_ = requests.recvmsg(16, socket.CMSG_SPACE(4 * (DESCRIPTORS + 1)))
    except OSError:
        return False
    descriptors = [number for _, _, data in rights for number in memoryview(data).cast("i")]
    # Not by a flag of the call, which some versions of Python ignore.
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    try:
        if len(descriptors) == DESCRIPTORS:  # fewer: this process has none left
            pid = os.fork()
            if pid == 0:
                become_keeper(requests, host, ends, descriptors)
            keepers.add(pid)
    except OSError as error:
        tell(descriptors[0], f"error {error.errno} keeper")
    for descriptor in descriptors:
        os.close(descriptor)
    return message != b""


def become_keeper(requests: socket.socket, host: int, ends: int, descriptors: list[int]) -> None:
    """In the forked process: close what is the guardian's, keep the server, and exit."""
    try:
        os.dup2(1, requests.fileno())
        os.close(signal.set_wakeup_fd(-1))
        os.close(ends)
        control, what, *streams = descriptors
        keep(control, host, what, streams)
    finally:
        os._exit(0)


def main() -> None:
    """Check that the host still runs, then serve it."""
    host_pid = int(sys.argv[1])
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    # A host that was short of descriptors at its start must not stay so.
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT[1], LIMIT[1]))
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    host = os.pidfd_open(host_pid)
    # Opened first, then compared: if the host has ended, its number may be reused.
    if os.getppid() != host_pid:
        return
    adopt_orphans(b"lspkit-guardian")
    # Keepers share this memory until it is written to.
    gc.disable()
    gc.freeze()
    guard(socket.socket(fileno=0), host)


if __name__ == "__main__":
    try:
        main()
    finally:
        import shutil  # only here, since the start has to be quick

        shutil.rmtree(sys.argv[2], ignore_errors=True)
        os._exit(0)
