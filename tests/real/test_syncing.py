"""`sync` on real servers: what they are sent, in which order, and before which questions."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests import real_servers
from tests.real.abilities import ABILITIES
from tests.real.both import TIMEOUT
from tests.real.recording import recorded, sent, texts_sent
from tests.real.running import command, workspace
from tests.real.samples import SAMPLES

pytestmark = pytest.mark.server

#: Seconds until a server that starts has been told.
DEADLINE = 20.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def logged(server: str, log: Path) -> list[str]:
    real_servers.require(server)
    return recorded(command(server, SAMPLES[server].arguments), log)


@pytest.mark.parametrize("server", [one for one in ABILITIES if one != "jdtls"])  # slow to start
def test_texts_are_sent_in_the_order_in_which_they_are_synced(
    server: str, tmp_path: Path, folder: Path
) -> None:
    sample, encoding, log = SAMPLES[server], ABILITIES[server].encoding, tmp_path / "sent"
    sample.write(folder)
    path = folder / sample.library
    on_disk = sample.files[sample.library]
    others = [on_disk + "\n" * number for number in (1, 2, 3)]
    with workspace(folder, server, encoding=encoding, argv=logged(server, log)) as ws:
        for text in others:
            ws.sync(path, text)
        ws.sync(path)
        # Not a question, which would put the document right: what was synced must be enough.
        deadline = time.monotonic() + DEADLINE
        texts: list[str] = []
        while len(texts) < 4 and time.monotonic() < deadline:
            texts = texts_sent(log, path.as_uri(), encoding)

    assert texts == [*others, on_disk]


@pytest.mark.parametrize("server", ["ty", "clangd"])
def test_a_question_comes_after_the_text_that_was_synced_before_it(
    server: str, tmp_path: Path, folder: Path
) -> None:
    sample, log = SAMPLES[server], tmp_path / "sent"
    sample.write(folder)
    with workspace(folder, server, argv=logged(server, log)) as ws:
        for name in (sample.library, sample.main):
            ws.document_symbols(name, timeout=TIMEOUT)

        ws.sync(sample.library, sample.files[sample.library] + "\n")
        ws.hover(sample.main, *sample.place(sample.spots["call"]), timeout=TIMEOUT)

    methods = [one.get("method") for one in sent(log)]
    assert "textDocument/didChange" in methods
    assert methods.index("textDocument/didChange") < methods.index("textDocument/hover")
