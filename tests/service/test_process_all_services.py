"""`lspkit status --all` and `lspkit stop --all`: all services of the user."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Iterator

import pytest

import lspkit
from tests.runtime.process_trees import ends
from tests.service.site import Site, descendants, nothing_runs


def test_without_a_service_both_say_so(site: Site) -> None:
    for command in ("status", "stop"):
        done = site.run(command, "--all")
        assert (done.returncode, done.stdout, done.stderr) == (0, "no service is running\n", "")
    assert site.sockets() == []


def test_all_services_are_shown_with_their_clients(site: Site) -> None:
    with site.connect() as ws, site.connect(), site.connect(trusted=True):
        assert ws.root == site.project
        done = site.run("status", "--all", "--json")
        shown = site.run("status", "--all")
    found = json.loads(done.stdout)["services"]
    pids = {site.service_pid(path) for path in site.sockets()}
    assert {one["pid"] for one in found} == pids
    assert len(pids) == 2
    assert sorted(one["clients"] for one in found) == [1, 2]
    rest = {(one["root"], one["version"], one["state"]) for one in found}
    assert rest == {(str(site.project), lspkit.__version__, "serving")}
    lines = [
        f"{one['root']}: process {one['pid']}, lspkit {one['version']}, "
        f"{one['clients']} client{'s' if one['clients'] > 1 else ''}"
        for one in found
    ]
    assert shown.stdout.splitlines() == lines


def test_all_services_are_ended_also_one_that_hangs(site: Site) -> None:
    with site.connect(), site.connect(trusted=True):
        hanging = site.service_pid()
        os.kill(hanging, signal.SIGSTOP)
        shown = site.run("status", "--all")
        assert f"process {hanging} does not answer ({site.place.socket})" in shown.stdout
        done = site.run("stop", "--all")
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == [
            f"the service at {site.place.socket} did not end, and was killed",
            f"the service for {site.project} has ended",
        ]
        assert ends(hanging)
        assert nothing_runs(), descendants()


@pytest.mark.parametrize("where", ["/", "the runtime folder"])
def test_the_current_folder_does_not_matter(site: Site, where: str) -> None:
    cwd = {"the runtime folder": str(site.base)}.get(where, where)
    with site.connect():
        pid = site.service_pid()
        shown = site.run("status", "--all", cwd=cwd)
        assert f"{site.project}: process {pid}, " in shown.stdout
        done = site.run("stop", "--all", cwd=cwd)
        assert done.stdout == f"the service for {site.project} has ended\n"
        assert ends(pid)


@contextlib.contextmanager
def service_elsewhere(site: Site) -> Iterator[int]:
    """A service of a project that contains the runtime folder, so that it uses another one."""
    inside = site.project / "run"
    inside.mkdir(mode=0o700)
    site.environ["XDG_RUNTIME_DIR"] = str(inside)
    folder = site.place.folder
    assert folder.startswith(os.environ["TMPDIR"])
    with site.connect():
        try:
            yield site.service_pid()
        finally:
            site.end_service()
            shutil.rmtree(folder)


@pytest.mark.parametrize("cwd", ["/", ""])
def test_a_service_whose_project_contains_the_runtime_folder_is_found(site: Site, cwd: str) -> None:
    with service_elsewhere(site) as pid:
        shown = site.run("status", "--all", cwd=cwd)
    assert f"{site.project}: process {pid}, " in shown.stdout


def test_services_that_use_another_runtime_folder_are_left_alone(site: Site) -> None:
    """A user who sets the variable wants separate services."""
    own = site.environ["XDG_RUNTIME_DIR"]
    with service_elsewhere(site) as pid:
        done = site.run("stop", "--all", XDG_RUNTIME_DIR=own)
        assert done.stdout == "no service is running\n"
        assert site.service_pid() == pid


def test_a_socket_that_a_killed_service_has_left_is_no_service(site: Site) -> None:
    with site.connect():
        pass
    os.kill(site.service_pid(), signal.SIGKILL)
    assert nothing_runs(), descendants()
    assert site.run("status", "--all").stdout == "no service is running\n"
