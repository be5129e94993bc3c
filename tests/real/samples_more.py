"""The same story as in `samples.py`, in Go, Rust, Java and Bash, and who is asked about which."""

from __future__ import annotations

from tests.real.projects import Spot
from tests.real.samples import CPP, PYTHON, TYPESCRIPT, Sample, filled

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
