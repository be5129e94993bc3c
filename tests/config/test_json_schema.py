"""The JSON Schema says what the reader accepts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from lspkit.config.json_schema import schema
from lspkit.config.jsonc import decode
from lspkit.config.key_aliases import snake
from lspkit.config.merge import leaves
from lspkit.config.model import Config, ServerConfig
from lspkit.config.normalize import Style, normalize
from lspkit.config.parse import BUILT_IN_VALUES
from lspkit.config.problems import Problems, place_of
from tests.config.scene import DATA

SCHEMA = schema()
ENTRY = SCHEMA["$defs"]["ServerConfig"]["properties"]
INSIDE_LSP = SCHEMA["properties"]["lsp"]["anyOf"][0]["properties"]


def own_names(properties: dict[str, Any]) -> list[str]:
    """Without those that are there because a name may be written in snake_case, too."""
    others = {snake(name) for name in properties if snake(name) != name}
    return [name for name in properties if name not in others]


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


@pytest.mark.parametrize("name", [*INSIDE_LSP])
def test_what_the_schema_has_inside_lsp_is_no_server(name):
    findings = Problems()
    made = normalize({"lsp": {name: 5}}, findings, Style())
    assert name not in (made.get("lsp") or {})
    assert all("a server" not in fault.expected for fault in findings.faults)


def test_every_field_of_the_model_is_in_the_schema_with_its_doc_lines():
    for properties, kind in ((SCHEMA["properties"], Config), (ENTRY, ServerConfig)):
        for field in msgspec.structs.fields(kind):
            assert properties[field.encode_name]["description"].endswith(".")
    for part in SCHEMA["$defs"].values():
        assert all(one.get("description") for one in part["properties"].values())


def test_an_unknown_key_is_refused_by_the_schema_so_that_editors_underline_it():
    assert SCHEMA["additionalProperties"] is False
    assert SCHEMA["$defs"]["ServerConfig"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "sample", ["whole.jsonc", "copilot.json", "pi.json", "pi-servers.json", "opencode.jsonc"]
)
def test_files_that_are_accepted_fit_the_schema(sample):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    value = decode((DATA / sample).read_text(encoding="utf-8"))[0]
    jsonschema.Draft202012Validator(SCHEMA).validate(value)


@pytest.mark.parametrize(
    "value",
    [
        {"timing": {"request_timeout_ms": 5}},
        {"lsp": {"x": {"root_patterns": ["a"], "initialization_options": {}}}},
        {"lsp": {"x": {"command": "y", "args": ["z"], "language_id": "z", "transport": "stdio"}}},
        {"lsp": {"max_diagnostics_per_file": 5, "first_touch_timeout": 7, "x": {"command": ["y"]}}},
        {"lsp_servers": {"x": {"command": ["y"]}}, "navigation_tools": False},
        {"security": {"trusted_project_roots": ["/a"]}, "restart": {"base_ms": 0}},
    ],
)
def test_every_spelling_that_is_read_fits_the_schema(value):
    jsonschema = pytest.importorskip("jsonschema")
    findings = Problems()
    normalize(value, findings, Style())
    assert (findings.faults, findings.warnings) == ([], [])
    jsonschema.Draft202012Validator(SCHEMA).validate(value)


@pytest.mark.parametrize(
    "value",
    [
        {"timing": {"requestTimeoutMs": 0}},
        {"timing": {"request_timeout_ms": 0}},
        {"lsp": {"x": {"language_ids": 5}}},
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
    assert [
        name for name in own_names(ENTRY) if f"`{name}`" not in page and f'"{name}"' not in page
    ] == []
    assert [name for name in own_names(INSIDE_LSP) if f"`{name}`" not in page] == []
