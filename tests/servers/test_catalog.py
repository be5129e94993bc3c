"""The table of built-in servers: complete, without contradictions, and true where tried."""

from __future__ import annotations

import ast
import collections
import os
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import lspkit
from lspkit.config import read_config
from lspkit.protocol.events import Signal
from lspkit.servers import definition_parts
from lspkit.servers.adapters.adapter_table import ADAPTERS
from lspkit.servers.built_in import BUILT_IN
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    Launch,
    Roots,
)
from lspkit.servers.selection.choose import definitions
from tests import real_servers
from tests.real.running import TIMING
from tests.real.tiny_projects import TINY

ROOT = Path(__file__).resolve().parent.parent.parent
BY_ID = {one.id: one for one in BUILT_IN}

#: The order of preference within each language.
EXPECTED = {
    "python": ["ty", "pyright", "basedpyright", "pyrefly", "zuban"],
    "typescript": ["typescript", "vtsls", "typescript-7", "deno"],
    "go": ["gopls"],
    "rust": ["rust-analyzer"],
    "c": ["clangd"],
    "java": ["jdtls"],
    "lua": ["lua-language-server"],
    "luau": ["luau-lsp"],
    "bash": ["bash"],
    "yaml": ["yaml"],
    "json": ["json"],
    "html": ["html"],
    "css": ["css"],
    "vue": ["vue"],
    "vue-typescript": ["vue-typescript"],
    "svelte": ["svelte"],
    "php": ["intelephense"],
    "ruby": ["ruby-lsp", "solargraph"],
    "csharp": ["csharp-ls"],
    "kotlin": ["kotlin-lsp", "kotlin-language-server"],
    "zig": ["zls"],
    "haskell": ["hls"],
    "elixir": ["elixir-ls"],
    "terraform": ["terraform-ls"],
    "dockerfile": ["dockerfile"],
    "toml": ["taplo", "tombi"],
    "markdown": ["marksman"],
    "latex": ["texlab"],
    "nix": ["nixd"],
    "swift": ["sourcekit-lsp"],
    "dart": ["dart"],
    "ocaml": ["ocaml-lsp"],
    "gleam": ["gleam"],
    "clojure": ["clojure-lsp"],
    "typst": ["tinymist"],
}
LINTERS = {"ruff", "eslint", "biome", "oxlint"}

#: Those of the protocol, those of editors, and those that only the server itself knows.
LANGUAGE_IDS = {
    *("astro", "bibtex", "c", "cabal", "clojure", "cpp", "csharp", "css", "cuda-cpp", "dart"),
    *("dockerfile", "dune", "eex", "elixir", "erb", "gleam", "go", "go.mod", "go.sum", "go.work"),
    *("gotmpl", "graphql", "haskell", "html", "html-eex", "java", "javascript"),
    *("javascriptreact", "json", "jsonc", "kotlin", "latex", "less", "literate haskell"),
    *("lua", "luau", "markdown", "nix", "objective-c", "objective-cpp", "ocaml"),
    *("ocaml.interface", "ocaml.menhir", "ocaml.ocamllex", "phoenix-heex", "php", "python"),
    *("rbs", "reason", "ruby", "rust", "scss", "shellscript", "surface", "svelte", "swift"),
    *("terraform", "terraform-vars", "toml", "typescript", "typescriptreact", "typst"),
    *("typst-code", "vue", "yaml", "zig"),
}

each = pytest.mark.parametrize("one", BUILT_IN, ids=lambda one: one.id)


@pytest.mark.parametrize("family", EXPECTED)
def test_rivals_stand_in_their_order_of_preference(family):
    rivals = [one.id for one in BUILT_IN if one.family == family and one.role == "types"]
    assert rivals == EXPECTED[family]


def test_there_are_no_others():
    assert set(BY_ID) == {*LINTERS, *(id for ids in EXPECTED.values() for id in ids)}


def test_linters_run_beside_the_others():
    assert {one.id for one in BUILT_IN if one.role == "lint"} == LINTERS


def test_no_two_servers_have_a_name_in_common():
    names = collections.Counter(name for one in BUILT_IN for name in (one.id, *one.aliases))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    ("alias", "id"),
    [
        ("python", "ty"),
        ("go", "gopls"),
        ("rust", "rust-analyzer"),
        ("java", "jdtls"),
        ("cpp", "clangd"),
        ("ruby", "ruby-lsp"),
        ("kotlin", "kotlin-lsp"),
        ("toml", "taplo"),
    ],
)
def test_the_name_of_a_language_stands_for_its_first_server(alias, id):
    config = read_config({"lsp": {alias: {"roots": ["marked"]}}})
    changed = {one.id for one in definitions(config) if one.roots.markers == ("marked",)}
    assert changed == {id}
    first = next(one for one in BUILT_IN if one.family == BY_ID[id].family)
    assert first.id == id


@each
def test_files_are_told_by_an_extension_or_by_a_whole_name(one: Definition):
    for key in one.languages:
        extension = re.fullmatch(r"\.[a-z0-9+_-]+", key)
        name = re.fullmatch(r"\.?[A-Za-z][\w.-]*(\.\*)?", key)
        assert extension or name, key


