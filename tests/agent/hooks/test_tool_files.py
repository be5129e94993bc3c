"""Which files a tool call touches, by the many names that agents give to tools and arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lspkit.agent.hooks.tool_files import Tool, ToolKind, Touch, plain_name, touch_of

PATCH = "*** Begin Patch\n*** Update File: x.py\n@@\n-a\n+b\n*** Delete File: y.py\n*** End Patch"
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"


def touch(tool: str, arguments: Any) -> tuple[str, ...] | None:
    found = touch_of(tool, arguments)
    return None if found is None else (found.kind.value, *found.files)


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        *((name, "write") for name in ("write", "write_file", "create_file", "Write", "writeFile")),
        *((name, "edit") for name in ("edit", "edit_file", "multi_edit", "MultiEdit", "Edit")),
        *((name, "edit") for name in ("str_replace", "str_replace_editor", "strReplace")),
        *((name, "patch") for name in ("apply_patch", "applyPatch", "apply-patch")),
        *((name, "move") for name in ("move_file", "rename_file", "moveFile")),
        *((name, "delete") for name in ("delete_file", "remove_file")),
        *((name, "read") for name in ("read", "read_file", "Read")),
        *((name, "shell") for name in ("bash", "Bash", "shell", "run_command", "local_shell")),
        ("mcp__files__write_file", "write"),
        ("functions.apply_patch", "patch"),
        ("files/edit", "edit"),
    ],
)
def test_tools_are_known_by_their_names(tool, kind):
    found = touch_of(tool, {"path": "x.py"})
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize("kind", ToolKind)
def test_each_kind_is_the_name_of_a_tool(kind):
    """`lspkit hook` passes the kind of a call on, with its paths."""
    found = touch_of(kind.value, {"paths": ["x.py", "y.py"]})
    assert found is not None
    assert found.kind is kind
    # A command has no paths: any file may have changed.
    assert found.files == (() if kind is ToolKind.SHELL else ("x.py", "y.py"))


def test_a_move_touches_both_paths():
    found = touch("move_file", {"source": "a.py", "destination": "b.py"})
    assert found == ("move", "a.py", "b.py")
    assert touch("write_file", {"path": "a.py", "source": "b.py"}) == ("write", "a.py")


def test_a_patch_names_what_is_gone():
    moved = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** End Patch"
    for text, gone in ((PATCH, ("y.py",)), (moved, ("a.py",))):
        for tool, field in (("apply_patch", "input"), ("bash", "command")):
            found = touch_of(tool, {field: text})
            assert found is not None
            assert found.gone == gone


@pytest.mark.parametrize("tool", ["", "grep", "rewrite", "editor", "list_files", "writes", "__"])
def test_other_tools_touch_nothing(tool):
    assert touch_of(tool, {"path": "x.py"}) is None


@pytest.mark.parametrize(
    ("command", "kind"),
    [("view", "read"), ("create", "write"), ("str_replace", "edit"), ("insert", "edit")],
)
def test_an_editor_with_commands_does_what_its_command_says(command, kind):
    arguments = {"command": command, "path": "x.py"}
    assert touch("str_replace_based_edit_tool", arguments) == (kind, "x.py")


@pytest.mark.parametrize(
    "name",
    [
        "path",
        "file_path",
        "filePath",
        "file",
        "filename",
        "target_file",
        "absolute_path",
        "FilePath",
    ],
)
def test_paths_are_known_by_the_names_of_arguments(name):
    assert touch("write", {name: "src/x.py", "content": "path"}) == ("write", "src/x.py")


def test_several_files_are_found_and_each_counts_once():
    assert touch("read", {"paths": ["a.py", "b.py", "a.py"]}) == ("read", "a.py", "b.py")
    files = [{"path": "a.py"}, {"path": "b.py"}, 3, None]
    assert touch("read", {"files": files}) == ("read", "a.py", "b.py")


def test_each_of_several_edits_may_name_its_file():
    edits = [{"file_path": "a.py", "new": "x"}, {"file_path": "b.py"}, {"new": "y"}, "z"]
    assert touch("multi_edit", {"edits": edits}) == ("edit", "a.py", "b.py")
    assert touch("multi_edit", {"file_path": "c.py", "edits": edits[2:]}) == ("edit", "c.py")


@pytest.mark.parametrize("name", ["patch", "patchText", "patch_text", "diff", "input"])
@pytest.mark.parametrize("text", [PATCH, DIFF], ids=["marks", "unified"])
def test_patches_are_known_by_the_names_of_arguments(name, text):
    assert touch("apply_patch", {name: text}) == ("patch", "x.py")


def test_a_bare_text_is_a_patch():
    assert touch("apply_patch", PATCH) == ("patch", "x.py")
    assert touch("apply_patch", DIFF) == ("patch", "x.py")


def test_an_edit_by_diff_touches_the_file_that_is_named():
    assert touch("edit", {"path": "z.py", "diff": DIFF}) == ("edit", "z.py")


@pytest.mark.parametrize(
    "command",
    [["apply_patch", PATCH], f"apply_patch <<'EOF'\n{PATCH}\nEOF"],
    ids=["words", "text"],
)
def test_a_patch_in_a_shell_command_is_seen(command):
    assert touch("shell", {"command": command, "workdir": "/"}) == ("shell", "x.py")


def test_a_shell_command_names_no_files_by_itself():
    assert touch("bash", {"command": "sed -i s/a/b/ x.py", "path": "x.py"}) == ("shell",)


def test_arguments_may_be_json():
    assert touch("write", json.dumps({"path": "x.py"})) == ("write", "x.py")


@pytest.mark.parametrize(
    "arguments",
    [
        *(None, "", "{", "[1]", "7", 7, [], "[" * 100_000),
        *({"path": None}, {"path": 7}, {"path": {}}, {"path": ""}, {7: "x"}, {"": ""}),
        *({"edits": "x"}, {"edits": {"path": "x"}}, {"patch": 7}),
    ],
    ids=lambda one: str(one)[:20],
)
@pytest.mark.parametrize("tool", ["write", "edit", "apply_patch", "read", "bash", "str_replace"])
def test_nonsense_touches_nothing(tool, arguments):
    found = touch_of(tool, arguments)
    assert found is not None
    assert found.files == ()


def test_a_registered_tool_comes_first():
    more = {
        plain_name("save_module"): Tool(ToolKind.WRITE, lambda values: [f"{values['module']}.py"]),
        "write": Tool(ToolKind.READ),
    }
    saved, written = {"module": "x"}, {"path": "x.py"}
    assert touch_of("save_module", saved, more) == Touch(ToolKind.WRITE, ("x.py",), saved)
    assert touch_of("write", written, more) == Touch(ToolKind.READ, ("x.py",), written)
