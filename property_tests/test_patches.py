"""Patches, for any text, and for patches of a known meaning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lspkit.agent.hooks.patch_files import PatchedFiles, read_patch
from lspkit.agent.hooks.tool_files import TOOLS, touch_of

LINES = st.sampled_from(
    [
        *("--- a/x", "+++ b/x", "--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "@@ -1,3 +0,0 @@"),
        *("@@", "+a", "-a", " a", "\\ No newline", "", "diff --git a/x b/x", 'diff --git "a/\\303'),
        *("rename from x", "rename to y", "copy to z", "new file mode 1", "deleted file mode 1"),
        *("GIT binary patch", "*** Begin Patch", "*** Add File: a", "*** Update File: b"),
        *("*** Delete File: c", "*** Move to: d", "*** End Patch", "*** Update File:", '--- "a'),
    ]
)
JUMBLES = st.lists(LINES | st.text(max_size=20), max_size=30).map("\n".join)


@given(JUMBLES | st.text())
def test_any_text_is_read(text: str) -> None:
    found = read_patch(text)
    assert not set(found.touched) & set(found.deleted)
    assert all(found.touched) and all(found.deleted)
    assert len(set(found.touched)) == len(found.touched)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | JUMBLES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "edits", "patch", "files", "command"]), inner)
    ),
    max_leaves=8,
)


@given(st.sampled_from([*TOOLS, "str_replace_editor"]) | st.text(), VALUES)
def test_any_call_is_understood_or_passed_over(tool: str, arguments: object) -> None:
    touch = touch_of(tool, arguments)  # type: ignore[arg-type]
    assert touch is None or all(isinstance(one, str) and one for one in touch.files)


# Names that need no quotes, and begin with nothing that could be taken for a side.
NAMES = st.from_regex(r"[d-z][a-z]{0,3}(/[a-z ]{0,3}[a-z])?\.py", fullmatch=True)
CONTENT = st.lists(
    st.sampled_from(["x", "-- a/x", "++ b/x", "@@ -1 +1 @@", "", "** End"]), max_size=5
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str, str, list[str], list[str]]:
    """What is done to a file: kind, name, new name, removed and added lines."""
    kind = draw(st.sampled_from(["add", "update", "delete", "rename", "rename and update"]))
    return kind, draw(NAMES), draw(NAMES), draw(CONTENT), draw(CONTENT)


PLANS = st.lists(changes(), max_size=5, unique_by=(lambda one: one[1], lambda one: one[2])).filter(
    lambda plan: not {one[1] for one in plan} & {one[2] for one in plan}
)
Plan = list[tuple[str, str, str, list[str], list[str]]]


def meant(plan: Plan) -> PatchedFiles:
    return PatchedFiles(
        tuple(
            new if kind.startswith("rename") else name
            for kind, name, new, _, __ in plan
            if kind not in ("delete", "rename")
        ),
        tuple(name for kind, name, *_ in plan if kind == "delete"),
        tuple((name, new) for kind, name, new, *_ in plan if kind.startswith("rename")),
    )


def hunk(old: list[str], new: list[str]) -> list[str]:
    removed, added = [f"-{line}" for line in old], [f"+{line}" for line in new]
    return [f"@@ -1,{len(old)} +1,{len(new)} @@", *removed, *added]


@given(PLANS)
def test_a_diff_of_git_means_what_it_says(plan: Plan) -> None:
    lines: list[str] = []
    for kind, name, new, old_lines, new_lines in plan:
        target = new if kind.startswith("rename") else name
        lines.append(f"diff --git a/{name} b/{target}")
        if kind == "add":
            lines += ["new file mode 100644", "--- /dev/null", f"+++ b/{name}"]
            lines += hunk([], new_lines or ["x"])
        elif kind == "delete":
            lines += ["deleted file mode 100644", f"--- a/{name}", "+++ /dev/null"]
            lines += hunk(old_lines or ["x"], [])
        if kind.startswith("rename"):
            lines += [f"rename from {name}", f"rename to {new}"]
        if kind.endswith("update"):
            lines += [f"--- a/{name}", f"+++ b/{target}", *hunk(old_lines, new_lines)]
    assert read_patch("\n".join(lines)) == meant(plan)


@given(PLANS)
def test_a_patch_with_marks_means_what_it_says(plan: Plan) -> None:
    lines = ["*** Begin Patch"]
    for kind, name, new, old_lines, new_lines in plan:
        if kind == "add":
            lines += [f"*** Add File: {name}", *(f"+{line}" for line in new_lines)]
        elif kind == "delete":
            lines.append(f"*** Delete File: {name}")
        else:
            lines.append(f"*** Update File: {name}")
            lines += [f"*** Move to: {new}"] if kind.startswith("rename") else []
            if kind.endswith("update"):
                removed, added = [f"-{one}" for one in old_lines], [f"+{one}" for one in new_lines]
                lines += ["@@", *removed, *added, "+last"]
    assert read_patch("\n".join([*lines, "*** End Patch"])) == meant(plan)
