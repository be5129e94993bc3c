"""`lspkit mcp` on real servers, with the official client and with the inspector's command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests import real_servers
from tests.mcp.mcp_client import PATIENCE, TIMING, McpClient, started
from tests.service.site import Site, descendants, nothing_runs

pytestmark = [pytest.mark.server]

#: The same program in two languages: `area` is defined in one file and called in another.
FILES = {
    "shapes.py": "class Square:\n    def area(self, side: int) -> int:\n        return side\n",
    "main.py": "from shapes import Square\n\n\ndef total() -> int:\n"
    "    square = Square()\n    return square.area(2)\n",
    "shapes.ts": "export class Square {\n  area(side: number): number {\n    return side;\n"
    "  }\n}\n",
    "main.ts": 'import { Square } from "./shapes";\n\nexport function total(): number {\n'
    "  const square = new Square();\n  return square.area(2);\n}\n",
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
}
#: By extension: the line and column of the call.
CALL = {".py": (6, 19), ".ts": (5, 17)}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A project in Python and TypeScript."""
    for server in ("ty", "typescript"):
        real_servers.require(server)
    with Site() as made:
        for name, text in FILES.items():
            (made.project / name).write_text(text, encoding="utf-8")
        servers: dict[str, Any] = {
            one: {"command": real_servers.command(one)} for one in ("ty", "typescript")
        }
        # The tools wait for diagnostics by their own settings.
        waits = {"firstTouchTimeoutMs": 60_000, "diagnosticsWaitTimeoutMs": 60_000}
        timing = {**TIMING, **waits}
        made.configure({"lsp": {**servers, "ruff": {"disabled": True}}, "timing": timing})
        yield made


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[McpClient]:
    """A client whose servers run."""
    with started(site, "--no-service", "--allow-apply") as made:
        for name in ("main.py", "main.ts", "shapes.py", "shapes.ts"):
            made.text("lsp_diagnostics", filePath=name)
        yield made
    assert nothing_runs(), descendants()


@pytest.mark.parametrize("extension", [".py", ".ts"])
def test_every_tool_answers(client: McpClient, site: Site, extension: str) -> None:
    main, shapes = f"main{extension}", f"shapes{extension}"
    line, character = CALL[extension]
    at = {"filePath": main, "line": line, "character": character}
    assert client.text("lsp_goto_definition", **at).startswith(f"{shapes}:2:")
    square = {"filePath": main, "line": line, "symbol": "square"}
    assert client.text("lsp_goto_type_definition", **square).startswith(f"{shapes}:1:")
    assert f"{main}:{line}:" in client.text("lsp_find_references", **at)
    assert "area" in client.text("lsp_hover", **at)
    assert "Square" in client.text("lsp_document_symbols", filePath=shapes)
    assert shapes in client.text("lsp_workspace_symbols", query="Square", filePath=main)
    assert "area" in client.text("lsp_prepare_call_hierarchy", **at)
    assert "total" in client.text("lsp_incoming_calls", **at)
    assert "area" in client.text("lsp_outgoing_calls", filePath=main, symbol="total")
    assert client.text("lsp_diagnostics", filePath=main) == f"{main}: no errors"
    assert client.tool("lsp_goto_implementation", **at).structured_content["operation"]
    assert "surface" in client.text("lsp_rename", **at, newName="surface")
    client.text("lsp_rename", **at, newName="surface", apply=True)
    for name in (main, shapes):
        assert "surface(" in (site.project / name).read_text(encoding="utf-8")


def inspect(site: Site, *words: str) -> Any:
    """What the inspector prints."""
    real_servers.require_program("mcp-inspector")
    done = subprocess.run(
        [
            str(real_servers.PROGRAMS / "mcp-inspector"),
            "--cli",
            *(sys.executable, "-m", "lspkit", "mcp", "--no-service"),
            *words,
        ],
        env={**site.environ, "HOME": str(site.base)},
        cwd=site.project,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_the_tools(site: Site) -> None:
    tools = inspect(site, "--method", "tools/list")["tools"]
    assert len(tools) == 12
    assert all(one["outputSchema"]["type"] == "object" for one in tools)


def test_the_inspector_calls_a_tool(site: Site) -> None:
    given = ("filePath=shapes.py", "symbol=Square")
    words = [word for one in given for word in ("--tool-arg", one)]
    called = ("--method", "tools/call", "--tool-name", "lsp_goto_definition", *words)
    found = inspect(site, *called)
    assert found["structuredContent"]["data"][0]["filePath"] == "shapes.py"
    assert found["content"][0]["text"].startswith("shapes.py:1:")
