"""Which files a patch leaves changed, deleted or renamed, in both forms and with mistakes."""

from __future__ import annotations

import time

import pytest

from lspkit.agent.hooks.patch_files import PatchedFiles, read_patch


def patch(*lines: str) -> PatchedFiles:
    return read_patch("\n".join(lines) + "\n")


HUNK = ("@@ -1 +1 @@", "-old", "+new")


# Unified diffs


def test_a_changed_file():
    assert patch("--- a/src/x.py", "+++ b/src/x.py", *HUNK) == PatchedFiles(("src/x.py",))


def test_a_diff_without_sides_names_files_as_they_are():
    assert patch("--- src/x.py", "+++ src/x.py", *HUNK).touched == ("src/x.py",)


def test_a_folder_that_is_called_like_a_side_stays():
    assert patch("--- b/x.py", "+++ b/x.py", *HUNK).touched == ("b/x.py",)


@pytest.mark.parametrize("sides", ["iw", "ci", "cw", "ow", "ba"])
def test_git_may_call_the_sides_otherwise(sides):
    old, new = sides
    assert patch(f"--- {old}/x.py", f"+++ {new}/x.py", *HUNK).touched == ("x.py",)


def test_times_behind_the_names_are_no_part_of_them():
    first, second = "--- x.py\t2024-01-02 03:04:05", "+++ x.py\t2024-01-02 03:04:06"
    assert patch(first, second, *HUNK).touched == ("x.py",)


def test_several_files_in_the_order_of_the_patch():
    text = ("--- a/z.py", "+++ b/z.py", *HUNK, "--- a/a.py", "+++ b/a.py", *HUNK)
    assert patch(*text).touched == ("z.py", "a.py")


def test_a_new_file_and_a_deleted_one():
    new = ("--- /dev/null", "+++ b/new.py", "@@ -0,0 +1 @@", "+x")
    gone = ("--- a/gone.py", "+++ /dev/null", "@@ -1 +0,0 @@", "-x")
    assert patch(*new, *gone) == PatchedFiles(("new.py",), ("gone.py",))


def test_a_new_file_in_a_folder_b_of_a_diff_without_sides():
    header = ("diff --git b/new.py b/new.py", "new file mode 100644")
    new = ("--- /dev/null", "+++ b/new.py", "@@ -0,0 +1 @@", "+x")
    assert patch(*header, *new).touched == ("b/new.py",)


def test_an_empty_new_file_has_only_a_header():
    header = ("diff --git a/new.py b/new.py", "new file mode 100644", "index 000..e69")
    assert patch(*header) == PatchedFiles(("new.py",))


def test_an_empty_deleted_file_has_only_a_header():
    header = ("diff --git a/old.py b/old.py", "deleted file mode 100644", "index e69..000")
    assert patch(*header) == PatchedFiles((), ("old.py",))


RENAME = ("diff --git a/old.py b/new.py", "rename from old.py", "rename to new.py")


def test_a_file_that_is_only_renamed_is_not_touched():
    text = (RENAME[0], "similarity index 100%", *RENAME[1:])
    assert patch(*text) == PatchedFiles((), (), (("old.py", "new.py"),))


def test_a_file_that_is_renamed_and_changed_is_touched_by_its_new_name():
    text = (*RENAME, "--- a/old.py", "+++ b/new.py", *HUNK)
    assert patch(*text) == PatchedFiles(("new.py",), (), (("old.py", "new.py"),))


def test_a_copy_is_a_new_file():
    text = ("diff --git a/old.py b/new.py", "copy from old.py", "copy to new.py")
    assert patch(*text) == PatchedFiles(("new.py",))


def test_another_mode_is_no_change():
    assert patch("diff --git a/x b/x", "old mode 100644", "new mode 100755") == PatchedFiles()


def test_a_binary_file_that_differs_is_changed():
    text = ("diff --git a/x.png b/x.png", "Binary files a/x.png and b/x.png differ")
    assert patch(*text).touched == ("x.png",)


def test_names_in_quotes_are_read():
    name = r"caf\303\251 \"1\".py"
    text = (f'--- "a/{name}"', f'+++ "b/{name}"', *HUNK)
    assert patch(*text).touched == ('café "1".py',)


def test_a_quoted_header_alone_is_read():
    name = r"caf\303\251.py"
    header = (f'diff --git "a/{name}" "b/{name}"', "new file mode 100644")
    assert patch(*header).touched == ("café.py",)


def test_content_that_looks_like_names_is_content():
    hunk = ("@@ -1,2 +1,2 @@", " x", "--- a/not.py", "+++ b/not.py", "@@ -9 +9 @@")
    assert patch("--- a/x.sql", "+++ b/x.sql", *hunk).touched == ("x.sql",)


def test_wrong_counts_do_not_swallow_the_next_file():
    hunk = ("@@ -1,99 +1,99 @@", "-old", "+new")
    text = ("diff --git a/x b/x", "--- a/x", "+++ b/x", *hunk, "diff --git a/y b/y")
    assert patch(*text, "--- a/y", "+++ b/y", *HUNK).touched == ("x", "y")


