"""The JSON Schema says what the reader accepts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from lspkit.config.file_syntax import decode
from lspkit.config.json_schema import schema
from lspkit.config.merge import leaves
from lspkit.config.model import Config, ServerConfig
from lspkit.config.normalize import INSIDE_LSP, Style, normalize
from lspkit.config.parse import BUILT_IN_VALUES
from lspkit.config.problems import Problems, place_of
from tests.config.scene import DATA

SCHEMA = schema()
ENTRY = SCHEMA["$defs"]["ServerConfig"]["properties"]


def unknown(value: Any) -> list[str]:
    findings = Problems()
    normalize(value, findings, Style())
    return [one.place for one in findings.warnings if "no such name" in one.message]


@pytest.mark.parametrize("name", [*SCHEMA["properties"]])
def test_every_key_of_the_schema_is_known(name):
    assert unknown({name: {}}) == []


@pytest.mark.parametrize("name", [*ENTRY])
def test_every_key_of_a_server_in_the_schema_is_known(name):
    assert unknown({"lsp": {"x": {name: {}}}}) == []


def test_every_field_of_the_model_is_in_the_schema_with_its_doc_lines():
    for properties, kind in ((SCHEMA["properties"], Config), (ENTRY, ServerConfig)):
        for field in msgspec.structs.fields(kind):
            assert properties[field.encode_name]["description"].endswith(".")
    for part in SCHEMA["$defs"].values():
        assert all(one.get("description") for one in part["properties"].values())


def test_an_unknown_key_is_refused_by_the_schema_so_that_editors_underline_it():
    assert SCHEMA["additionalProperties"] is False
    assert SCHEMA["$defs"]["ServerConfig"]["additionalProperties"] is False


def test_a_file_that_sets_everything_fits_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    value = decode((DATA / "whole.jsonc").read_text(encoding="utf-8"))[0]
    jsonschema.Draft202012Validator(SCHEMA).validate(value)


@pytest.mark.parametrize(
    "value",
    [
        {"timing": {"requestTimeoutMs": 0}},
        {"lsp": {"x": {"languageIds": 5}}},
        {"lsp": {"x": {"command": []}}},
        {"lsp": {"x": {"command": ["a\0"]}}},
        {"lsp": {"x": {"extensions": ["py"]}}},
        {"permissions": {"lsp_rename": "maybe"}},
        {"lsp": 5},
        [],
    ],
)
def test_what_is_refused_does_not_fit_the_schema(value):
    jsonschema = pytest.importorskip("jsonschema")
    findings = Problems()
    normalize(value, findings, Style())
    assert findings.faults
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(value)


def test_the_page_about_configuration_names_every_key():
    page = (DATA.parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    said = {place_of(path) for path, _ in leaves(BUILT_IN_VALUES)} - {"lsp"}
    assert [place for place in sorted(said) if f"`{place}`" not in page] == []
    assert [name for name in ENTRY if f"`{name}`" not in page and f'"{name}"' not in page] == []
    assert [name for name in INSIDE_LSP if f"`{name}`" not in page] == []