@each
def test_language_ids_are_known_ones(one: Definition):
    assert set(one.languages.values()) <= LANGUAGE_IDS


def test_no_language_id_is_listed_that_nobody_uses():
    assert {id for one in BUILT_IN for id in one.languages.values()} == LANGUAGE_IDS


@each
def test_it_has_a_command_that_names_a_program_and_no_path(one: Definition):
    assert one.launch.commands
    for command in one.launch.commands:
        assert command[0]
        assert not any(os.sep in word for word in command)


@each
def test_it_says_how_to_install_it(one: Definition):
    assert one.install
    for manager, command in one.install_commands.items():
        assert manager in INSTALLERS
        assert command.startswith(INSTALLERS[manager]), command


#: Package manager: how its commands begin.
INSTALLERS = {
    "apt": "apt-get install ",
    "brew": "brew install ",
    "cargo": "cargo install ",
    "choco": "choco install ",
    "dotnet": "dotnet tool install --global ",
    "gem": "gem install ",
    "ghcup": "ghcup install ",
    "go": "go install ",
    "nix": "nix profile install nixpkgs#",
    "npm": "npm install -g ",
    "opam": "opam install ",
    "pacman": "pacman -S ",
    "pip": "pip install ",
    "rokit": "rokit add --global ",
    "rustup": "rustup component add ",
    "scoop": "scoop install ",
    "snap": "snap install ",
    "swiftly": "swiftly install ",
    "uv": "uv tool install ",
    "xcode": "xcode-select ",
}

#: Kinds of files that stand anywhere, so that no name tells where their project begins.
WITHOUT_MARKERS = {"yaml", "dockerfile"}


@each
def test_it_has_markers_for_its_root(one: Definition):
    assert bool(one.roots.markers) != (one.id in WITHOUT_MARKERS)


@each
def test_what_marks_its_root_from_outside_marks_it_at_all(one: Definition):
    """A marker of a workspace is one of the server's markers, or lies above all of them."""
    above = {"pnpm-workspace.yaml", "Cargo.lock", "gradlew", "mvnw"}
    assert set(one.roots.outermost) <= {*one.roots.markers, *above}


def test_a_deno_project_is_left_to_deno_alone():
    for id in EXPECTED["typescript"]:
        deno = {"deno.json", "deno.jsonc"}
        roots = BY_ID[id].roots
        assert set(roots.only_with if id == "deno" else roots.kept_out_by) == deno


@pytest.mark.parametrize("id", sorted(LINTERS - {"ruff"}))
def test_a_linter_of_the_web_wants_a_project_that_is_set_up_for_it(id):
    assert BY_ID[id].roots.only_with
    assert BY_ID[id].roots.only_with == BY_ID[id].roots.markers


def test_the_first_server_of_every_file_is_no_linter_where_there_is_another():
    for name in {name for one in BUILT_IN for name in one.languages}:
        roles = [one.role for one in BUILT_IN if one.language_of(name.replace("*", "x"))]
        assert roles == sorted(roles, reverse=True), name


@pytest.mark.parametrize(
    ("name", "id", "language"),
    [
        ("a.py", "ty", "python"),
        ("a.pyi", "ruff", "python"),
        ("a.ts", "typescript", "typescript"),
        ("a.tsx", "typescript", "typescriptreact"),
        ("a.mts", "vtsls", "typescript"),
        ("a.cts", "typescript-7", "typescript"),
        ("a.js", "deno", "javascript"),
        ("a.jsx", "eslint", "javascriptreact"),
        ("a.mjs", "biome", "javascript"),
        ("a.cjs", "oxlint", "javascript"),
        ("a.d.ts", "typescript", "typescript"),
        ("go.mod", "gopls", "go.mod"),
        ("a.c", "clangd", "c"),
        ("a.H", "clangd", "cpp"),
        ("a.mm", "clangd", "objective-cpp"),
        ("a.rs", "rust-analyzer", "rust"),
        (".bashrc", "bash", "shellscript"),
        ("PKGBUILD", "bash", "shellscript"),
        ("Dockerfile", "dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile", "dockerfile"),
        ("web.dockerfile", "dockerfile", "dockerfile"),
        ("a.json", "json", "json"),
        ("tsconfig.json", "json", "jsonc"),
        ("tsconfig.build.json", "json", "jsonc"),
        ("a.scss", "css", "scss"),
        ("Gemfile", "ruby-lsp", "ruby"),
        ("a.html.erb", "ruby-lsp", "erb"),
        ("a.mli", "ocaml-lsp", "ocaml.interface"),
        ("dune", "ocaml-lsp", "dune"),
        ("a.heex", "elixir-ls", "phoenix-heex"),
        ("a.tfvars", "terraform-ls", "terraform-vars"),
        ("a.bib", "texlab", "bibtex"),
        ("a.lhs", "hls", "literate haskell"),
        ("Makefile", "bash", None),
        ("Dockerfiles", "dockerfile", None),
        ("a.rb", "solargraph", "ruby"),
        ("a.erb", "solargraph", None),
    ],
)
def test_each_file_has_its_language(name, id, language):
    assert BY_ID[id].language_of(name) == language