def test_a_hunk_without_numbers_is_a_hunk():
    assert patch("--- a/x.py", "+++ b/x.py", "@@ def f():", "-old", "+new").touched == ("x.py",)


def test_text_around_a_diff_is_passed_over():
    text = ("Here is the fix:", "```diff", "--- a/x.py", "+++ b/x.py", *HUNK, "```", "--- done")
    assert patch(*text).touched == ("x.py",)


def test_lines_may_end_in_the_other_way():
    text = "\r\n".join(("--- a/x.py", "+++ b/x.py", *HUNK))
    assert read_patch(text).touched == ("x.py",)


def test_names_without_a_hunk_are_no_patch():
    assert patch("--- a/x.py", "+++ b/x.py") == PatchedFiles()


# The form with marks


def marked(*lines: str) -> PatchedFiles:
    return patch("*** Begin Patch", *lines, "*** End Patch")


def test_added_updated_and_deleted_files():
    text = (
        *("*** Add File: new.py", "+x"),
        *("*** Update File: src/old one.py", "@@ def f():", "-a", "+b"),
        "*** Delete File: gone.py",
    )
    assert marked(*text) == PatchedFiles(("new.py", "src/old one.py"), ("gone.py",))


def test_a_move_alone_is_a_rename():
    text = ("*** Update File: old.py", "*** Move to: new.py")
    assert marked(*text) == PatchedFiles((), (), (("old.py", "new.py"),))


def test_a_move_with_a_change_touches_the_new_name():
    text = ("*** Update File: old.py", "*** Move to: new.py", "@@", "-a", "+b")
    assert marked(*text) == PatchedFiles(("new.py",), (), (("old.py", "new.py"),))


def test_an_empty_added_file_is_there():
    assert marked("*** Add File: empty.py").touched == ("empty.py",)


def test_content_that_looks_like_a_mark_is_content():
    text = ("*** Update File: x.md", "@@", " *** Delete File: y", "+*** Add File: z", "-a")
    assert marked(*text) == PatchedFiles(("x.md",))


def test_a_patch_that_breaks_off_is_read_as_far_as_it_goes():
    text = "*** Begin Patch\n*** Update File: x.py\n@@\n-a\n+b"
    assert read_patch(text).touched == ("x.py",)


def test_a_patch_that_lacks_its_first_line_is_read():
    assert patch("*** Update File: x.py", "@@", "-a", "+b").touched == ("x.py",)


# One after the other


def test_a_file_that_is_deleted_and_added_again_is_touched():
    text = ("*** Delete File: x.py", "*** Add File: x.py", "+x")
    assert marked(*text) == PatchedFiles(("x.py",))


def test_a_file_that_is_changed_and_then_deleted_is_gone():
    text = ("*** Update File: x.py", "@@", "-a", "+b", "*** Delete File: x.py")
    assert marked(*text) == PatchedFiles((), ("x.py",))


def test_a_file_that_is_changed_and_then_renamed_is_touched_by_its_new_name():
    text = ("*** Update File: x.py", "@@", "-a", "+b", "*** Update File: x.py", "*** Move to: y.py")
    assert marked(*text) == PatchedFiles(("y.py",), (), (("x.py", "y.py"),))


def test_a_rename_onto_a_deleted_file_brings_it_back():
    text = ("*** Delete File: y.py", "*** Update File: x.py", "*** Move to: y.py")
    assert marked(*text) == PatchedFiles((), (), (("x.py", "y.py"),))


# Nonsense


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "---",
        "--- \n+++ \n@@",
        "+++ b/x\n--- a/x\n@@",
        "diff --git ",
        "diff --git a\nnew file mode 1",
        'diff --git "\nnew file mode 1',
        "diff --git aaaaaaa\nnew file mode 100644",
        "*** Update File:",
        "*** Move to: x",
        "*** Begin Patch\n*** End Patch",
    ],
)
def test_what_is_no_patch_touches_nothing(text):
    assert read_patch(text) == PatchedFiles()


def test_counts_of_a_million_digits_are_no_trouble():
    huge = "9" * 1_000_000
    began = time.process_time()
    assert patch("--- a/x", "+++ b/x", f"@@ -1,{huge} +1 @@", "-a", "+b").touched == ("x",)
    assert time.process_time() - began < 5


def test_a_long_patch_takes_time_in_proportion():
    text = ("--- a/x", "+++ b/x", *HUNK) * 50_000
    began = time.process_time()
    assert patch(*text).touched == ("x",)
    assert time.process_time() - began < 20


def test_blanks_behind_a_mark_take_time_in_proportion():
    began = time.process_time()
    patch = "*** Begin Patch\n*** Add File: a" + " " * 300_000 + "x\n*** End Patch"
    read_patch(patch)
    assert time.process_time() - began < 10
    assert read_patch("*** Begin Patch\n*** Add File: a b \t\n").touched == ("a b",)
