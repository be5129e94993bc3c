"""Runs the races and writes what came of them: python -m tools.write_freshness_page [SERVER…]

With `--form shape` it is the one in which the set of files changes, otherwise the one of edits that
overlap, in both of its forms. Each server is raced by a process of its own, two at a time. The
numbers go to docs/freshness.json, the page docs/freshness.md is made from them. A server that is
not raced now keeps its row from before, with its date. With `--rounds 0` only the page is written.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the race and the list of real servers are not installed

from benchmarks.overlap_floor import STOPS  # noqa: E402
from benchmarks.overlap_projects import COURSES  # noqa: E402
from benchmarks.shape_projects import PROJECTS  # noqa: E402
from tests import real_servers  # noqa: E402

PAGE = ROOT / "docs" / "freshness.md"
DATA = ROOT / "docs" / "freshness.json"
ROUNDS = 200
#: So many servers are raced at the same time.
AT_ONCE = 2
#: Those that take longest to look, which begin, so that none of them runs alone at the end.
SLOW = ("intelephense", "jdtls", "rust-analyzer", "svelte", "bash", "yaml", "clangd", "biome")
#: Seconds after which a race is given up.
LIMIT = 2400.0

HEAD = """\
# Are the verdicts true?

<!-- Written by tools/write_freshness_page.py from docs/freshness.json. Change it there. -->

A verdict is only worth something if it is about the text that was asked about. This page shows how
that was tried on real servers, with edits that come faster than answers.

## The race

In each round a file gets a new text, in order or with one error, in one of three ways: `ws.write`,
a plain write by another process, or `ws.check(path, text=…)`. A verdict is asked for, and the next
round begins without waiting for it: half of them at once, the others after a random pause of up to
a second. Up to six calls are under way at a time, some of them with so little time that they have
to give up. The *pair* form has a second file, open as well, that breaks and mends the first one;
it is written through lspkit, or behind its back and never checked, or given as the text of a single
call, which must not matter to any other.

Afterwards each report is held against the truth. Which text it speaks of is read from a copy of
what the server was sent, by the version that the report names. Whether that text is broken, and on
which line, is known from how it was made, and so is what lay on disk while the call was under way.

## The third form: shape

Here it is not a text that changes, but which files there are. In each round one to three places of
a project change: a module, a package of the same name, a stub, a source folder, an installed
package, a link, the configuration; they come, go and are replaced by others, are written, moved in,
overwritten in place or given the times of those before them, at once or with a moment in between,
mostly by another process, and now and then by lspkit itself. Some checks are under way meanwhile;
one is begun when all is done, and that one is judged: it has to name the same lines as a fresh
process of the server on a fresh folder with the same files.

## What a server does not look at

A fresh empty list is a proof only if the server has looked. Some have a file open, answer questions
about it, and find nothing wrong with it, because they leave out the folder that it lies in. Which
folders a server leaves out by itself is known (`skipped_folders` in its definition): `ty` and
`ruff` do it with `dist`, `venv`, `.tox` and the like, `pyrefly` with `venv` and `node_modules`,
`eslint` and `svelte` with `node_modules`, `gopls` with `testdata` and whatever begins with a dot or
`_`. If such a server finds nothing there, the verdict is `UNKNOWN` and says why; what it does find
counts. That is so also where a project takes a folder in again, as ty's `exclude = ["!**/dist/"]`
does: lspkit does not read how checkers are configured.

Others say so themselves, and are taken at their word: `gopls` of a file that is part of no
package, `rust-analyzer` of one that no `mod` names, `bash-language-server` without `shellcheck`,
without which it finds next to nothing, and `svelte` in a project with too many scripts. `clangd`,
told to compile for a machine that it does not know, finds nothing either, and refuses what it is
asked then. `oxlint` passes over what a `.gitignore` or `.eslintignore` names, and says nothing.

A server of your own configuration that lspkit does not know may answer a pull from a cache, or from
the text before: three of eight that were tried did. What it finds counts, and so does what it
publishes about the same text; an empty answer does not, unless `lsp.ID.proof` is `"pull"`.
`ruby-lsp`, which was one of them in another way, is asked something else before each pull.

What a project's own configuration leaves out is the project's word, and not looked for:
`[tool.ty.src] exclude`, ruff's `exclude`, eslint's `ignores`, a rule that is turned off, a comment
that silences a line. `CLEAN` means: nothing is wrong by the project's own rules. Where these rules
are somebody else's, see [trust](trust.md#pull-requests-of-strangers).

## Texts that are not on disk