def test_what_was_tested_is_what_is_installed_for_the_tests():
    """A new pin asks for a new look at the definition."""
    pins = load("server_pins")
    node = pins["NODE_PACKAGES"]
    # Of the two compilers only the newer one is a server itself.
    pinned = {**pins["PYTHON_PACKAGES"], **node["node"], **node["node-typescript-7"]}
    for program in pins["PROGRAMS"]:
        version = pinned.get(program.package or program.name)
        if program.server is not None and version is not None:
            assert BY_ID[program.server].verified in (version, "documentation"), program.server


# The form of the rows


def rows() -> dict[str, list[str]]:
    """The lines of source of each row, without comments."""
    found = {}
    for file in (ROOT / "lspkit" / "servers" / "catalog").glob("*.py"):
        source = file.read_text(encoding="utf-8")
        lines = source.splitlines()
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Definition":
                [id] = [one.value for one in call.keywords if one.arg == "id"]
                written = lines[call.lineno - 1 : call.end_lineno]
                code = [line for line in written if not line.lstrip().startswith("#")]
                found[ast.literal_eval(id)] = code
    return found


def is_ordinary(one: Definition) -> bool:
    """Whether nothing is said about a server but its names, its program and its markers."""
    plain = Definition(
        id=one.id,
        family=one.family,
        languages=one.languages,
        aliases=one.aliases,
        roots=Roots(markers=one.roots.markers),
        launch=Launch(commands=one.launch.commands),
        install=one.install,
        quirks=one.quirks,
        verified=one.verified,
    )
    return one == plain


def test_the_row_of_an_ordinary_server_has_less_than_ten_lines():
    lengths = {id: len(lines) for id, lines in rows().items() if is_ordinary(BY_ID[id])}
    assert len(lengths) >= 9
    assert {id: length for id, length in lengths.items() if length >= 10} == {}


PARTS = [
    one
    for one in vars(definition_parts).values()
    if isinstance(one, type) and issubclass(one, msgspec.Struct) and one is not Signal
]


@pytest.mark.parametrize("part", PARTS, ids=lambda one: one.__name__)
def test_no_part_of_a_definition_has_many_fields(part: type[msgspec.Struct]):
    assert len(part.__struct_fields__) <= 12


def settings(value: Any) -> Iterator[tuple[str, bool]]:
    """The settings in a definition or a part of one, by name, and whether it sets them."""
    for field in msgspec.structs.fields(value):
        held = getattr(value, field.name)
        usual = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            usual = field.default_factory()
        yield f"{type(value).__name__}.{field.name}", held != usual
        for part in held if isinstance(held, tuple) else (held,):
            if isinstance(part, msgspec.Struct):
                yield from settings(part)


#: What fewer than two servers set, and why it is no code of one server.
SELDOM_SET = {
    "Launch.encodings": "for the user's configuration",
    "ProofRule.untried": "for servers without a definition",
    "Admission.afresh": "one of three things that an admission may mean",
    "Admission.ends": "another of them",
    "Compiler.least": "the counterpart of `below`",
    "Compiler.programs": "what `least` refers to",
    "ConfigFiles.above": "where the files of the table are, as a leading `/` says",
    "ConfigFiles.packages": "what `imports` may name",
    "ProjectQuery.searches_one": "one server of three with such a query",
    "ProofRule.sees": "a rule of one source among several",
    "ProofRule.source": "its name",
    "Readiness.unready_by": "the counterpart of `ready_by`",
    "ProofRule.rests_by": "a kind of push, as `single` is",
    "ProofRule.trusted": "one of two servers with the rule `quiet`",
}


def test_a_setting_is_of_use_to_at_least_two_servers():
    """What only one needs is code of its adapter."""
    users = collections.defaultdict[str, set[str]](set)
    for one in BUILT_IN:
        for name, is_set in settings(one):
            users[name] |= {one.id} if is_set else set()
    assert {name for name, ids in users.items() if len(ids) < 2} == set(SELDOM_SET)


def test_every_adapter_belongs_to_a_server():
    assert set(ADAPTERS) <= set(BY_ID)


def test_the_page_about_the_servers_is_up_to_date():
    page = load("write_server_page")
    committed = page["PAGE"].read_text(encoding="utf-8")
    assert committed == page["page"](), "run: python tools/write_server_page.py"


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / f"{name}.py"))


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("id", ["eslint", "css"])
def test_the_settings_are_enough_for_an_answer_without_an_error(id, tmp_path, monkeypatch):
    """Both fail, or stay silent, when a part of their settings is missing."""
    real_servers.require(id)
    monkeypatch.setenv("PATH", f"{real_servers.PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    TINY[id].write(tmp_path)
    others = {one.id: {"disabled": True} for one in BUILT_IN if one.id != id}
    with lspkit.Workspace(tmp_path, config={"lsp": others, "timing": TIMING}) as ws:
        report = ws.check(TINY[id].main, timeout=60)
    assert [(one.server, one.how, one.reason) for one in report.servers] == [(id, "pull", "")]
    assert report.verdict is lspkit.Verdict.DIRTY
