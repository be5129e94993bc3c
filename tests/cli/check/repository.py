"""Git repositories for tests, also with trees that git itself would refuse."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

#: The bytes of a blob, the entries of a tree, or the name of an object that is stored already.
Content = bytes | str | list["Entry"]
#: Mode, name, and content.
Entry = tuple[str, str, Content]

OLD = 'old: int = "text"\n'


def git(tree: Path, *words: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", *names, *words],
        cwd=tree,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def commit(tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "all")


def add_entry(tree: Path, *entries: Entry) -> None:
    """Commit a tree with these entries, which git itself would refuse to add."""
    made = store_object(tree, list(entries))
    git(tree, "update-ref", "HEAD", git(tree, "commit-tree", "-m", "odd", made).strip())


def store_object(tree: Path, content: Content) -> str:
    """Write an object; returns its name."""
    if isinstance(content, str):
        return content
    kind, data = "blob", content
    if isinstance(content, list):
        kind, data = "tree", b""
        for mode, name, inner in sorted(content, key=lambda one: one[1]):
            data += f"{mode} {name}\0".encode() + bytes.fromhex(store_object(tree, inner))
    words = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    done = subprocess.run(words, cwd=tree, input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()