What is shown in `overlay`, told by `sync(path, text=…)`, or asked about with `check(path, text=…,
scope="project")` may break other files, and not every server notices. How each of them comes to see
such a text was tried, too, and is part of its definition (`unsaved`); it is listed with the
[servers](servers.md). Most take it in as soon as the file is open; `pyright` and `basedpyright`
only when an open file changes, so they are shown what is on disk first. `clangd` and `pyrefly` read
other files from disk, whatever they are shown: while another file of theirs has an unsaved text,
their verdicts are `UNKNOWN`, with the reason, and what they say is in `Report.stale_diagnostics`.
The same holds for a server that nobody has tried, for a file that is not there at all where a
server sees none of those, and for files that a server takes in without being shown them:
`tsconfig.json`, a script that a component imports, a file of another root. A linter's findings
count, but not its silence. Sources that see only the disk, as `cargo check`, are not applicable
beside such a text.

## When the configuration changes

A verdict goes by the configuration that is on disk when it is asked for. Most servers are told of
the change before the question and answer by it. The others are not believed until they do:
`pyright` and `basedpyright` write a line when they have read their files again, and are waited for.
`clangd`, `pyrefly`, `ty`, `zuban`, `typescript-7` and `svelte` are started anew, as is every server
that reads something only once: what the configuration of `eslint`, `ruff`, `biome` or `oxlint`
imports or extends, and the files that `oxlint` ignores by. The check takes as long as that start
then. While such files change again and again, as packages do when they are installed, the start
waits until they have been still for a moment, for ten seconds at most. A file that calls for
another server, as a new `eslint.config.js` does, or makes a folder a project of its own, counts
from the next question on.

A server that cannot read its configuration goes on with another one. If it says so, nothing that it
does not find proves anything: the verdict is `UNKNOWN` with its words, and they are a finding at
that file, until the file has changed. So it is with a broken `ty.toml`, `pyproject.toml`,
`pyrightconfig.json`, `ruff.toml` or `tsconfig.json`, a file that one of these extends and that is
missing, and in `tsconfig.json` an option that TypeScript does not understand. Options that merely
contradict each other do not count. What `pyrefly` and `zuban` say about theirs is not known.

The type checkers of Python are started anew when a virtual environment in the workspace is created,
removed or replaced: `.venv` or `venv` in their root or above it, or one that `VIRTUAL_ENV`,
`CONDA_PREFIX` or the setting `python.pythonPath` names.

So it is with the set of modules. When a stub or a package comes to stand before a module, or a
folder or `.pth` file says that there are modules elsewhere, a server that would keep to what it has
found is started anew: `zuban` for stubs and `__init__.py`, `pyrefly` for `typings`, both for `src`
and `.pth` files, `ty` for `src` and `python`. The others look for all modules again. `gopls` is
started anew for a file with another content that has the time and size of the one before it, as one
from an archive may: it would not read it. A plain edit never calls for a new process.

Not known are files above the workspace, the user's own configuration, what a configuration reads in
ways that its text does not show, and sources in a folder of the project that has the name of a
tool's, such as `venv` or `node_modules`: a change there by another program goes unseen.

## Files outside of the workspace

Where a link of the project leads out of it, what it leads to is watched as well, and so is the git
work tree around the workspace for `clangd` and `typescript-7`, which ask for such files too late or
not at all. There are limits, because a link may lead anywhere: 2,000 folders beside the workspace,
5,000 in all, and 200 that links lead to. A link to a folder that holds the workspace or your home
is not followed, unless that folder is part of the work tree. `status()` warns of what is left out,
and a change there goes unseen: it would be no use to call every verdict of a project unknown
because of a link to a folder with data. Without a warning, a link into a folder of tools or
packages, such as `node_modules` or `.cache`, where Bazel keeps its output, is not followed either.
A header outside of the work tree is watched if the compile commands name its folder.

Where a link leads is looked up when the link is made or changed, and when its target is made. So
two changes outside go unseen: that of a second link, if a link of the project leads through it, and
that of a folder above a target which is renamed or replaced as a whole. After such a change, open
the workspace again.

## How to read the table

- *proof*: what made lspkit believe that the server had looked, as `Evidence.how` names it.
- *reports*: verdicts that were asked for. *sure*: those of which only one answer was possible,
  because nothing changed while they were under way.
- *wrong*: another verdict than the text deserves, or the right one with findings of another text.
  *false clean*: those of them that call a broken text clean.
- *unknown*: lspkit said that it does not know. That is no mistake, but of no use either. Calls with
  hardly any time are not counted here.
- *edit to verdict*: milliseconds for `ws.write`, one edit at a time, while nothing else is asked.
  *floor*: the same edits, in turns, by a bare loop on a second copy of the server, which stops at
  the first sign; `quiet` in the proof column means that there is none that can be trusted, so the
  floor is then what an impatient client would see.

Compare the figures of one row with each other, and not with other machines: they are taken on a
computer with two cores that had other work to do as well.
"""

COLUMNS = (
    "server",
    "version",
    "proof",
    "forms",
    "reports",
    "sure",
    "wrong",
    "false clean",
    "unknown",
    "edit to verdict p50",
    "p95",
    "floor p50",
    "p95",
    "floor stops at",
    "raced on",
)


SHAPE = "shape"
SHAPE_COLUMNS = (
    "server",
    "version",
    "rounds",
    "changes",
    "reports",
    "sure",
    "wrong",
    "missed",
    "unknown",
    "places left out",
    "raced on",
)
SHAPE_HEAD = """\
## Results of the third form

