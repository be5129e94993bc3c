"""`lspkit hook` is a process per edit; what it has to remember of an agent is in the service."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from lspkit.testing import Diagnostics, Fault, Script
from tests.agent.hooks.agent_inputs import text_for_model
from tests.service.site import PATIENCE, Site

STILL = "LSP errors from your earlier edits that are still there:"
LATE = "Could not be checked in time:"
PULL = "textDocument/diagnostic"


def run_hook(site: Site, tool: str, arguments: dict[str, str], **more: Any) -> str:
    """What the model of an agent sees after a call of a tool."""
    timeout = more.pop("timeout", 20)
    call = {
        "hook_event_name": "PostToolUse",
        "session_id": "a",
        "cwd": str(site.project),
        "tool_name": tool,
        "tool_input": arguments,
        **more,
    }
    done = subprocess.run(
        site.command("hook", "--timeout", str(timeout)),
        env={**site.environ, "LSPKIT_NO_SERVICE": ""},
        input=json.dumps(call),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    return text_for_model(done.stdout) if done.stdout else ""


def edit(site: Site, name: str, text: str, **more: Any) -> str:
    """What the model sees after a write, of which the agent tells the file before it."""
    path = site.project / name
    old = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(text, encoding="utf-8")
    result = {"type": "create" if old is None else "update", "originalFile": old}
    return run_hook(site, "Write", {"file_path": str(path)}, tool_response=result, **more)


def test_what_an_agent_has_broken_is_told_to_it_until_it_is_gone() -> None:
    with Site(Script(diagnostics=Diagnostics(how="pull"))) as site:
        (site.project / "b.scr").write_text("ERROR old\n", encoding="utf-8")
        assert edit(site, "a.scr", "fine\n") == ""
        broken = edit(site, "b.scr", "ERROR old\nERROR new\n")
        still = edit(site, "a.scr", "fine again\n")
        other = edit(site, "a.scr", "fine\n", session_id="b")
        mended = edit(site, "b.scr", "ERROR old\n")
    assert "ERROR [2:1] ERROR new (ERROR)" in broken
    assert "ERROR old" not in broken
    assert STILL in still
    assert "ERROR [2:1] ERROR new (ERROR)" in still
    assert other == ""
    assert mended == "The edit was applied. LSP errors from before the edit that remain: 1"


def test_an_edit_without_an_answer_is_told_with_the_next_one() -> None:
    hang = Fault(PULL, "hang", nth=2, times=1)
    with Site(Script(diagnostics=Diagnostics(how="pull"), faults=[hang])) as site:
        assert edit(site, "a.scr", "fine\n") == ""
        first = edit(site, "a.scr", "ERROR\n", timeout=3)
        second = edit(site, "b.scr", "fine\n")
        third = edit(site, "b.scr", "fine again\n")
    assert first == f"The edit was applied. {LATE} <files>a.scr</files>"
    assert second.startswith("The edit was applied. LSP errors detected in other files:")
    assert '<diagnostics file="a.scr">' in second
    assert STILL in third


def test_the_first_command_after_a_read_is_told_what_it_has_changed() -> None:
    with Site(Script(diagnostics=Diagnostics(how="pull"))) as site:
        (site.project / "b.scr").write_text("fine\n", encoding="utf-8")
        assert run_hook(site, "Read", {"file_path": str(site.project / "a.scr")}) == ""
        site.log.wait_for_message("textDocument/didOpen")
        (site.project / "b.scr").write_text("ERROR by sed\n", encoding="utf-8")
        told = run_hook(site, "Bash", {"command": "sed -i …"})
    assert '<diagnostics file="b.scr">' in told


def test_the_first_command_of_all_is_told_what_it_has_changed_in_a_checked_project() -> None:
    with Site(Script(diagnostics=Diagnostics(how="pull"))) as site:
        (site.project / "b.scr").write_text("fine\n", encoding="utf-8")
        with site.connect() as ws:
            assert ws.check("a.scr").verdict.clean
            (site.project / "b.scr").write_text("ERROR by sed\n", encoding="utf-8")
            output = run_hook(site, "Bash", {"command": "sed -i …"})
    assert '<diagnostics file="b.scr">' in output
