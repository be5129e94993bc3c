"""The words of `page.py`, one template for each section."""

from __future__ import annotations

HEAD = """# Benchmarks

{machine}
{earlier}
All figures of a table come from runs that took turns on one machine: compare them with each other,
not with other machines. q1 and q3 are the quartiles.
{quick}"""

BARS = """
## Bars

{met} of {all} are met. [How to repeat this](../docs/performance.md).

{rows}
{reasons}"""

REASONS = """
### Not met, and why

{lines}
"""

PARITY = """
## Beside OpenCode {version}

The published program, driven without a model: cold by its own command, warm by a stand-in for a
model that replays tool calls. lspkit does the same on a copy of the project. A clean edit leaves
the file without errors, as it was before. {verdict}
{missing}
{rows}

What was told was true, errors for a broken file and none for one in order: {found}.
"""

COST = """
## The client's own cost

A server with ready answers, asked by a bare JSON-RPC loop (the floor) and by each client's
ordinary API. 50 references and 50 symbols per answer.

![Median milliseconds per call](client_cost.svg)

{costs}

Versions: {versions}.
{missing}
## Importing

{loads}
"""

REAL_REQUESTS = """
## Warm requests on real servers

The same contestants on copies of a real server and of one project.

{rows}
"""

COLD_START = """
## From nothing to the first definition

From making a workspace to the answer, beside a bare loop that starts the same server.

{rows}
"""

EDIT_TIME = """
## From an edit to fresh diagnostics

Edits that break and mend a file by turns. The bare loop stops at the first sign that the server has
looked. The rule is OpenCode's: a push, and then 150 ms without another one, at most 5 s.

{rows}
"""

MANY_FILES = """
## Twenty files edited at once

From the last write to the last verdict, for one file and for {files}, by `check_all` and by a bare
loop that has all of them under way on a second copy of the server. The bare ratio is the server's
own: one that looks at a file after the other takes longer for more of them, whoever asks.
`scripted` takes 100 ms for each file, and any number of them at the same time. Between two edits
there is a second.

`clangd` does not watch the disk, and compares what a source includes by size and by modification
time in whole seconds. What was written in a later second than its last work on the source it
notices with the next change. Anything else needs a forced rebuild, which also builds the preamble
anew: 20 files that are edited twice within a second take six times as long as the bare loop. That
one sends the change alone, and would miss a header that was written twice within a second.

{rows}
"""

DEADLINES = """
## A timeout on a busy machine

{files} files and {server}, from a cold start, while {loops} other programs compute. The timeout is
{timeout:g} s, and what is not checked by then is unknown.

{rows}
"""

CLEAN_EDIT = """
## An edit that leaves a file clean

{server}, from the edit to the verdict, beside a client that waits for a push and then for silence.

{rows}
"""

LONG_SESSION = """
## A session of {edits} edits

Each edit is written and checked; the process of lspkit is looked at after every twenty. What is
compared are the first and the last hundred edits.

{plots}

{rows}
"""

IDLE = """
## Idle

{count} servers, and nobody asks: processor seconds in {seconds:.0f} s.

{rows}
"""

SERVICE = """
## The service

A warm definition on ready answers, in the process and through the service.

{calls}

Commands with a warm service, and without one.

{commands}
"""

GROWTH = """
## Growth

Each cost at growing multiples of the work, on the scripted server: milliseconds of lspkit's own
processor time, or of the clock where the service takes part. An exponent of 1 means that ten times
the work costs ten times as much, 0 that the cost does not depend on it.

{rows}
"""

OVERLAP = """
## Edits that overlap

Verdicts while edits come faster than answers, held against the truth; and the time from an edit to
its verdict when they do not, beside the bare loop.

{rows}
"""

RUNS = """
## What ran

{rows}
"""

ELSEWHERE = """
## What an edit breaks in other files

Random breaking edits of public functions, through the hooks, against the list of the compiler or of
the checker's own command line. A file over the limit of dependents or of time is not told, but is
counted in the text for the model. Where the uses of a declaration could not be searched, the text
names the declaration. All other broken files that are not told are missed silently. `over` is the
time of the hook besides the check of the edited file. A row that is `patient` was run without
limits of time, on a busy machine.

{rows}
"""