*missed*: those of the wrong ones that leave out something that is wrong with the file. A place that
is left out stayed as it was.

What earlier races found, and what came of it: `typescript` took a file that was told as deleted and
created in one note for deleted, and with a `tsconfig.json` that had been written anew used none;
it is told in two notes. `typescript-7` adds up what it is told between two questions, and went on
not to find what lay in a folder that it had missed meanwhile; lspkit reports such a folder as
deleted and as created. `gopls` takes a file for unchanged that has the time and size of the one
before it, also a `go.mod`, and so called a broken file clean; it is started anew for such a file.

What is still wrong: the `go` command does the same. It keeps on disk what the packages of a folder
are called and import, and looks again when a name, time or size is another one. In one round, and
in the one after it, a package had got another name by such a file, and a new process of `gopls` did
not know; `go list` says the same as long as `GODEBUG` is not `goindex=0`.
"""


def raced(form: str, server: str, rounds: int, seed: int) -> dict[str, Any] | None:
    """The numbers of one server; None if there are none."""
    program = server if form == SHAPE else COURSES[server].program or server
    reason = real_servers.why_missing(program)
    if reason is not None:
        print(f"{server} is not here: {reason}", file=sys.stderr)
        return None
    argv = [sys.executable, "-m", f"benchmarks.{form}", server, "--json"]
    argv += ["--rounds", str(rounds), "--seed", str(seed)]
    try:
        done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, timeout=LIMIT, check=False)
        row: dict[str, Any] = json.loads(done.stdout)[server]
    except (ValueError, KeyError, subprocess.TimeoutExpired) as problem:
        print(f"{server} has no result: {problem!r}", file=sys.stderr)
        return None
    today = datetime.now(UTC).date().isoformat()
    return {"version": real_servers.version(program), "date": today, **row}


def line(server: str, row: dict[str, Any]) -> str:
    """One server."""
    own, floor = row["milliseconds"]["lspkit"], row["milliseconds"]["floor"]
    cells = (
        server,
        row["version"],
        ", ".join(sorted(row["proof"])),
        f"{' and '.join(row['forms'])}, {row['rounds']} rounds",
        row["calls"],
        row["sure"],
        row["wrong"],
        row["false_clean"],
        row["unknown"],
        *(f"{value:.1f}" for value in (own["p50"], own["p95"], floor["p50"], floor["p95"])),
        STOPS.get(server, "pull"),
        row["date"],
    )
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def shape_line(server: str, row: dict[str, Any]) -> str:
    """One server of the third form."""
    cells = [server, row["version"]]
    cells += [row[name] for name in ("rounds", "changes", "calls", "sure", "wrong", "missed")]
    cells += [row["unknown"], ", ".join(row["without"]), row["date"]]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def page(data: dict[str, Any]) -> str:
    """The whole page."""
    shapes = data.get(SHAPE, {})
    rows = _table(COLUMNS, [line(one, data[one]) for one in COURSES if one in data])
    more = _table(
        SHAPE_COLUMNS, [shape_line(one, shapes[one]) for one in PROJECTS if one in shapes]
    )
    again = (
        "To race again: `python -m tools.write_freshness_page [SERVER…] [--rounds N]`, with\n"
        "`--form shape` for the third form."
    )
    return "\n".join([HEAD, "## Results", "", *rows, "", SHAPE_HEAD, *more, "", again, ""])


def _table(columns: tuple[str, ...], lines: list[str]) -> list[str]:
    return [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}", *lines]


def main() -> int:
    """Race, then write both files; the status says whether all verdicts were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER")
    parser.add_argument("--form", choices=["overlap", SHAPE], default="overlap")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    there: list[str] = list(PROJECTS if options.form == SHAPE else COURSES)
    unknown = set(options.servers) - set(there)
    if unknown:
        parser.error(f"no race for {', '.join(sorted(unknown))}; there is one for {there}")
    data: dict[str, Any] = json.loads(DATA.read_text()) if DATA.exists() else {}
    rows = data.setdefault(SHAPE, {}) if options.form == SHAPE else data
    servers = sorted(options.servers or there, key=lambda one: (one not in SLOW, one))
    if not options.rounds:
        servers = []
    wrong = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lanes = {
            one: pool.submit(raced, options.form, one, options.rounds, options.seed)
            for one in servers
        }
        for server, lane in lanes.items():
            row = lane.result()
            if row is not None:
                rows[server] = row
                wrong += row["wrong"]
                DATA.write_text(json.dumps(data, indent=2, sort_keys=True) + "\n")
    PAGE.write_text(page(data), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
