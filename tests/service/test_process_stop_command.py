"""`lspkit stop`: with a service, without one, and with one that hangs."""

from __future__ import annotations

import os
import signal

from tests.runtime.process_trees import ends
from tests.scripted import ask
from tests.service.site import Site, descendants, nothing_runs

#: Makes a service that needs a second to notice the signal, and never stops its servers.
SLOW_END = """
import sys, threading, time
if "--started-by-client" in sys.orig_argv:
    from lspkit.service.service_process import ServiceProcess
    from lspkit.service.shared_workspace import SharedWorkspace
    close = ServiceProcess.close
    ServiceProcess.close = lambda self: (time.sleep(1), close(self))
    SharedWorkspace.close = lambda self: threading.Event().wait()
"""


def test_it_ends_the_service_with_its_servers(site: Site) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        done = site.run("stop", str(site.project))
        assert done.returncode == 0
        assert done.stdout == f"the service for {site.project} has ended\n"
        assert done.stderr == ""
        assert nothing_runs(), descendants()
        assert site.sockets() == []


def test_it_ends_also_the_services_of_another_configuration(site: Site) -> None:
    with site.connect(trusted=True):
        other = f"the service for {site.project} with another configuration has ended"
        assert site.run("stop").stdout == f"{other}\n"
        assert nothing_runs(), descendants()
    with site.connect(), site.connect(trusted=True):
        done = site.run("stop", str(site.project))
        assert done.stdout == f"the service for {site.project} has ended; {other}\n"
        assert site.run("status", "--all").stdout == "no service is running\n"
        assert nothing_runs(), descendants()


def test_a_service_that_its_client_has_not_waited_for_counts_as_ended(site: Site) -> None:
    with site.connect():
        pid = site.service_pid()
        done = site.run("stop", str(site.project))
        assert done.returncode == 0
        # SIGKILL as the status would show that it was waited for in vain.
        assert os.waitpid(pid, 0) == (pid, 0)


def test_a_second_service_is_refused_at_once_with_the_way_out(site: Site) -> None:
    with site.connect():
        done = site.run("serve", "--http", "127.0.0.1:0")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"lspkit: a service for {site.project} is running already (process "
            f"{site.service_pid()}); to end it, run: lspkit stop\n"
        )


def test_without_a_service_it_says_so(site: Site) -> None:
    done = site.run("stop")
    assert done.returncode == 0
    assert done.stdout == f"no service is running for {site.project}\n"


def test_a_socket_that_a_killed_service_has_left_is_no_service(site: Site) -> None:
    with site.connect():
        pass
    os.kill(site.service_pid(), signal.SIGKILL)
    assert nothing_runs(), descendants()
    done = site.run("stop")
    assert done.returncode == 0
    assert done.stdout == f"no service is running for {site.project}\n"


def test_a_service_that_hangs_is_killed_with_its_servers(site: Site) -> None:
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        pid = site.service_pid()
        os.kill(pid, signal.SIGSTOP)
        done = site.run("stop")
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"the service for {site.project} did not end, and was killed\n"
        assert ends(pid)
        assert nothing_runs(), descendants()
    with site.connect() as ws:
        assert ask(ws) == "1:5"


def test_a_service_that_takes_too_long_has_the_time_to_end_itself(site: Site) -> None:
    (site.base / "sitecustomize.py").write_text(SLOW_END, encoding="utf-8")
    site.environ["PYTHONPATH"] = os.pathsep.join([str(site.base), site.environ["PYTHONPATH"]])
    with site.connect() as ws:
        assert ask(ws) == "1:5"
        done = site.run("stop")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"the service for {site.project} has ended\n"
        assert nothing_runs(), descendants()
