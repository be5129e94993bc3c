"""A batch whose worker is killed half-way: python -m tests.batch.killed_worker ORDERS

As a program it does so on a Dask cluster: what Dask itself leaves until the end of a process (the
resource tracker, a thread) then ends with this one. ORDERS is JSON: `projects`, each a list of root
and configuration, `held` and `ordered`. The results are printed as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

import lspkit
from lspkit.batch import Project, ProjectCheck
from lspkit.testing import Log

PULL = "textDocument/diagnostic"


def log_of(project: Project) -> Log:
    """What the scripted server of a project has written down."""
    config: Any = project.config
    return Log.of(config["lsp"]["scripted"]["command"])


def check_and_kill(
    projects: Sequence[Project], executor: Executor, held: int, *, ordered: bool
) -> list[ProjectCheck]:
    """After the first result, the worker is killed whose server hangs in the project `held`."""
    found = lspkit.batch.check(projects, executor=executor, ordered=ordered, timeout=60)
    results = [next(found)]
    log = log_of(projects[held])
    log.wait_for_message(PULL, timeout=60)
    os.kill(_worker_of(log.pids()[0]), signal.SIGKILL)
    return [*results, *found]


def _worker_of(server: int) -> int:
    """The process that this one has started, among those that have led to the server."""
    above = psutil.Process(server).parents()
    return next(one.pid for one in above if one.ppid() == os.getpid())


@contextmanager
def dask_cluster() -> Iterator[Executor]:
    """A scheduler and two worker processes with one thread each."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


def check_twice(project: Project, executor: Executor) -> list[ProjectCheck]:
    """Check a project, break it, and check it again."""
    found = list(lspkit.batch.check([project], executor=executor))
    Path(project.root, "a.scr").write_text("ERROR\n")
    return [*found, *lspkit.batch.check([project], executor=executor)]


def main(orders: dict[str, Any]) -> None:
    """On a cluster: with `held` the first of these, and otherwise the second."""
    projects = [Project(root, config=config, trusted=True) for root, config in orders["projects"]]
    with dask_cluster() as executor:
        if orders["held"] is None:
            found = check_twice(projects[0], executor)
        else:
            found = check_and_kill(projects, executor, orders["held"], ordered=orders["ordered"])
    print(json.dumps([one.to_dict() for one in found]))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
