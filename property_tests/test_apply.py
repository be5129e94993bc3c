"""Random trees and random edits, against a plain model of what they mean.

The model is a dictionary of paths. It says what the tree has to be after an edit, or that the edit
makes no sense; then, and whenever something fails on the way, the tree has to be as it was.
"""

from __future__ import annotations

import collections
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import lspkit
from lspkit.edit_types import FileEdit, FileOperation, WorkspaceEdit
from lspkit.edits.apply import apply, undo
from lspkit.workspace_boundary import boundary_of
from tests.edits.trees import at_step, edit, operation, snapshot

#: Of each path: None for a folder; else mark, text and mode.
Model = dict[str, tuple[str, str, int | None] | None]

NAMES = st.sampled_from(["a", "ü b", "c.py"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TEXTS = st.text("ab\té🙂\u2028\r\n", max_size=12) | st.text(
    st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=12
)
MARKS = st.sampled_from(["", "\ufeff"])
#: When something happens: a part of all steps.
MOMENTS = st.floats(0, 1, exclude_max=True)
FLAGS = ("overwrite", "ignore_if_exists", "ignore_if_not_exists", "recursive")
MODES = st.sampled_from([0o600, 0o644, 0o755])


class Nonsense(Exception):
    """The model knows no tree that could come of it."""


@st.composite
def trees(draw: st.DrawFn) -> Model:
    model: Model = {}
    for path in draw(st.lists(PATHS, max_size=6, unique=True)):
        above = path.split("/")[:-1]
        folders = ["/".join(above[: depth + 1]) for depth in range(len(above))]
        if path not in model and all(model.get(one, None) is None for one in folders):
            model.update(dict.fromkeys(folders))
            model[path] = (draw(MARKS), draw(TEXTS), draw(MODES))
    return model


def lay_out(model: Model, root: Path) -> None:
    for path, content in sorted(model.items()):
        if content is None:
            (root / path).mkdir()
        else:
            mark, text, mode = content
            (root / path).write_bytes((mark + text).encode())
            (root / path).chmod(mode or 0)


def assert_is(root: Path, model: Model) -> None:
    found = snapshot(root)
    del found["."]
    assert found.keys() == model.keys()
    for path, content in model.items():
        kind, mode, data = found[path]
        assert (kind == "folder") == (content is None)
        if content is not None:
            assert data == (content[0] + content[1]).encode()
            assert content[2] in (None, mode)


# What changes mean


def below(model: Model, path: str) -> list[str]:
    return [one for one in model if one.startswith(f"{path}/")]


def make(model: Model, path: str, content: tuple[str, str, int | None] | None) -> None:
    above = path.split("/")[:-1]
    for depth in range(len(above)):
        folder = "/".join(above[: depth + 1])
        if model.get(folder) is not None:
            raise Nonsense
        model[folder] = None
    model[path] = content


def create(model: Model, one: FileOperation, path: str) -> None:
    content = model.get(path)
    if path not in model:
        make(model, path, ("", "", None))
    elif content is not None and one.overwrite:
        model[path] = ("", "", content[2])
    elif not one.ignore_if_exists:
        raise Nonsense


def delete(model: Model, one: FileOperation, path: str) -> None:
    if path not in model:
        if not one.ignore_if_not_exists:
            raise Nonsense
        return
    if below(model, path) and not one.recursive:
        raise Nonsense
    for gone in [path, *below(model, path)]:
        del model[gone]


def rename(model: Model, one: FileOperation, path: str, to: str) -> None:
    if path not in model or (to != path and f"{to}/".startswith(f"{path}/")):
        raise Nonsense
    if to == path:
        return
    if to in model:
        if one.overwrite and model[path] is not None and model[to] is not None:
            del model[to]
        elif one.ignore_if_exists and not one.overwrite:
            return
        else:
            raise Nonsense
    moved = {to + old[len(path) :]: model[old] for old in [path, *below(model, path)]}
    for old in [path, *below(model, path)]:
        del model[old]
    for new, content in moved.items():
        make(model, new, content)


def usual_break(text: str) -> str:
    counts = collections.Counter(re.findall("\r\n|\r|\n", text))
    return max(["\n", "\r\n", "\r"], key=lambda one: counts[one]) if counts else ""


def rewritten(text: str, spans: list[tuple[int, int, str]]) -> str:
    usual = usual_break(text)
    for start, end, new in reversed(spans):
        old = text[start:end]
        about_breaks = old and not old.strip("\r\n") and new.splitlines() == old.splitlines()
        if usual and not (about_breaks and not new.strip("\r\n")):
            new = re.sub("\r\n|\n", usual, new)
        text = text[:start] + new + text[end:]
    return text


@st.composite
def spans_of(draw: st.DrawFn, text: str) -> list[tuple[int, int, str]]:
    """Edits that do not overlap, none of which starts or ends inside a line break."""
    places = [at for at in range(len(text) + 1) if at == 0 or text[at - 1 : at + 1] != "\r\n"]
    chosen = sorted(draw(st.lists(st.sampled_from(places), max_size=6)))
    spans: list[tuple[int, int, str]] = []
    for start, end in zip(chosen[::2], chosen[1::2], strict=False):
        if not spans or start > spans[-1][1]:  # two at one place would have to be in order
            spans.append((start, end, draw(TEXTS)))
    return spans


class Plan(NamedTuple):
    """A tree, what an edit does to it, and the tree that comes of it, if one does."""

    before: Model
    #: Each the function that makes it, its path, and what else that function wants.
    changes: list[tuple[str, str, dict[str, Any]]]
    after: Model | None

    def edit(self, root: Path) -> WorkspaceEdit:
        made: list[FileEdit | FileOperation] = []
        for kind, path, more in self.changes:
            if kind == "edit":
                made.append(edit(root / path, *more["spans"], before=more["text"]))
            else:
                to = root / more["to"] if more["to"] else None
                made.append(operation(kind, root / path, to, **more["options"]))
        return WorkspaceEdit(tuple(made), "server")


@st.composite
def plans(draw: st.DrawFn, nonsense: bool) -> Plan:
    """With or without changes that make no sense; these are the last ones then."""
    plan, model = Plan(draw(trees()), [], None), Model()
    model.update(plan.before)
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["edit", "edit", "create", "rename", "delete"]))
        change = draw(edits(model) if kind == "edit" else operations(kind, model))
        played = dict(model)
        try:
            play(played, *change)
        except Nonsense:
            if nonsense:
                plan.changes.append(change)
                return plan
        else:
            model = played
            plan.changes.append(change)
    return plan._replace(after=model)


