"""The version of a program: from its package where that tells it, else by asking the program."""

from __future__ import annotations

import ctypes
import glob
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from lspkit.install.recipe_table import recipes_of
from lspkit.install.tools_home import Installed
from lspkit.servers.definition import Definition
from lspkit.servers.selection.program_lookup import package_of

#: Arguments that print the version, by id. Other programs are not asked: they may wait for input.
ASK = {
    **dict.fromkeys(
        ("clangd", "rust-analyzer", "deno", "ty", "ruff", "pyrefly", "zuban", "tombi", "texlab"),
        ("--version",),
    ),
    **dict.fromkeys(("zls", "marksman", "taplo", "lua-language-server"), ("--version",)),
    **dict.fromkeys(("gopls", "terraform-ls"), ("version",)),
}
#: Seconds for a program to print its version.
TIMEOUT = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


def version_of(
    definition: Definition,
    program: str,
    installed: Mapping[str, Installed],
    timeout: float = TIMEOUT,
) -> tuple[str, str]:
    """The version, and why the program does not work. Each is empty if it is not known."""
    for recipe in recipes_of(definition.id):
        package = installed.get(recipe.name)
        if package is not None and program in package.launchers():
            return package.version, ""
        name = recipe.packages[0].name
        known = _of_npm(program, name) or _of_python(program, name)
        if known:
            return known, ""
    words = ASK.get(definition.id)
    return ("", "") if words is None else _ask(program, words, timeout)


def _of_npm(program: str, package: str) -> str:
    folder = package_of(program, package)
    if folder is None:
        return ""
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as stream:
            return str(json.load(stream).get("version", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _of_python(program: str, package: str) -> str:
    """The version of a package in the environment that has the program."""
    above = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    name = re.sub(r"[-_.]+", "_", package)
    place = os.path.join(glob.escape(above), "lib", "python*", "site-packages")
    for folder in glob.glob(os.path.join(place, f"{name}-*.dist-info")):
        return os.path.basename(folder).removesuffix(".dist-info").partition("-")[2]
    return ""


def _ask(program: str, words: tuple[str, ...], timeout: float) -> tuple[str, str]:
    """Run the program outside of any project."""
    try:
        done = run_program([program, *words], os.path.dirname(program), os.environ, timeout)
    except OSError as problem:
        return "", f"it cannot be run: {problem.strerror}"
    except subprocess.TimeoutExpired:
        return "", f"it does not print its version within {timeout:g} s"
    match = _VERSION.search(done.stdout)
    if done.returncode and match is None:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        return "", f"it ends with {done.returncode}: {lines[0] if lines else 'it says nothing'}"
    return (match[0] if match is not None else ""), ""


# Runs a program to its end, and ends it with all its processes if it is too slow or Ctrl-C comes.
#
# Only a process that has left the group of the program goes on.

#: Loaded here, since the child may not load anything.
_LIBC = ctypes.CDLL(None)


def run_program(
    argv: Sequence[str], folder: str, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a program without input. Raises `OSError` and `subprocess.TimeoutExpired`.

    It has a process group of its own, which is killed if this process is interrupted, or if the
    program has not ended after `timeout` seconds.
    """
    # An interrupt waits until the child is known: else it would be lost during the fork, where
    # Python ignores exceptions, or leave the child behind.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        child = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_prepare_child,
        )
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        raise
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        printed, errors = child.communicate(timeout=timeout)
    except BaseException:
        _kill(child)
        raise
    return subprocess.CompletedProcess(argv, child.returncode, printed, errors)


def _prepare_child() -> None:
    """In the child: it ends when lspkit is killed, so that nothing goes on writing into its folder,
    and it can be interrupted."""
    if sys.platform == "linux":
        _LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _kill(child: subprocess.Popen[str]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended meanwhile
    child.wait()
    # They are not read to their end: a process that has left the group may hold the other side.
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
