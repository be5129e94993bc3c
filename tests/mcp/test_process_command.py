"""`lspkit mcp` as a process: in front of the service, its ends, two channels, no extra."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from lspkit.testing import Fault, Script
from tests.mcp.mcp_client import TIMING, started
from tests.mcp.raw_mcp import RawMcp, RawWire
from tests.scripted import config_for
from tests.service.site import Site, descendants, nothing_runs
from tests.service.stdio_service import StdioService


def config_of(site: Site) -> dict[str, Any]:
    """The configuration of a project, with enough time for all calls."""
    return {**config_for(site.argv), "timing": TIMING}


AT = {"filePath": "a.scr", "line": 2, "character": 4}
FOUND = "a.scr:1:5  def greet"


def test_clients_in_a_row_use_the_same_warm_server(site: Site) -> None:
    with started(site) as client:
        assert client.client.server_info.name == "lspkit"
        assert str(site.project) in client.client.instructions
        assert client.text("lsp_goto_definition", **AT) == FOUND
        # A changed configuration is used at once.
        site.configure({**config_of(site), "navigationTools": False})
        assert client.names() == ["lsp_diagnostics"]
        site.configure(config_of(site))
        assert len(client.names()) > 1
    with started(site, legacy=False) as client:
        assert client.text("lsp_goto_definition", **AT) == FOUND
        # The service is ended, and started again by the next call.
        site.end_service()
        assert client.text("lsp_goto_definition", **AT) == FOUND
    assert len(site.log.messages("initialize")) == 2


def test_in_a_sub_folder_it_serves_the_work_tree(site: Site) -> None:
    (site.project / ".git").mkdir()
    (site.project / "src").mkdir()
    (site.project / "src" / "b.scr").write_text("ERROR\n", encoding="utf-8")
    with started(site, folder="src") as client:
        assert f"for {site.project}. Paths are" in client.client.instructions
        assert client.text("lsp_goto_definition", **AT) == FOUND
        # A path may also be relative to the folder in which the client has started it.
        for name in ("src/b.scr", "b.scr"):
            assert "ERROR" in client.text("lsp_diagnostics", filePath=name)
        assert "does not exist" in client.error("lsp_diagnostics", filePath="none.scr")
    with started(site, ".", folder="src") as client:
        assert f"for {site.project}/src. Paths are" in client.client.instructions


def test_nothing_but_messages_is_on_standard_output(site: Site) -> None:
    with RawMcp(site, "--no-service") as mcp:
        mcp.begin()
        mcp.write(b"no message\n\xff\xfe\n[]\n{}\n\n")
        mcp.write(b'{"jsonrpc": "2.0", "id": 900, "method": "no/method"}\n')
        assert mcp.receive()["error"]["code"] == -32601
        mcp.write(b'{"jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": []}\n')
        assert mcp.receive()["error"]["code"] == -32600
        # Half of a surrogate pair is valid JSON.
        assert "not a valid file name" in mcp.call("lsp_diagnostics", filePath="\ud800.scr")
        (site.project / os.fsdecode(b"\xff.scr")).write_text("ERROR\n", encoding="utf-8")
        assert "ERROR" in mcp.call("lsp_diagnostics", filePath="\udcff.scr")
        assert mcp.call("lsp_goto_definition", **AT) == FOUND
        pid = mcp.process.pid
        # Standard output is standard error, and standard input is empty, for all but the wire.
        assert os.readlink(f"/proc/{pid}/fd/1") == os.readlink(f"/proc/{pid}/fd/2")
        assert os.readlink(f"/proc/{pid}/fd/0") == os.devnull
        assert mcp.end() == (0, "")
        assert mcp.unread == []
    assert nothing_runs(), descendants()
    assert site.log.messages("shutdown")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_its_servers(number: signal.Signals) -> None:
    script = Script(faults=[Fault("textDocument/hover", "hang")])
    with Site(script) as site, RawMcp(site, "--no-service") as mcp:
        mcp.begin()
        mcp.send("tools/call", {"name": "lsp_hover", "arguments": AT}, 900)
        site.log.wait_for_message("textDocument/hover")
        os.kill(mcp.process.pid, number)
        status, told = mcp.end()
        assert (status, told) == (0, "")
        assert nothing_runs(), descendants()


def test_without_a_workspace_it_says_why(site: Site) -> None:
    site.config_file.write_text('{"lsp": ', encoding="utf-8")
    with RawMcp(site) as mcp:
        mcp.begin()
        assert mcp.result("tools/list") == {"tools": []}
        status, told = mcp.end()
    assert status == 0
    assert "no tools are offered" in told and "lsp.json" in told
    assert "Traceback" not in told


def test_two_channels_share_the_servers(site: Site) -> None:
    there, here = os.pipe(), os.pipe()
    descriptors = (there[0], here[1])
    service = StdioService(
        site, command=("mcp", "--fd", *map(str, descriptors)), pass_fds=descriptors
    )
    mcp = RawWire(here[0], there[1])
    with service:
        for one in descriptors:
            os.close(one)
        ready = service.receive()
        assert ready is not None and ready["method"] == "lsp/ready"
        mcp.begin()
        assert mcp.call("lsp_goto_definition", **AT) == FOUND
        assert service.result("lsp/checkFile", {"path": "a.scr"})["verdict"] == "clean"
        assert len(site.log.messages("initialize")) == 1
        site.configure({**config_of(site), "navigationTools": False})
        assert [one["name"] for one in mcp.result("tools/list")["tools"]] == ["lsp_diagnostics"]
        # The end of one channel is not that of the other.
        os.close(there[1])
        assert mcp.rest_of_output() == b""
        assert service.result("lsp/checkFile", {"path": "a.scr"})["verdict"] == "clean"
        assert service.end() == (0, "")
    os.close(here[0])
    assert nothing_runs(), descendants()


@pytest.mark.parametrize("descriptors", [("0", "1"), ("97", "98")])
def test_wrong_descriptors_are_a_mistake_in_the_call(
    site: Site, descriptors: tuple[str, str]
) -> None:
    done = site.run("mcp", "--fd", *descriptors)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--fd {descriptors[0]}" in done.stderr


def test_without_the_extra_one_line_says_what_to_type(site: Site) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['lspkit', 'mcp']; "
        "from lspkit.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=site.environ,
        cwd=site.project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "pip install 'lspkit[mcp]'" in done.stderr
