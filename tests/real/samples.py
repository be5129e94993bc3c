"""Projects that every operation has something to say about: one per language, two or three files.

All tell the same story: a `Shape` with an `area`, a `Circle` that is one, `measure`, which calls
`double`, and in the main file `report`, which calls `measure` and asks a shape for its area. The
places that tests ask about have wide characters before them on their line. The main file has
mistakes, and one of them is marked, since servers offer to do something about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.real.projects import WIDE, Files, Spot


@dataclass(frozen=True)
class Sample(Files):
    #: The file that is asked about.
    main: str
    #: The file that has the shapes.
    library: str
    #: By what is there: `call` of `measure`, `caller` (`report`), `value` (a circle), `abstract`
    #: (the area of any shape), `arguments` (inside the parentheses of a call), `type` (`Circle`).
    spots: dict[str, Spot]
    #: Begin and end of what servers offer to mend.
    mistake: tuple[Spot, Spot]
    #: A name that the workspace is asked for.
    query: str = field(default="measure", kw_only=True)


def filled(files: dict[str, str]) -> dict[str, str]:
    """The texts, with wide characters where they say so."""
    return {name: text.replace("WIDE", WIDE) for name, text in files.items()}


PYTHON = Sample(
    language="python",
    files=filled(
        {
            "pyproject.toml": "",
            "shapes.py": '''\
"""Shapes. WIDE"""

from abc import ABC, abstractmethod


class Shape(ABC):
    "WIDE"; label = "shape"

    @abstractmethod
    def area(self, unit: str, factor: int = 2) -> int: ...


class Circle(Shape):
    "WIDE"; label = "circle"

    def area(self, unit: str, factor: int = 2) -> int:
        "WIDE"; return measure(len(unit), factor)


class Disc(Circle):
    "WIDE"; label = "disc"


def measure(width: int, height: int = 1) -> int:
    """How much. WIDE"""
    "WIDE"; return double(width) * height


def double(number: int) -> int:
    "WIDE"; return number * 2
''',
            "main.py": """\
from shapes import Circle, Shape, measure


def report(shape: Shape) -> int:
    "WIDE"; first = shape.area("WIDE", 3)
    "WIDE"; return first + measure(first, 4)


note = "WIDE"; circle = Circle(); total = report(circle)
note = "WIDE"; wrong: int = "WIDE"; OrderedDict()
""",
        }
    ),
    main="main.py",
    library="shapes.py",
    spots={
        "call": Spot("main.py", "measure(first"),
        "caller": Spot("main.py", "report(circle"),
        "value": Spot("main.py", "circle = "),
        "abstract": Spot("main.py", "area("),
        "arguments": Spot("main.py", "4)"),
        "type": Spot("main.py", "Circle()"),
    },
    mistake=(Spot("main.py", "OrderedDict()"), Spot("main.py", "()\n")),
)

TYPESCRIPT = Sample(
    language="typescript",
    files=filled(
        {
            "tsconfig.json": """\
{"compilerOptions": {"strict": true, "noEmit": true, "lib": ["es2020"], "types": []}}
""",
            "shapes.ts": """\
/* WIDE */ export interface Shape {
  /* WIDE */ area(unit: string, factor?: number): number;
}

/* WIDE */ export class Circle implements Shape {
  /* WIDE */ area(unit: string, factor = 2): number {
    /* WIDE */ return measure(unit.length, factor);
  }
}

/** How much. WIDE */
export function measure(width: number, height = 1): number {
  /* WIDE */ return double(width) * height;
}

/* WIDE */ function double(number: number): number { return number * 2; }
""",
            "main.ts": """\
import { Circle, Shape, measure } from "./shapes";

/* WIDE */ export function report(shape: Shape): number {
  const note = "WIDE", first = shape.area("WIDE", 3);
  /* WIDE */ return first + measure(first, 4);
}

export const label = "WIDE", circle = new Circle(), total = report(circle);
/* WIDE */ export class Square implements Shape {}
""",
        }
    ),
    main="main.ts",
    library="shapes.ts",
    spots={
        "call": Spot("main.ts", "measure(first"),
        "caller": Spot("main.ts", "report(shape"),
        "value": Spot("main.ts", "circle = "),
        "abstract": Spot("main.ts", "area("),
        "arguments": Spot("main.ts", "4)"),
        "type": Spot("main.ts", "Circle()"),
    },
    mistake=(Spot("main.ts", "Square"), Spot("main.ts", " implements Shape {}")),
)

CPP = Sample(
    language="cpp",
    files=filled(
        {
            "compile_flags.txt": "-xc++\n-std=c++17\n",
            "shapes.h": """\
#pragma once

/* WIDE */ struct Shape {
  /* WIDE */ virtual int area(const char *unit, int factor) = 0;
};

/* WIDE */ struct Circle : Shape {
  /* WIDE */ int area(const char *unit, int factor) override;
};

/* WIDE */ struct Disc : Circle {};

/** How much. WIDE */
int measure(int width, int height);
""",
            "shapes.cpp": """\
#include "shapes.h"

/* WIDE */ static int twice(int number) { return number * 2; }

/* WIDE */ int measure(int width, int height) { return twice(width) * height; }

/* WIDE */ int Circle::area(const char *unit, int factor) { return measure(unit[0], factor); }
""",
            "main.cpp": """\
#include "shapes.h"

/* WIDE */ int report(Shape &shape) {
  const char *note = "WIDE"; int first = shape.area("WIDE", 3);
  /* WIDE */ return first + measure(first, 4);
}

/* WIDE */ Circle circle; int total = report(circle);
/* WIDE */ int wrong = mesure(1, 2);
""",
        }
    ),
    main="main.cpp",
    library="shapes.cpp",
    spots={
        "call": Spot("main.cpp", "measure(first"),
        "caller": Spot("main.cpp", "report(Shape"),
        "value": Spot("main.cpp", "circle; "),
        "abstract": Spot("main.cpp", "area("),
        "arguments": Spot("main.cpp", "4)"),
        "type": Spot("main.cpp", "Circle circle"),
    },
    mistake=(Spot("main.cpp", "mesure"), Spot("main.cpp", "(1, 2)")),
    # Whether the index is complete, and so what references it knows, is a matter of time otherwise.
    arguments=("--background-index=0",),
)
