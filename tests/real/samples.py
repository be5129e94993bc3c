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


GO = Sample(
    language="go",
    files=filled(
        {
            "go.mod": "module example.com/shapes\n\ngo 1.19\n",
            "shapes.go": """\
package main

/* WIDE */ type Shape interface {
	/* WIDE */ Area(unit string, factor int) int
}

/* WIDE */ type Circle struct{ /* WIDE */ size int }

/* WIDE */ func (circle Circle) Area(unit string, factor int) int {
	/* WIDE */ return measure(len(unit), factor)
}

// How much. WIDE
func measure(width int, height int) int {
	/* WIDE */ return double(width) * height
}

/* WIDE */ func double(number int) int { return number * 2 }
""",
            "main.go": """\
package main

/* WIDE */ func report(shape Shape) int {
	note, first := "WIDE", shape.Area("WIDE", 3)
	/* WIDE */ return len(note) + first + measure(first, 4)
}

func main() {
	/* WIDE */ note, circle := "WIDE", Circle{}; note = note + "WIDE"; report(circle)
	/* WIDE */ fmt.Println("WIDE")
}
""",
        }
    ),
    main="main.go",
    library="shapes.go",
    spots={
        "call": Spot("main.go", "measure(first"),
        "caller": Spot("main.go", "report(shape"),
        "value": Spot("main.go", "circle := "),
        "abstract": Spot("main.go", "Area("),
        "arguments": Spot("main.go", "4)"),
        "type": Spot("main.go", "Circle{}"),
    },
    mistake=(Spot("main.go", "fmt."), Spot("main.go", ".Println")),
)

RUST = Sample(
    language="rust",
    files=filled(
        {
            "Cargo.toml": '[package]\nname = "shapes"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/shapes.rs": """\
/* WIDE */ pub trait Shape {
    /* WIDE */ fn area(&self, unit: &str, factor: i32) -> i32;
}

/* WIDE */ pub struct Circle;

impl Shape for Circle {
    /* WIDE */ fn area(&self, unit: &str, factor: i32) -> i32 {
        /* WIDE */ measure(unit.len() as i32, factor)
    }
}

/// How much. WIDE
pub fn measure(width: i32, height: i32) -> i32 {
    /* WIDE */ double(width) * height
}

/* WIDE */ fn double(number: i32) -> i32 { number * 2 }
""",
            "src/main.rs": """\
mod shapes;

use shapes::{measure, Circle, Shape};

/* WIDE */ fn report(shape: &dyn Shape) -> i32 {
    /* WIDE */ let first = shape.area("WIDE", 3);
    /* WIDE */ first + measure(first, 4)
}

/* WIDE */ struct Square;

/* WIDE */ impl Shape for Square {}

fn main() {
    /* WIDE */ let circle = Circle; report(&circle);
}
""",
        }
    ),
    main="src/main.rs",
    library="src/shapes.rs",
    spots={
        "call": Spot("src/main.rs", "measure(first"),
        "caller": Spot("src/main.rs", "report(shape"),
        "value": Spot("src/main.rs", "circle = "),
        "abstract": Spot("src/main.rs", "area("),
        "arguments": Spot("src/main.rs", "4)"),
        "type": Spot("src/main.rs", "Circle;"),
    },
    mistake=(Spot("src/main.rs", "Shape for Square"), Spot("src/main.rs", " for Square")),
)

JAVA = Sample(
    language="java",
    files=filled(
        {
            "Shape.java": """\
/* WIDE */ interface Shape {
  /* WIDE */ int area(String unit, int factor);
}
""",
            "Circle.java": """\
/* WIDE */ class Circle implements Shape {
  /* WIDE */ public int area(String unit, int factor) {
    /* WIDE */ return measure(unit.length(), factor);
  }

  /** How much. WIDE */
  static int measure(int width, int height) {
    /* WIDE */ return twice(width) * height;
  }

  /* WIDE */ private static int twice(int number) { return number * 2; }
}

/* WIDE */ class Disc extends Circle {}
""",
            "Main.java": """\
/* WIDE */ class Main {
  /* WIDE */ static int report(Shape shape) {
    /* WIDE */ int first = shape.area("WIDE", 3);
    /* WIDE */ return first + Circle.measure(first, 4);
  }

  /* WIDE */ static Circle circle = new Circle(); int total = report(circle);
  /* WIDE */ int wrong = Circle.mesure(1, 2);
}
""",
        }
    ),
    main="Main.java",
    library="Circle.java",
    spots={
        "call": Spot("Main.java", "measure(first"),
        "caller": Spot("Main.java", "report(Shape"),
        "value": Spot("Main.java", "circle = "),
        "abstract": Spot("Main.java", "area("),
        "arguments": Spot("Main.java", "4)"),
        "type": Spot("Main.java", "Circle circle"),
    },
    mistake=(Spot("Main.java", "mesure"), Spot("Main.java", "(1, 2)")),
    query="Circle",  # only types are found
)

BASH = Sample(
    language="shellscript",
    files=filled(
        {
            "shapes.sh": """\
#!/bin/bash
# How much. WIDE
measure() {
  : "WIDE"; double "$1"
}

double() {
  : "WIDE"; echo $(($1 * 2))
}
""",
            "main.sh": """\
#!/bin/bash
source ./shapes.sh

report() {
  : "WIDE"; first=3
  : "WIDE"; measure "$first" 4
}

: "WIDE"; report; : "WIDE"; cd nowhere
""",
        }
    ),
    main="main.sh",
    library="shapes.sh",
    spots={"call": Spot("main.sh", 'measure "'), "caller": Spot("main.sh", "report;")},
    mistake=(Spot("main.sh", "cd nowhere"), Spot("main.sh", " nowhere")),
)

#: By server.
SAMPLES = {
    "pyright": PYTHON,
    "basedpyright": PYTHON,
    "ty": PYTHON,
    "typescript": TYPESCRIPT,
    "typescript-7": TYPESCRIPT,
    "clangd": CPP,
    "gopls": GO,
    "rust-analyzer": RUST,
    "jdtls": JAVA,
    "bash": BASH,
}
