"""Files by which a server can be made to load the projects of a folder."""

from __future__ import annotations

import os
import threading

import pytest

from lspkit.servers.project.project_files import project_samples


def samples(folder):
    return project_samples(
        str(folder), ("conf.scr.json",), lambda name: "scr" if name.endswith(".scr") else None
    )


@pytest.mark.parametrize("is_written", [False, True])
def test_a_configuration_that_is_a_pipe_keeps_nobody_waiting(tmp_path, is_written):
    pipe = tmp_path / "conf.scr.json"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR) if is_written else None
    (tmp_path / "a.scr").touch()
    found: list[object] = []
    reader = threading.Thread(target=lambda: found.append(samples(tmp_path)))
    reader.start()
    reader.join(5.0)
    came_back = not reader.is_alive()
    # Lets the reader go if it waits.
    os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK) if writer is None else writer)
    reader.join()
    assert came_back
    assert found == [{str(pipe): [str(tmp_path / "a.scr")]}]
