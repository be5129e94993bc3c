"""Records what a command-line agent sends to `lspkit hook`, and what its model then sees.

    python tools/record_hook_inputs.py claude-code PATH/TO/claude
    python tools/record_hook_inputs.py codex PATH/TO/codex

The agent is the real program. It works on a copy of the broken project, with a home folder of its
own and the settings of docs/command-line-agents.md. Its model is a scripted one on this machine,
which writes a file with a mistake. Nothing leaves the machine.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "command-line-agents.md"
TEXT = """\
from prices import price_of


def in_euros(items: list[str]) -> str:
    return sum(price_of(item) for item in items) / 100
"""
PATCH = "".join(
    ["*** Begin Patch\n*** Add File: receipt.py\n"]
    + [f"+{line}\n" for line in TEXT.splitlines()]
    + ["*** End Patch\n"]
)
#: Seconds that an agent may take.
PATIENCE = 120

Events = Iterator[dict[str, Any]]


def claude_events(project: Path, turn: int) -> Events:
    """The answer of the model to one request of Claude Code."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg", "type": "message", "role": "assistant", "content": [], "usage": usage}
    yield {"type": "message_start", "message": {**message, "model": "scripted"}}
    if turn == 1:
        given = json.dumps({"file_path": str(project / "receipt.py"), "content": TEXT})
        block: dict[str, Any] = {"type": "tool_use", "id": "toolu_01", "name": "Write", "input": {}}
        delta, reason = {"type": "input_json_delta", "partial_json": given}, "tool_use"
    else:
        block, reason = {"type": "text", "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": "done"}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    yield {"type": "message_stop"}


def codex_events(_: Path, turn: int) -> Events:
    """The answer of the model to one request of Codex."""
    if turn == 1:
        item: dict[str, Any] = {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH}
        item |= {"id": "ctc_1", "call_id": "call_1", "status": "completed"}
    else:
        content = [{"type": "output_text", "text": "done"}]
        item = {"type": "message", "id": "msg", "role": "assistant", "content": content}
    yield {"type": "response.created", "response": {"id": f"resp_{turn}"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": f"resp_{turn}"}}


class Model(http.server.ThreadingHTTPServer):
    """The scripted model. `requests` are the requests that offer tools for edits."""

    def __init__(self, agent: str, project: Path) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.agent, self.project = agent, project
        self.requests: list[dict[str, Any]] = []


class Answer(http.server.BaseHTTPRequestHandler):
    """One request to the model."""

    server: Model

    def log_message(self, *_: object) -> None:
        """Nothing: the requests are kept."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if {"Write", "apply_patch"} & {one.get("name") for one in asked.get("tools", [])}:
            self.server.requests.append(asked)
        events = claude_events if self.server.agent == "claude-code" else codex_events
        turn = len(self.server.requests) or 2
        body = "".join(
            f"event: {one['type']}\ndata: {json.dumps(one)}\n\n"
            for one in events(self.server.project, turn)
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def settings(agent: str, hook: Path) -> str:
    """What the page says for this agent, with a program that also records the input."""
    title = {"claude-code": "Claude Code", "codex": "Codex"}[agent]
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    block = re.search(r"```json\n(.*?)```", section, re.S)
    assert block is not None
    return block[1].replace("lspkit hook", str(hook))


def write_settings(agent: str, home: Path, project: Path, hook: Path, port: int) -> None:
    """The settings of the agent, in the user's folder or in the project."""
    if agent == "claude-code":
        (project / ".claude").mkdir()
        (project / ".claude" / "settings.json").write_text(settings(agent, hook))
        return
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text(settings(agent, hook))
    (home / ".codex" / "config.toml").write_text(
        'model = "gpt-5.5"\nmodel_provider = "scripted"\n'
        '[model_providers.scripted]\nname = "scripted"\nwire_api = "responses"\n'
        f'base_url = "http://127.0.0.1:{port}/v1"\nenv_key = "SCRIPTED_KEY"\n'
    )


#: Arguments by agent.
ARGUMENTS = {
    "claude-code": ["-p", "write receipt.py", "--permission-mode", "acceptEdits"],
    "codex": [
        "exec",
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
        "write receipt.py",
    ],
}


def record(agent: str, program: str, folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """Run the agent; returns the input of the hook, and the requests to the model."""
    project, home = folder / "project", folder / "home"
    shutil.copytree(CHECKOUT / "examples" / "broken_project", project)
    home.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    recorded, hook = folder / "input.json", folder / "hook"
    hook.write_text(
        f"#!/bin/sh\ntee {recorded} | LSPKIT_NO_SERVICE=1 {sys.executable} -m lspkit hook\n"
    )
    hook.chmod(0o755)
    with Model(agent, project) as model:
        port = model.server_address[1]
        write_settings(agent, home, project, hook, port)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(CHECKOUT),
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "SCRIPTED_KEY": "scripted",
        }
        subprocess.run(
            [program, *ARGUMENTS[agent]],
            cwd=project,
            env=environ,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=True,
        )
        model.shutdown()
        return recorded.read_text(), model.requests


def main() -> None:
    """Record, and print."""
    agent, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        given, requests = record(agent, str(Path(program).absolute()), Path(folder))
    print("== the input of the hook")
    print(json.dumps(json.loads(given), indent=2))
    print("== the end of the last request to the model")
    asked = requests[-1]
    for one in (asked.get("messages") or asked["input"])[-2:]:
        print(json.dumps(one, indent=2)[-2000:])


if __name__ == "__main__":
    main()
