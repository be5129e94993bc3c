"""The packages that are checked: code that nobody here wrote, and lspkit's own.

Where their sources come from is pinned in `tools/server_pins.py`; `make servers` fetches them, and
a test works on a copy. Each language brings the configuration that both sides read, the compiler's
server and the compiler itself, and what it takes to break a file of it (`agreeing.py`).
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import real_servers
from tests.real.same.command_line import Said

CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Language:
    suffixes: tuple[str, ...]
    #: Name and text of what configures the compiler, and with it its server. FOLDER and NAME are
    #: where the virtual environment is, SAMPLE are the files that are to be checked.
    configuration: dict[str, str]
    #: Where a line may be put in: before a line that begins so.
    top_level: str
    #: A definition that another file may use: what stands before its name.
    definition: str
    #: Lines that are wrong; `{n}` makes their names differ.
    faults: tuple[str, ...]


PYTHON = Language(
    suffixes=(".py", ".pyi"),
    configuration={
        "pyrightconfig.json": '{"venvPath": "FOLDER", "venv": "NAME", "include": SAMPLE}\n'
    },
    top_level=r"(?:def|class) ",
    definition=r"^(?:def|class) ",
    faults=(
        "undefined_{n}",
        'wrong_{n}: int = "text"',
        "import missing_{n}",
        "from os import missing_{n}",
        "len(1, {n})",
        "def unfinished_{n}(:",
    ),
)

TYPESCRIPT = Language(
    suffixes=(".ts",),
    # Stricter than the authors were, so that there is something to find in their code.
    configuration={
        "tsconfig.json": json.dumps(
            {
                "compilerOptions": {
                    "exactOptionalPropertyTypes": True,
                    "lib": ["esnext", "dom"],
                    "module": "esnext",
                    "moduleResolution": "bundler",
                    "noEmit": True,
                    "noImplicitReturns": True,
                    "noUncheckedIndexedAccess": True,
                    "noUnusedLocals": True,
                    # The libraries of the compiler itself, which nobody asks about here.
                    "skipLibCheck": True,
                    "strict": True,
                    "target": "esnext",
                    "types": [],
                },
                "include": ["**/*.ts"],
            }
        )
    },
    top_level=r"export (?:function|class|const|interface) ",
    definition=r"^export (?:function|class|const|interface) ",
    faults=(
        "undefined{n};",
        'export const wrong{n}: number = "text";',
        'import {{ missing{n} }} from "./missing{n}";',
        "parseInt(1, {n}, 3);",
    ),
)

#: A language of its own, since tsc says nothing else while a file has a fault of this kind.
TYPESCRIPT_SYNTAX = dataclasses.replace(
    TYPESCRIPT,
    faults=(
        "function unfinished{n}( {{",
        "export const = {n};",
        "export class Open{n} {{ one: ; }}",
    ),
)

CPP = Language(
    suffixes=(".cc", ".h"),
    configuration={
        # Where it stops after so many errors, it depends on the rest what those are.
        "compile_flags.txt": "-xc++\n-std=c++17\n-Wall\n-Wextra\n-ferror-limit=0\n"
        "-I.\n-Iinclude\n-DHAVE_CONFIG_H\n",
        # An index is for finding symbols. It costs more than all that is asked for here.
        ".clangd": "Index:\n  Background: Skip\n  StandardLibrary: No\n",
    },
    top_level=r"namespace \w+ \{",
    definition=r"^(?:class|struct) ",
    # No include of a file that is not there: clang ends at it, and clangd goes on.
    faults=(
        "int unknown_{n} = undefined_{n};",
        'int wrong_{n} = "text";',
        "struct unfinished_{n} {{ int one }};",
        'static_assert(sizeof(char) == {n} + 2, "broken");',
    ),
)


@dataclass(frozen=True)
class Package:
    name: str
    language: Language
    #: Folders and files that are copied, by where they go.
    parts: dict[str, Path]
    #: The virtual environment that its imports are looked for in, whatever else the machine has.
    environment: Path = real_servers.SERVERS / "python"
    #: Whether it stays as it is, and with it what needs to be explained.
    pinned: bool = True
    #: The folders and files that are checked, where that is not all of it. The rest is there to be
    #: imported. A checker whose command line takes all files of a folder knows it by SAMPLE.
    sample: tuple[str, ...] = (".",)

    def copy_to(self, folder: Path) -> list[Path]:
        """All its files that are to be checked, in a new folder."""
        for name, source in self.parts.items():
            if not source.exists():
                _missing(self.name)
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / name, ignore=ignored, dirs_exist_ok=True)
            else:
                shutil.copy(source, folder / name)
        place = self.environment
        for name, text in self.language.configuration.items():
            text = text.replace("FOLDER", str(place.parent)).replace("NAME", place.name)
            (folder / name).write_text(text.replace("SAMPLE", json.dumps(self.sample)))
        checked = [folder / part for part in self.sample]
        assert all(part.exists() for part in checked), checked
        found = (path for path in folder.rglob("*") if path.suffix in self.language.suffixes)
        return sorted(path for path in found if any(path.is_relative_to(one) for one in checked))

    def about_sample(self, said: Said) -> Said:
        """What was said about the files that are to be checked. A compiler looks at all files."""
        parts = [Path(part) for part in self.sample]
        found = {
            one
            for one in said.findings
            if any(Path(one.file).is_relative_to(part) for part in parts)
        }
        return dataclasses.replace(said, findings=found)


def _missing(name: str) -> None:
    reason = f"the sources of {name} are not there; `make servers` fetches them"
    if real_servers.servers_are_required():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


_PYTHON_SOURCES = real_servers.SERVERS / "python-sources"
_NODE_SOURCES = real_servers.SERVERS / "node-sources" / "node_modules"
_SNAPPY = _NODE_SOURCES / "leveldown" / "deps" / "snappy"


def _python(name: str) -> Package:
    return Package(name, PYTHON, {name: _PYTHON_SOURCES / name})


DOCUTILS = _python("docutils")
PENDULUM = _python("pendulum")
RETURNS = _python("returns")
RXJS = Package("rxjs", TYPESCRIPT, {"src": _NODE_SOURCES / "rxjs" / "src"})
RXJS_SYNTAX = Package("rxjs-syntax", TYPESCRIPT_SYNTAX, RXJS.parts)
#: With what its build would have written for Linux.
SNAPPY = Package("snappy", CPP, {".": _SNAPPY / "snappy", "include": _SNAPPY / "linux"})
#: With the configuration of the linter.
OWN = Package(
    "lspkit",
    PYTHON,
    {"lspkit": CHECKOUT / "lspkit", "pyproject.toml": CHECKOUT / "pyproject.toml"},
    Path(sys.prefix),
    pinned=False,
)
