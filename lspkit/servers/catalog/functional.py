"""Servers for functional languages: Haskell, OCaml, Gleam."""

from __future__ import annotations

from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Launch, Readiness, Roots

FUNCTIONAL: tuple[Definition, ...] = (
    Definition(
        id="hls",
        family="haskell",
        languages={
            ".hs": "haskell",
            ".hs-boot": "haskell",
            ".hsc": "haskell",
            ".lhs": "literate haskell",
            ".cabal": "cabal",
        },
        aliases=("haskell-language-server",),
        roots=Roots(
            markers=("*.cabal", "package.yaml", "cabal.project", "stack.yaml", "hie.yaml"),
            # Each package of a project has a *.cabal file; these mark the project.
            outermost=("cabal.project", "stack.yaml", "hie.yaml"),
        ),
        launch=Launch(
            commands=(
                ("haskell-language-server-wrapper", "--lsp"),
                ("haskell-language-server", "--lsp"),
            ),
            initialize_timeout_ms=60_000,
        ),
        readiness=Readiness(load_begins_within=3.0),
        install={"ghcup": "hls", "brew": "haskell-language-server"},
        quirks=(
            "Has to be built for the project's version of GHC; the wrapper finds the right one.",
            "Builds what the project depends on before its first answer.",
        ),
    ),
    Definition(
        id="ocaml-lsp",
        family="ocaml",
        languages={
            ".ml": "ocaml",
            ".mli": "ocaml.interface",
            ".mll": "ocaml.ocamllex",
            ".mly": "ocaml.menhir",
            ".re": "reason",
            ".rei": "reason",
            "dune": "dune",
            "dune-project": "dune",
            "dune-workspace": "dune",
        },
        aliases=("ocamllsp",),
        roots=Roots(
            markers=("dune-project", "dune-workspace", "*.opam", "esy.json"),
            # As dune finds its root.
            outermost=("dune-workspace", "dune-project"),
        ),
        launch=Launch(commands=(("ocamllsp",),)),
        install={"opam": "ocaml-lsp-server"},
        quirks=(
            "Knows other modules only from a build: `dune build --watch` keeps it up to date.",
            "Has to be of the same switch as the project.",
        ),
    ),
    Definition(
        id="gleam",
        family="gleam",
        languages={".gleam": "gleam"},
        roots=Roots(markers=("gleam.toml",)),
        launch=Launch(commands=(("gleam", "lsp"),)),
        install={"brew": "gleam", "scoop": "gleam"},
        quirks=("Comes with the compiler.", "Does nothing outside of a project."),
    ),
)
