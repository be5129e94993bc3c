"""Servers for data, documents and descriptions of machines."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.servers import definition_parts as parts
from lspkit.servers.definition import Definition

#: No proxy listens there: only an administrator can open this port.
NO_PROXY = "http://127.0.0.1:1"

_YAML = (".yaml", ".yml", ".clang-format", ".clang-tidy", ".clangd", ".yamllint", "pixi.lock")
_DOCKER = (
    *("Dockerfile", "Containerfile", "Dockerfile.*", "Containerfile.*"),
    *(".dockerfile", ".containerfile"),
)
_TERRAFORM = (".terraform", ".terraform.lock.hcl", ".terraform-version", "terragrunt.hcl")
_TERRAFORM_LS = "github.com/hashicorp/terraform-ls@latest"
_TOML = (".toml", "Pipfile", "Cargo.lock", "poetry.lock")

DOCUMENTS: tuple[Definition, ...] = (
    Definition(
        id="yaml",
        family="yaml",
        languages=dict.fromkeys(_YAML, "yaml"),
        aliases=("yaml-language-server", "yaml-ls", "yamlls"),
        launch=parts.Launch(
            # No schemas from the network, unless the user configures it.
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
        # A file may name any URL as its schema, and no option prevents the download.
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(
                settings={"http": {"proxy": NO_PROXY}},
                environment=dict.fromkeys(
                    ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NO_PROXY
                ),
            )
        ),
        # It checks a text 200 ms after the last change.
        proofs=(ProofRule(how="quiet", debounce=0.3, trusted=True),),
        # It reads a schema again only after a notification.
        disk=parts.DiskReactions(told_of=("**",)),
        # Without the schema, it does not know whether a file is right.
        caveats=parts.Caveats(disclaimers=("Unable to load schema from",)),
        install={"npm": "yaml-language-server", "brew": "yaml-language-server"},
        quirks=(
            "Publishes without a version.",
            "Downloads the schema that a file names, if the project is trusted.",
        ),
        verified="1.25.0",
    ),
    Definition(
        id="terraform-ls",
        family="terraform",
        languages={".tf": "terraform", ".tfvars": "terraform-vars"},
        roots=parts.Roots(markers=_TERRAFORM),
        launch=parts.Launch(commands=(("terraform-ls", "serve"),)),
        install={"brew": "hashicorp/tap/terraform-ls", "go": _TERRAFORM_LS},
        quirks=("Takes settings only at `initialize`.", "Knows providers after `terraform init`."),
    ),
    Definition(
        id="dockerfile",
        family="dockerfile",
        languages=dict.fromkeys(_DOCKER, "dockerfile"),
        aliases=("docker", "docker-langserver"),
        launch=parts.Launch(commands=(("docker-langserver", "--stdio"),)),
        trust=parts.HARMLESS,
        # It publishes before it answers the next request, and not at all for an unchanged text.
        proofs=(ProofRule(how="ordered", ask="textDocument/documentSymbol", alone=True),),
        disk=parts.DiskReactions(reads=()),
        install={"npm": "dockerfile-language-server-nodejs"},
        quirks=("Publishes without a version.", "Symbols come as a flat list."),
        verified="0.15.0",
    ),
    Definition(
        id="taplo",
        family="toml",
        languages=dict.fromkeys(_TOML, "toml"),
        roots=parts.Roots(markers=("taplo.toml", ".taplo.toml")),
        launch=parts.Launch(commands=(("taplo", "lsp", "stdio"),)),
        install={"cargo": "--features lsp --locked taplo-cli", "brew": "taplo"},
        quirks=("The programs of npm and pip come without the server.",),
    ),
    Definition(
        id="tombi",
        family="toml",
        languages=dict.fromkeys(_TOML, "toml"),
        roots=parts.Roots(markers=("tombi.toml", ".tombi.toml")),
        launch=parts.Launch(commands=(("tombi", "lsp"),)),
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(environment={"TOMBI_OFFLINE": "true"})
        ),
        # Its answer may be about files as they were before a change on disk.
        caveats=parts.Caveats(workspace_pull=False),
        install={"pip": "tombi", "uv": "tombi", "npm": "tombi", "brew": "tombi"},
        quirks=("Wants the whole text with every change.",),
        verified="1.9.6",
    ),
    Definition(
        id="marksman",
        family="markdown",
        languages={".md": "markdown", ".markdown": "markdown", ".mdown": "markdown"},
        roots=parts.Roots(markers=(".marksman.toml",)),
        launch=parts.Launch(commands=(("marksman", "server"),)),
        install={"brew": "marksman", "snap": "marksman", "scoop": "marksman"},
        quirks=("Links between files need a project: a repository or a `.marksman.toml`.",),
    ),
    Definition(
        id="texlab",
        family="latex",
        languages={
            **dict.fromkeys((".tex", ".ltx", ".sty", ".cls", ".dtx"), "latex"),
            ".bib": "bibtex",
        },
        roots=parts.Roots(
            markers=(".texlabroot", "texlabroot", ".latexmkrc", "latexmkrc", "Tectonic.toml")
        ),
        launch=parts.Launch(
            commands=(("texlab",),),
            settings={"texlab": {"build": {"onSave": False}, "chktex": {"onOpenAndSave": False}}},
        ),
        install={"brew": "texlab", "nix": "texlab", "scoop": "texlab"},
        quirks=("Mistakes that only TeX finds need a build; it reads the log of the last one.",),
    ),
    Definition(
        id="nixd",
        family="nix",
        languages={".nix": "nix"},
        roots=parts.Roots(markers=("flake.nix", "shell.nix", "default.nix")),
        launch=parts.Launch(commands=(("nixd",),)),
        install={"nix": "nixd"},
        quirks=("Evaluates Nix code for what it completes.",),
    ),
    Definition(
        id="tinymist",
        family="typst",
        languages={".typ": "typst", ".typc": "typst-code"},
        roots=parts.Roots(markers=("typst.toml",)),
        launch=parts.Launch(commands=(("tinymist", "lsp"),)),
        install={"brew": "tinymist", "nix": "tinymist"},
    ),
)
