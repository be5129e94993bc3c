"""The guardian: a small program that starts servers for one host and ends all their processes.

It runs as a separate process, `python -I -S guardian_main.py HOST_PID`, with a socket to the host
as standard input, and imports nothing of lspkit. For each message with four descriptors (a control
socket and the server's three streams) it forks a *keeper*. The keeper is a child subreaper: orphans
of its server, in whatever session, become the keeper's children and can be found. The keeper reads
from the control socket what to run, starts it, sends the host `pid`, `status` and `gone`, obeys the
orders `T` (terminate) and `K` (kill), and kills the rest of the tree when the server or the host
has ended or the host has hung up. Both watch the host by a pidfd: the end of a socket is not
reported while a forked child of the host holds a copy of it.

These processes may be stopped (SIGSTOP). The host continues the guardian (SIGCONT) whenever it
needs it, the kernel does so when the host ends, and the guardian does so for its keepers.
"""

from __future__ import annotations

# Every first server of a host waits for the start of this program. The modules `signal`, `socket`
# and `array` take half of that time. What is needed of the first two is in the modules that they
# are made of; `struct` is loaded by `ctypes` anyway.
import _signal as signal  # type: ignore[import-not-found]
import _socket as socket
import ctypes
import gc
import os
import resource
import select
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes of the length that precedes a request.
LENGTH_BYTES = 8
#: Bytes of a descriptor in a message of the kernel.
INT_BYTES = struct.calcsize("i")
#: Only the host, or its end, ends the guardian: it must outlive all servers.
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)
#: Milliseconds between two searches for descendants that were started during the kill.
FIRST_PAUSE, LAST_PAUSE = 10, 1000
#: Whether this kernel lists the children of each thread.
LISTED = os.path.exists(f"/proc/self/task/{os.getpid()}/children")

PR_SET_PDEATHSIG = 1
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


def go_on_without_parent() -> None:
    """Have the kernel continue this process, if it is stopped, when its parent ends.

    The signal also comes when only the thread that started this process ends. It is harmless.
    """
    LIBC.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGCONT), 0, 0, 0)


def child_end_pipe() -> int:
    """A new descriptor that is readable when a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    # Python writes to the descriptor only for signals that have a Python handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def empty(pipe: int) -> None:
    """Empty the pipe of `child_end_pipe`."""
    try:
        while os.read(pipe, 512):
            pass
    except BlockingIOError:
        pass


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


def children(pid: int) -> list[int]:
    """The children of one process, from the kernel's list if it has one."""
    if not LISTED:
        return children_by_parent(pid)
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as listing:
                found.extend(map(int, listing.read().split()))
        except OSError:
            pass  # that thread has ended; another thread has its children now
    return found


def children_by_parent(pid: int) -> list[int]:
    """The children of one process, found by the parent of every process on the machine."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    # The name of the program is in parentheses and may contain anything.
                    parent = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found.append(int(name))
    return found


def kill_descendants(spare: set[int]) -> int:
    """Send SIGKILL to all descendants of this process except `spare`; returns their number."""
    found: list[int] = []
    queue = [pid for pid in children(os.getpid()) if pid not in spare]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue.extend(children(pid))
    for pid in found:
        attempt(os.kill, pid, signal.SIGKILL)  # it may have ended, or run as another user
    return len(found)


def tell(control: socket.socket, message: str) -> None:
    """Send one line to the host, which may be gone."""
    attempt(control.send, message.encode("ascii") + b"\n", socket.MSG_DONTWAIT)


def receive(control: socket.socket, host: int) -> list[bytes]:
    """The fields of the host's request; none if it hung up or ended before."""
    watch = poll_for(control.fileno(), host)
    data = bytearray()
    size = LENGTH_BYTES
    while len(data) < size:
        if any(descriptor == host for descriptor, _ in watch.poll()):
            return []
        chunk = control.recv(min(size - len(data), 1 << 20))
        if not chunk:
            return []
        data += chunk
        if len(data) == size == LENGTH_BYTES:
            size += int.from_bytes(data, "big")
    return bytes(data[LENGTH_BYTES:]).split(b"\0")


def start_server(control: socket.socket, fields: list[bytes], streams: list[int]) -> int:
    """Start the server and send its pid, or send the error and return 0."""
    folder, _, count, *rest = fields
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


def keep(control: socket.socket, host: int, streams: list[int]) -> None:
    """The main loop of a keeper: one server, from its start until nothing of it is left."""
    adopt_orphans(b"lspkit-keeper")
    go_on_without_parent()
    ends = child_end_pipe()
    server, scratch = 0, b""
    if (fields := receive(control, host)) and make_scratch(control, fields[1]):
        scratch = fields[1]
        server = start_server(control, fields, streams)
    for descriptor in streams:
        os.close(descriptor)
    watch = poll_for(control.fileno(), host, ends)
    pause: int | None = None
    while True:
        ended, alone = reap()
        if server in ended:
            # At once, before anything else: the host waits for it, and has no other way to know,
            # since a grandchild can hold the server's streams open.
            tell(control, f"status {ended[server]}")
            server, pause = 0, FIRST_PAUSE
        if alone:
            sweep(scratch)
            tell(control, "gone")
            return
        if pause is not None:
            signal_group(server, signal.SIGKILL)
            kill_descendants(spare=set())
        happened = watch.poll(pause)
        pause = pause and min(2 * pause, LAST_PAUSE)
        for descriptor, _ in happened:
            if descriptor == ends:
                empty(ends)
            elif descriptor == host or not obey(control, server):
                watch.unregister(descriptor)
                pause = FIRST_PAUSE


