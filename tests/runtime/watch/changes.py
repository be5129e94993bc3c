"""What other processes do to files, and what a watcher has to say about it.

They start from `src/a.py`, `src/b.py` and `src/deep/c.py`.
"""

from __future__ import annotations

#: What another process does, and what is to be heard of it in one go.
CHANGES: dict[str, tuple[str, list[str]]] = {
    "a new file": ("echo x > src/new.py", ["+ src/new.py"]),
    "an empty new file": (": > src/new.py", ["+ src/new.py"]),
    "a new file next to the folders": ("echo x > new.py", ["+ new.py"]),
    "another content": ("echo longer > src/a.py", ["~ src/a.py"]),
    "content of the same size": ("printf 'z\\n' > src/a.py", ["~ src/a.py"]),
    "more content": ("echo more >> src/a.py", ["~ src/a.py"]),
    "many writes": ("for n in 1 2 3 4 5; do echo $n >> src/a.py; done", ["~ src/a.py"]),
    "a time that was set": ("touch -d 2001-01-01 src/a.py", ["~ src/a.py"]),
    "a file that is gone": ("rm src/a.py", ["- src/a.py"]),
    "a renamed file": ("mv src/a.py src/z.py", ["- src/a.py", "+ src/z.py"]),
    "a file in another folder": ("mv src/a.py src/deep/", ["- src/a.py", "+ src/deep/a.py"]),
    "a file over another": ("mv src/a.py src/b.py", ["- src/a.py", "~ src/b.py"]),
    "a file replaced by way of a draft": (
        "echo x > src/.a.py.draft; mv src/.a.py.draft src/a.py",
        ["~ src/a.py"],
    ),
    "a file removed and written again": ("rm src/a.py; echo longer > src/a.py", ["± src/a.py"]),
    "a file that came and went": ("echo x > src/new.py; rm src/new.py", []),
    "other permissions": ("chmod 600 src/a.py", []),
    "folders with a file at once": (
        "mkdir -p x/y/z; echo x > x/y/z/new.py",
        ["+ x/y/z/new.py"],
    ),
    "an empty folder": ("mkdir x", []),
    "a renamed folder": (
        "mv src/deep src/other",
        ["- src/deep/c.py", "+ src/other/c.py"],
    ),
    "a renamed folder with folders": (
        "mv src lib",
        [
            *("+ lib/a.py", "+ lib/b.py", "+ lib/deep/c.py"),
            *("- src/a.py", "- src/b.py", "- src/deep/c.py"),
        ],
    ),
    "a folder moved in": (
        "mkdir -p ../else/x; echo x > ../else/x/new.py; mv ../else lib",
        ["+ lib/x/new.py"],
    ),
    "a folder moved out": ("mv src/deep ..", ["- src/deep/c.py"]),
    "a folder that is gone": ("rm -r src", ["- src/a.py", "- src/b.py", "- src/deep/c.py"]),
    "a folder in the place of another": (
        "mkdir other; echo x > other/new.py; mv src ../away; mv other src",
        ["- src/a.py", "- src/b.py", "- src/deep/c.py", "+ src/new.py"],
    ),
    "folders that changed places": (
        "mv src/deep x; mkdir src/deep; echo x > src/deep/new.py",
        ["- src/deep/c.py", "+ src/deep/new.py", "+ x/c.py"],
    ),
    "a folder in the place of a file": (
        "rm src/a.py; mkdir src/a.py; echo x > src/a.py/new.py",
        ["- src/a.py", "+ src/a.py/new.py"],
    ),
    "a file in the place of a folder": (
        "rm -r src/deep; echo x > src/deep",
        ["+ src/deep", "- src/deep/c.py"],
    ),
    "a link to a file": ("ln -s a.py src/link.py", ["+ src/link.py"]),
    "a link that leads nowhere": ("ln -s nowhere.py src/link.py", ["+ src/link.py"]),
    "a link to a folder": ("ln -s deep src/link", ["+ src/link/c.py"]),
    "a link to the folder that it is in": (
        "ln -s . src/link",
        ["+ src/link/a.py", "+ src/link/b.py", "+ src/link/deep/c.py"],
    ),
    "a link in the place of a folder": (
        "mv src/deep ../away; ln -s ../../away src/deep",
        ["± src/deep/c.py"],
    ),
    "a pipe": ("mkfifo src/pipe", []),
    "a hard link": ("ln src/a.py src/same.py", ["+ src/same.py"]),
    "strange names": (
        "echo x > 'src/ä ö\n#.py'; mkdir 'src/[x]'; echo x > 'src/[x]/*.py'",
        ["+ src/[x]/*.py", "+ src/ä ö\n#.py"],
    ),
    "a name that is no UTF-8": (
        "echo x > \"src/$(printf 'n\\377.py')\"",
        ["+ src/n\udcff.py"],
    ),
    "files in excluded folders": (
        "for n in .git node_modules src/__pycache__ .tox; do mkdir $n; echo x > $n/new.py; done",
        [],
    ),
    "files in folders with a dot": ("mkdir .settings; echo x > .settings/x", ["+ .settings/x"]),
}

#: The thread may look between the two steps of one of them, and find a deletion and a new file.
_TWO_STEPS = ("a file removed and written again", "a link in the place of a folder")
BY_ITSELF = [name for name in CHANGES if name not in _TWO_STEPS]
