"""Servers for the Java virtual machine: Java, Kotlin, Clojure."""

from __future__ import annotations

from lspkit.diagnostics.proof_rule import ProofRule
from lspkit.protocol.server_signal import Signal
from lspkit.servers import definition_parts as parts
from lspkit.servers.definition import Definition

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