def make_scratch(control: socket.socket, folder: bytes) -> bool:
    """Make a server's temporary folder, or send the error and return False.

    Here and not in the host: the process that makes it must also remove it, and the host may be
    killed at any moment. An existing one was left by a keeper that was killed.
    """
    try:
        if folder:
            os.mkdir(folder, 0o700)
    except OSError as error:
        ours = os.path.isdir(folder) and os.lstat(folder).st_uid == os.geteuid()
        if not ours or os.path.islink(folder):
            tell(control, f"error {error.errno} scratch")
            return False
    return True


def sweep(folder: bytes) -> None:
    """Remove a server's temporary folder, when no process is left that could use it."""
    if not folder:
        return
    for here, inner, names in os.walk(folder, topdown=False):
        for name in names:
            attempt(os.unlink, os.path.join(here, name))
        for name in inner:
            path = os.path.join(here, name)
            attempt(os.unlink if os.path.islink(path) else os.rmdir, path)
    attempt(os.rmdir, folder)


def obey(control: socket.socket, server: int) -> bool:
    """Carry out the host's orders; returns whether the tree may live on."""
    try:
        orders = control.recv(64)
    except OSError:
        return False
    if not orders or b"K" in orders:
        return False
    signal_group(server, signal.SIGTERM)
    return True


def let_go_on(keepers: set[int]) -> None:
    """Continue the keepers, which may have been stopped together with this process."""
    for keeper in keepers:
        attempt(os.kill, keeper, signal.SIGCONT)


def signal_group(server: int, number: int) -> None:
    """Send a signal to the group of a server that has not been reaped; 0 for no server."""
    if server:
        attempt(os.killpg, server, number)


def accept(requests: socket.socket, host: int, ends: int) -> int | None:
    """Accept one request and fork its keeper; 0 if none was forked, None at the end."""
    try:
        message, rights, _, _ = requests.recvmsg(16, socket.CMSG_SPACE(8 * INT_BYTES))
    except OSError:
        return None
    descriptors: list[int] = []
    for _, _, data in rights:
        whole = data[: len(data) - len(data) % INT_BYTES]
        descriptors += [one for (one,) in struct.iter_unpack("i", whole)]
    # Not by a flag of the call, which some versions of Python ignore.
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    if not message:
        return None
    try:
        if len(descriptors) != 4:  # this process has no descriptors left: the host sees a hang-up
            return 0
        try:
            pid = os.fork()
        except OSError as error:
            control = socket.socket(fileno=os.dup(descriptors[0]))
            tell(control, f"error {error.errno} keeper")
            control.close()
            return 0
        if pid == 0:
            become_keeper(requests, host, ends, descriptors)
        return pid
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def become_keeper(requests: socket.socket, host: int, ends: int, descriptors: list[int]) -> None:
    """In the forked process: close what is the guardian's, keep the server, and exit."""
    code = 1
    try:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)
        os.dup2(1, requests.fileno())
        os.close(signal.set_wakeup_fd(-1))
        os.close(ends)
        control = socket.socket(fileno=descriptors[0])
        keep(control, host, descriptors[1:])
        code = 0
    finally:
        os._exit(code)


def guard(requests: socket.socket, host: int) -> None:
    """The main loop of the guardian: until the host has ended or hung up, and all keepers ended."""
    ends = child_end_pipe()
    watch = poll_for(requests.fileno(), host, ends)
    keepers: set[int] = set()
    signal.signal(signal.SIGCONT, lambda *_: let_go_on(keepers))
    closing = False
    pause: int | None = None
    while True:
        ended, alone = reap()
        if any(ended[pid] != 0 for pid in keepers & ended.keys()):
            pause = FIRST_PAUSE  # a keeper was killed, and this process has its orphans now
        keepers -= ended.keys()
        if closing and alone:
            return
        if pause is not None and not kill_descendants(spare=keepers):
            pause = None
        happened = watch.poll(pause)
        pause = pause and min(2 * pause, LAST_PAUSE)
        for descriptor, _ in happened:
            if descriptor == ends:
                empty(ends)
                continue
            keeper = None if descriptor == host else accept(requests, host, ends)
            if keeper is None:
                watch.unregister(descriptor)
                closing = True
                let_go_on(keepers)
            elif keeper:
                keepers.add(keeper)


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
    go_on_without_parent()
    requests = socket.socket(fileno=0)
    adopt_orphans(b"lspkit-guardian")
    # Keepers share this memory until it is written to.
    gc.disable()
    gc.freeze()
    guard(requests, host)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