@st.composite
def edits(draw: st.DrawFn, model: Model) -> tuple[str, str, dict[str, Any]]:
    files = sorted(path for path, content in model.items() if content is not None)
    path = draw(st.sampled_from(files or ["a"]))
    text = (model.get(path) or ("", ""))[1]
    return "edit", path, {"spans": draw(spans_of(text)), "text": text}


@st.composite
def operations(draw: st.DrawFn, kind: str, model: Model) -> tuple[str, str, dict[str, Any]]:
    path = draw(st.sampled_from(sorted(model)) | PATHS if model else PATHS)
    options = {flag: draw(st.booleans()) for flag in FLAGS}
    return kind, path, {"to": draw(PATHS) if kind == "rename" else "", "options": options}


def play(model: Model, kind: str, path: str, more: dict[str, Any]) -> None:
    if kind == "edit":
        content = model.get(path)
        if content is None:
            raise Nonsense
        model[path] = (content[0], rewritten(more["text"], more["spans"]), content[2])
        return
    one = operation(kind, Path("/"), **more["options"])
    if kind == "rename":
        rename(model, one, path, more["to"])
    else:
        {"create": create, "delete": delete}[kind](model, one, path)


@given(plans(nonsense=True))
def test_an_edit_does_what_it_means_or_nothing(plan: Plan) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        lay_out(plan.before, root)
        original, boundary = snapshot(root), boundary_of(str(root))
        event("makes no sense" if plan.after is None else "makes sense")
        if plan.after is None:
            with pytest.raises(lspkit.LspkitError):
                apply(plan.edit(root), boundary)
        else:
            applied = apply(plan.edit(root), boundary)
            assert_is(root, plan.after)
            undo(applied, boundary)
        assert snapshot(root) == original


@given(plans(nonsense=False), MOMENTS, st.sampled_from([OSError, KeyboardInterrupt]))
def test_an_edit_that_fails_on_the_way_does_nothing(
    plan: Plan, moment: float, kind: type[BaseException]
) -> None:
    def fail() -> None:
        raise kind("stop")

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        lay_out(plan.before, root)
        original, boundary = snapshot(root), boundary_of(str(root))
        steps, back = list[int](), list[int]()
        undo(apply(plan.edit(root), boundary, before_step=steps.append), boundary)
        if not steps:
            return
        event(f"{len(steps) // 10 * 10} steps or more")
        with pytest.raises((kind, lspkit.PathError)):
            apply(plan.edit(root), boundary, before_step=at_step(int(moment * len(steps)), fail))
        assert snapshot(root) == original
        undo(apply(plan.edit(root), boundary), boundary, before_step=back.append)
        applied = apply(plan.edit(root), boundary)
        made = snapshot(root)
        with pytest.raises((kind, lspkit.PathError)):
            undo(applied, boundary, before_step=at_step(int(moment * len(back)), fail))
        assert snapshot(root) == made


@given(TEXTS, TEXTS, st.data())
def test_what_changed_since_the_preview_is_never_overwritten(
    shown: str, text: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "a.py"
        path.write_bytes(text.encode())
        change = edit(path, *data.draw(spans_of(shown)), before=shown)
        boundary = boundary_of(folder)
        if shown == text:
            apply(WorkspaceEdit((change,)), boundary)
            return
        with pytest.raises(lspkit.PathError) as caught:
            apply(WorkspaceEdit((change,)), boundary)
        assert caught.value.code == "ECHANGED"
        assert path.read_bytes() == text.encode()
