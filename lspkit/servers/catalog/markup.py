"""Servers for data, documents and descriptions of machines."""

from __future__ import annotations

from lspkit.diagnostics.proof import ProofRule
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    HARMLESS,
    Caveats,
    DiskReactions,
    Launch,
    Roots,
    TrustProfile,
    UntrustedRun,
)

#: A proxy that is none: only the administrator could have something listen there.
NO_PROXY = "http://127.0.0.1:1"

DOCUMENTS: tuple[Definition, ...] = (
    Definition(
        id="yaml",
        family="yaml",
        languages={
            ".yaml": "yaml",
            ".yml": "yaml",
            ".clang-format": "yaml",
            ".clang-tidy": "yaml",
            ".clangd": "yaml",
            ".yamllint": "yaml",
            "pixi.lock": "yaml",
        },
        aliases=("yaml-language-server", "yaml-ls", "yamlls"),
        launch=Launch(
            # A catalogue of schemas from the network is for those who ask for it.
            settings={
                "yaml": {
                    "validate": True,
                    "schemaStore": {"enable": False},
                    "schemas": {},
                    "format": {"enable": False},
                },
                "redhat": {"telemetry": {"enabled": False}},
            },
            commands=(("yaml-language-server", "--stdio"),),
        ),
        # A file may name any address as that of its schema. It has no option against that.
        trust=TrustProfile(
            untrusted=UntrustedRun(
                settings={"http": {"proxy": NO_PROXY}},
                environment=dict.fromkeys(
                    ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NO_PROXY
                ),
            )
        ),
        # It looks at a text 200 ms after the last change.
        proofs=(ProofRule(how="quiet", debounce=0.3, trusted=True),),
        # It keeps the schemas that it has read, until it is told that they have changed.
        disk=DiskReactions(told_of=("**",)),
        # Without its schema a file may be right or wrong.
        caveats=Caveats(disclaimers=("Unable to load schema from",)),
        install={
            "npm": "npm install -g yaml-language-server",
            "brew": "brew install yaml-language-server",
        },
        quirks=(
            "Publishes without a version.",
            "Downloads the schema that a file names, if the project is trusted.",
        ),
        verified="1.25.0",
    ),
    Definition(
        id="terraform-ls",
        family="terraform",
        languages={
            ".tf": "terraform",
            ".tfvars": "terraform-vars",
        },
        aliases=("terraform",),
        roots=Roots(
            markers=(".terraform", ".terraform.lock.hcl", ".terraform-version", "terragrunt.hcl")
        ),
        launch=Launch(commands=(("terraform-ls", "serve"),)),
        install={
            "brew": "brew install hashicorp/tap/terraform-ls",
            "go": "go install github.com/hashicorp/terraform-ls@latest",
        },
        quirks=(
            "Takes its settings with `initialize` only.",
            "Knows providers only after `terraform init`.",
        ),
    ),
    Definition(
        id="dockerfile",
        family="dockerfile",
        languages={
            "Dockerfile": "dockerfile",
            "Containerfile": "dockerfile",
            "Dockerfile.*": "dockerfile",
            "Containerfile.*": "dockerfile",
            ".dockerfile": "dockerfile",
            ".containerfile": "dockerfile",
        },
        aliases=("docker", "docker-langserver"),
        launch=Launch(commands=(("docker-langserver", "--stdio"),)),
        trust=HARMLESS,
        # It publishes before it answers the next question, and nothing for a text as it was.
        proofs=(ProofRule(how="ordered", ask="textDocument/documentSymbol", alone=True),),
        disk=DiskReactions(reads=()),
        install={"npm": "npm install -g dockerfile-language-server-nodejs"},
        quirks=("Publishes without a version.", "Symbols come as a flat list."),
        verified="0.15.0",
    ),
    Definition(
        id="taplo",
        family="toml",
        languages={".toml": "toml", "Pipfile": "toml", "Cargo.lock": "toml", "poetry.lock": "toml"},
        aliases=("toml",),
        roots=Roots(markers=("taplo.toml", ".taplo.toml")),
        launch=Launch(commands=(("taplo", "lsp", "stdio"),)),
        install={
            "cargo": "cargo install --features lsp --locked taplo-cli",
            "brew": "brew install taplo",
        },
        quirks=("The programs of npm and pip come without the server.",),
    ),
    Definition(
        id="tombi",
        family="toml",
        languages={".toml": "toml", "Pipfile": "toml", "Cargo.lock": "toml", "poetry.lock": "toml"},
        roots=Roots(markers=("tombi.toml", ".tombi.toml")),
        launch=Launch(commands=(("tombi", "lsp"),)),
        trust=TrustProfile(untrusted=UntrustedRun(environment={"TOMBI_OFFLINE": "true"})),
        # Asked at once, it tells what a file that has changed on disk was like before.
        caveats=Caveats(workspace_pull=False),
        install={
            "pip": "pip install tombi",
            "uv": "uv tool install tombi",
            "npm": "npm install -g tombi",
            "brew": "brew install tombi",
        },
        quirks=("Wants the whole text with every change.",),
        verified="1.9.6",
    ),
    Definition(
        id="marksman",
        family="markdown",
        languages={".md": "markdown", ".markdown": "markdown", ".mdown": "markdown"},
        aliases=("markdown",),
        roots=Roots(markers=(".marksman.toml",)),
        launch=Launch(commands=(("marksman", "server"),)),
        install={
            "brew": "brew install marksman",
            "snap": "snap install marksman",
            "scoop": "scoop install marksman",
        },
        quirks=("Links between files need a project: a repository or a `.marksman.toml`.",),
    ),
    Definition(
        id="texlab",
        family="latex",
        languages={
            ".tex": "latex",
            ".ltx": "latex",
            ".sty": "latex",
            ".cls": "latex",
            ".dtx": "latex",
            ".bib": "bibtex",
        },
        aliases=("latex",),
        roots=Roots(
            markers=(
                ".texlabroot",
                "texlabroot",
                ".latexmkrc",
                "latexmkrc",
                "Tectonic.toml",
            )
        ),
        launch=Launch(
            commands=(("texlab",),),
            settings={"texlab": {"build": {"onSave": False}, "chktex": {"onOpenAndSave": False}}},
        ),
        install={
            "brew": "brew install texlab",
            "nix": "nix profile install nixpkgs#texlab",
            "scoop": "scoop install texlab",
        },
        quirks=("Mistakes that only TeX finds need a build; it reads the log of the last one.",),
    ),
    Definition(
        id="nixd",
        family="nix",
        languages={".nix": "nix"},
        aliases=("nix",),
        roots=Roots(markers=("flake.nix", "shell.nix", "default.nix")),
        launch=Launch(commands=(("nixd",),)),
        install={"nix": "nix profile install nixpkgs#nixd"},
        quirks=("Evaluates Nix code for what it completes.",),
    ),
    Definition(
        id="tinymist",
        family="typst",
        languages={".typ": "typst", ".typc": "typst-code"},
        aliases=("typst",),
        roots=Roots(markers=("typst.toml",)),
        launch=Launch(commands=(("tinymist", "lsp"),)),
        install={"brew": "brew install tinymist", "nix": "nix profile install nixpkgs#tinymist"},
    ),
)
