"""What lspkit knows about a language server. A definition is data: adding one is adding a row."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping
from typing import Literal

import msgspec

from lspkit.diagnostics.proof_rule import OFFERED, ProofRule
from lspkit.protocol.capabilities import DocumentKey
from lspkit.protocol.uris import uri_to_path
from lspkit.servers import definition_parts as parts

#: `types`: of several for one language the first one found runs. `lint`: runs beside it.
Role = Literal["types", "lint"]

#: How the commands of package managers begin, where that is not `<manager> install`.
INSTALLERS = {
    "apt": "apt-get install ",
    "dotnet": "dotnet tool install --global ",
    "nix": "nix profile install nixpkgs#",
    "npm": "npm install -g ",
    "pacman": "pacman -S ",
    "rokit": "rokit add --global ",
    "rustup": "rustup component add ",
    "uv": "uv tool install ",
    "xcode": "xcode-select ",
}

#: The `languageId` of a file of none of a server's languages, as editors call it.
UNKNOWN_LANGUAGE = "plaintext"


def command_lines(install: Mapping[str, str]) -> dict[str, str]:
    """Package manager: the command that installs what it has to install."""
    begin = {manager: INSTALLERS.get(manager, f"{manager} install ") for manager in install}
    return {manager: begin[manager] + package for manager, package in install.items()}


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """One language server: who it is, and one part for each subject."""

    #: The usual name of the server.
    id: str
    #: Servers of one family and role `types` are alternatives: one of them runs. The first built-in
    #: server of a family also has the name of the family.
    family: str
    role: Role = "types"
    #: File extension with its dot, file name, or its first part (`Dockerfile.*`): `languageId`.
    languages: dict[str, str]
    #: Other names.
    aliases: tuple[str, ...] = ()
    #: The methods that it answers, besides those for diagnostics. Empty: not known before it runs.
    answers_only: tuple[str, ...] = ()
    #: Whether its references without declarations are wrong. Then all references and the
    #: declarations are requested, and the latter are removed.
    confuses_declarations: bool = False
    roots: parts.Roots = parts.Roots()
    #: How a project says that it uses this server, or which version of a compiler it has.
    signs: parts.ProjectSigns | None = None
    compiler: parts.Compiler | None = None
    launch: parts.Launch = parts.Launch()
    trust: parts.TrustProfile = parts.TrustProfile()
    readiness: parts.Readiness = parts.Readiness()
    #: For a server that loads a project only for one of its documents.
    project: parts.ProjectQuery | None = None
    documents: parts.DocumentSync = parts.DocumentSync()
    #: How it is proven that findings are of the current text: one rule for each source of findings.
    proofs: tuple[ProofRule, ...] = (OFFERED,)
    disk: parts.DiskReactions = parts.DiskReactions()
    caveats: parts.Caveats = parts.Caveats()
    #: Package manager: what it has to install.
    install: dict[str, str] = {}
    #: What a user or a reader of this table should know about it.
    quirks: tuple[str, ...] = ()
    #: The version with which it was tested, or `documentation`.
    verified: str = "documentation"

    @property
    def compares_files(self) -> bool:
        """Whether what it finds in a file may depend on another one."""
        return any(not rule.alone for rule in self.proofs)

    @property
    def install_commands(self) -> dict[str, str]:
        """Package manager: the command that installs the server."""
        return command_lines(self.install)

    def with_launch(self, **changes: object) -> Definition:
        """The same definition with other values in `launch`."""
        return msgspec.structs.replace(self, launch=msgspec.structs.replace(self.launch, **changes))

    def is_marker(self, name: str) -> bool:
        """Whether a file of this name marks the root of a project."""
        return any(fnmatch.fnmatchcase(name, marker) for marker in self.roots.markers)

    def key_of(self, uri: str) -> DocumentKey:
        """A document as this server is told of it, and as its selectors see it."""
        language = self.language_of(os.path.basename(uri_to_path(uri) or uri))
        return DocumentKey(uri, language or UNKNOWN_LANGUAGE)

    def language_of(self, name: str) -> str | None:
        """The `languageId` of a file by its name, None if this server does not know it."""
        known = self.languages.get(name) or self.languages.get(name.partition(".")[0] + ".*")
        if known is not None:
            return known
        stem, dot, extension = name.rpartition(".")
        return self.languages.get("." + extension.lower()) if dot and stem else None
