"""Small projects, one per language, with wide characters before the names that tests ask about.

Each has a file `main`, which is asked about, a file `near`, which is asked about and also named by
`main`, and a file `far`, which no test ever opens: places in it can only be told by reading it.
`main` and `near` have errors, since not every server speaks of a file without. The characters: an
emoji and a letter outside of the basic plane, which UTF-16 writes as pairs, and an `e` with a
combining accent, which people see as one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

#: 4 characters, 6 units of UTF-16, 11 bytes of UTF-8: no two encodings agree on what follows.
WIDE = "😀𝒳e\N{COMBINING ACUTE ACCENT}"


@dataclass(frozen=True)
class Spot:
    """The place in a file where a snippet first stands."""

    file: str
    snippet: str


@dataclass(frozen=True)
class Files:
    """The texts of a project, and where things are in them."""

    language: str
    files: dict[str, str]
    #: Extra words for the command of the server.
    arguments: tuple[str, ...] = field(default=(), kw_only=True)

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def place(self, spot: Spot) -> tuple[int, int]:
        """Line and column of a spot, counted from 1, in characters."""
        before, found, _ = self.files[spot.file].partition(spot.snippet)
        assert found, spot
        lines = before.split("\n")
        return len(lines), len(lines[-1]) + 1

    def line_before(self, spot: Spot) -> str:
        """What stands before a spot on its line."""
        return self.files[spot.file].partition(spot.snippet)[0].rpartition("\n")[2]


@dataclass(frozen=True)
class Project(Files):
    main: str
    near: str
    far: str
    #: In `main`: a name that `far` defines.
    far_use: Spot
    #: In `main`: a name that `near` defines.
    near_use: Spot
    #: In `near`: the method `Circle.area`, where it is defined.
    method: Spot


PYTHON = Project(
    language="python",
    files={
        "far.py": f'''\
"""Nobody opens this file. {WIDE}"""

mark = "{WIDE}"; distance = 41


class Far:
    label = "{WIDE}"; size = 3
''',
        "near.py": f'''\
"{WIDE}"; from far import distance


class Circle:
    tag = "{WIDE}"; size = 3

    def area(self, unit: str = "{WIDE}", factor: int = 2) -> int:
        "{WIDE}"; return self.size * factor + distance


note = "{WIDE}"; doubled = distance * 2; wrong: str = doubled
''',
        "main.py": f'''\
from far import Far, distance
from near import Circle

message = "{WIDE}"; answer = distance + Circle().area()
kept = ("{WIDE}", Far.size)
text = "{WIDE}"; broken: int = "{WIDE}"; worse: str = distance; missing
''',
    },
    main="main.py",
    near="near.py",
    far="far.py",
    far_use=Spot("main.py", "distance + "),
    near_use=Spot("main.py", "area()"),
    method=Spot("near.py", "area(self"),
)

TYPESCRIPT = Project(
    language="typescript",
    files={
        "tsconfig.json": """\
{"compilerOptions": {"strict": true, "noEmit": true, "lib": ["es2020"], "types": []}}
""",
        "far.ts": f"""\
/* {WIDE} */ export const distance: number = 41;
/* {WIDE} */ export class Far {{ /* {WIDE} */ size = 3; }}
""",
        "near.ts": f"""\
import {{ /* {WIDE} */ distance }} from "./far";

/* {WIDE} */ export class Circle {{
  /* {WIDE} */ size = 3;
  /* {WIDE} */ area(unit = "{WIDE}", factor = 2): number {{
    /* {WIDE} */ return unit.length + this.size * factor + distance;
  }}
}}

const note = "{WIDE}", doubled = distance * 2, wrong: string = doubled;
export const more = [note, wrong];
""",
        "main.ts": f"""\
import {{ Far, distance }} from "./far";
import {{ Circle }} from "./near";

export const message = "{WIDE}", answer = distance + new Circle().area();
export const kept = ["{WIDE}", new Far().size];
export const text = "{WIDE}", broken: number = "{WIDE}", worse: string = distance;
""",
    },
    main="main.ts",
    near="near.ts",
    far="far.ts",
    far_use=Spot("main.ts", "distance + "),
    near_use=Spot("main.ts", "area()"),
    method=Spot("near.ts", "area(unit"),
)

CPP = Project(
    language="cpp",
    files={
        "compile_flags.txt": "-xc++\n-std=c++17\n",
        "far.h": f"""\
#pragma once
/* {WIDE} */ inline int distance(int times) {{ return 41 * times; }}
/* {WIDE} */ struct Far {{ /* {WIDE} */ int size = 3; }};
""",
        "near.h": f"""\
#pragma once
#include "far.h"

/* {WIDE} */ class Circle {{
  /* {WIDE} */ int size = 3;

public:
  /* {WIDE} */ int area(const char *unit = "{WIDE}", int factor = 2) {{
    /* {WIDE} */ return unit[0] + size * factor + distance(1);
  }}
}};

/* {WIDE} */ inline const char *wrong = distance(2);
""",
        "main.cpp": f"""\
#include "far.h"
#include "near.h"

const char *message = "{WIDE}"; int answer = distance(1) + Circle().area();
/* {WIDE} */ int kept = Far().size;
const char *text = "{WIDE}"; int broken = "{WIDE}"; const char *worse = distance(3);
""",
    },
    main="main.cpp",
    near="near.h",
    far="far.h",
    far_use=Spot("main.cpp", "distance(1)"),
    near_use=Spot("main.cpp", "area()"),
    method=Spot("near.h", "area(const"),
    # Whether the index is complete, and so what references it knows, is a matter of time otherwise.
    arguments=("--background-index=0",),
)

#: By server.
PROJECTS = {
    "pyright": PYTHON,
    "basedpyright": PYTHON,
    "ty": PYTHON,
    "typescript": TYPESCRIPT,
    "clangd": CPP,
}

#: What each server offers to count in.
ENCODINGS = {
    "pyright": ("utf-16",),
    "basedpyright": ("utf-16",),
    "ty": ("utf-8", "utf-16", "utf-32"),
    "typescript": ("utf-16",),
    "clangd": ("utf-8", "utf-16", "utf-32"),
}

#: Servers that give diagnostics when they are asked; the others send them on their own.
PULLING = ("pyright", "basedpyright", "ty")
#: Those that are asked for all references and for declarations by lspkit, where these are unwanted.
CONFUSED = ("pyright", "basedpyright", "ty")
