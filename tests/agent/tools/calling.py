"""Toolboxes on the scripted server, or on none, for tests of what a model sees."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema

import lspkit
from lspkit.agent import Toolbox, envelope_schema
from lspkit.agent.tools.tool_table import ToolSpec, spec_of
from lspkit.testing import Script
from tests.faults.operations import answers
from tests.scripted import SOURCE, config_for

#: The suggested search.
GREP = "grep -rnw --exclude-dir=node_modules --exclude-dir=.git"

ROOT = Path(__file__).resolve().parents[3]

#: `greet` is defined on line 1 and used on line 2, where something is wrong as well.
TEXT = "def greet\n😀 greet ERROR\n"
PLACE = {"filePath": "a.scr", "line": 2, "character": 4}


@contextmanager
def alone(folder: Path, **options: Any) -> Iterator[Toolbox]:
    """A toolbox whose workspace has no server for any of its files."""
    (folder / "a.xyz").write_text(SOURCE, encoding="utf-8")
    config = {"lsp": options.pop("lsp", {}), **options.pop("config", {})}
    with lspkit.Workspace(folder, config=config) as ws:
        yield Toolbox(ws, **options)


@contextmanager
def served(
    folder: Path,
    argv: list[str],
    *,
    text: str = TEXT,
    config: dict[str, Any] | None = None,
    **options: Any,
) -> Iterator[Toolbox]:
    """A toolbox with one file, `a.scr`, and a server for it."""
    (folder / "a.scr").write_text(text, encoding="utf-8")
    with lspkit.Workspace(folder, config={**config_for(argv), **(config or {})}) as ws:
        yield Toolbox(ws, **options)


def able(folder: Path, **more: Any) -> Script:
    """A script that answers every operation about `a.scr` of this folder."""
    told = {**answers((folder / "a.scr").as_uri()), **more.pop("answers", {})}
    return Script(answers=told, **more)


def codes(envelope: dict[str, Any]) -> list[str]:
    return [one["code"] for one in envelope["errors"]]


def check_form(envelope: dict[str, Any]) -> None:
    """It is what the tools say they return, of this operation and of any."""
    for row in {spec_of(envelope["operation"]), None}:
        _validator(row).validate(envelope)


@functools.cache
def _validator(row: ToolSpec | None) -> jsonschema.Draft202012Validator:
    # Once: checking the schema itself takes far longer than checking an envelope against it.
    schema = envelope_schema(row)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def load(file: str) -> ModuleType:
    """A program of this checkout that is in no package."""
    spec = importlib.util.spec_from_file_location(Path(file).stem, ROOT / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up while it is made.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module
