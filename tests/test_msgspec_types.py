"""Decoders are made by one thread at a time: with two at once, msgspec crashes the process."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lspkit

PACKAGE = Path(lspkit.__file__).parent

#: Threads begin one after the other to use readers and conversions that were not used before. While
#: msgspec collects information about a struct, each step waits a little, so that others go on.
PROGRAM = """
import threading, time
from lspkit.config.parse import read_config
from lspkit.protocol.wire import results

def slowly(frame, event, _):
    if "msgspec" in frame.f_code.co_filename:
        time.sleep(0.001)

RANGE = b'{"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}}'
FINDING = b'[{"range": %b, "message": "wrong"}]' % RANGE
LOCATION = b'[{"uri": "file:///a", "range": %b}]' % RANGE
SYMBOL = b'[{"name": "a", "kind": 5, "range": %b, "selectionRange": %b}]' % (RANGE, RANGE)
found = []

def use():
    found.append((
        results.read_diagnostics(FINDING).items[0].text,
        results.read_locations(LOCATION).items[0].place[0],
        results.read_symbols(SYMBOL).items[0].name,
        results.read_command(b'{"command": {"command": "run"}}').command,
        read_config({"timing": {"requestTimeoutMs": 7}}).timing.request_timeout_ms,
    ))

threading.settrace(slowly)
threads = [threading.Thread(target=use) for _ in range(40)]
for one in threads:
    one.start()
    time.sleep(0.001)
for one in threads:
    one.join()
print(len(found), set(found))
"""

#: Children are forked while a thread uses what was not used before, and use it, too.
FORKS = (
    PROGRAM.split("threading.settrace")[0]
    + """
import os

threading.settrace(slowly)
one = threading.Thread(target=use)
one.start()
children = []
for _ in range(20):
    children.append(os.fork())
    if not children[-1]:
        use()
        os._exit(0)
    time.sleep(0.001)
one.join()
print([os.waitpid(child, 0)[1] for child in children])
"""
)


def test_many_threads_may_decode_the_same_types_for_the_first_time():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    expected = "40 {('wrong', 'file:///a', 'a', 'run', 7)}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_may_decode_what_another_thread_did_at_the_fork():
    command = [sys.executable, "-W", "ignore", "-c", FORKS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{[0] * 20}\n", "")


def test_decoders_are_made_in_one_place():
    """`msgspec.json.decode` with a struct, and `msgspec.convert`, make one, too."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name == "msgspec_types.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "msgspec":
                # All else by its full name, so that it is found here.
                assert {one.name for one in node.names} <= {"UNSET", "UnsetType"}, path
            if isinstance(node, ast.Call) and _makes_a_decoder(node):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []


def _makes_a_decoder(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if not re.fullmatch(r"msgspec\.((json|msgpack|toml|yaml)\.)?(Decoder|decode|convert)", name):
        return False
    kinds = [one.value for one in call.keywords if one.arg == "type"]
    plain = ("msgspec.Raw", "list[msgspec.Raw]")
    return not name.endswith("decode") or any(ast.unparse(one) not in plain for one in kinds)
