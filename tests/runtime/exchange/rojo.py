"""A stand-in for Rojo, run as a program: keeps a source map of the files below `src`.

    rojo.py sourcemap PROJECT --watch -o FILE

As the real one it writes the map once, and then whenever a file comes or goes; after that it says
the modules to whoever listens at the named pipe $EAR. It looks every 20 ms, needs no installed
package, and ends with status 1 if there is no such project.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def source_map(name: str) -> dict[str, Any]:
    files = sorted(str(path) for path in Path("src").rglob("*.luau"))
    children = [
        {"name": Path(path).stem, "className": "ModuleScript", "filePaths": [path]}
        for path in files
    ]
    return {"name": name, "className": "DataModel", "children": children}


def main(arguments: list[str]) -> int:
    command, project, watch, option, target = arguments
    if (command, watch, option) != ("sourcemap", "--watch", "-o"):
        print(f"rojo: cannot read {arguments}", file=sys.stderr)
        return 2
    try:
        name = json.loads(Path(project).read_text(encoding="utf-8"))["name"]
    except OSError as problem:
        print(f"rojo: {problem}", file=sys.stderr)
        return 1
    ear = os.open(os.environ["EAR"], os.O_WRONLY) if "EAR" in os.environ else None
    last: dict[str, Any] = {}
    while True:
        now = source_map(name)
        if now != last:
            Path(target + ".new").write_text(json.dumps(now), encoding="utf-8")
            os.replace(target + ".new", target)
            print(f"Created sourcemap at {target}", file=sys.stderr, flush=True)
            last = now
            if ear is not None:
                os.write(ear, " ".join(child["name"] for child in now["children"]).encode() + b"\n")
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
