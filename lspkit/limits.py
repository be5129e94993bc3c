"""Limits for untrusted input: files of a project, arguments of a model, messages of a server.

Each limit is far above what occurs in practice, and reaching it costs little time and memory. Input
over a limit is refused, or dropped and counted; it never counts as examined. Limits of a single
format are in the module that reads it (`framing.py`, `globs.py`, `files.py`).
"""

from __future__ import annotations

# Paths and names from any source

#: Characters of a path. Linux opens no longer ones, and resolving costs a system call per folder.
LONGEST_PATH = 4096
#: Bytes of a document URI: a path with every byte percent-encoded, and some more.
LONGEST_URI = 4 * LONGEST_PATH

# Arguments of a model

#: Characters of a name, of a query, or of a symbol.
LONGEST_NAME = 1_000
#: Characters of an object as JSON that a model passes back: several times the size that it got.
LONGEST_OBJECT = 64 * 1024
#: Characters of all arguments of a call that come as one string.
LONGEST_ARGUMENTS = 1024 * 1024
#: Arguments of a call. No tool has more than ten.
MOST_ARGUMENTS = 100

# Files of a project

#: File names in a server's configuration that are searched on disk. Real configurations have
#: dozens; each name costs several system calls.
MOST_NAMES = 2_000
#: Bytes of a file like `.gitignore`, and rules read from it. Each rule is matched with each
#: requested path; the largest lists in use have some hundreds of rules.
LARGEST_IGNORE_FILE = 256 * 1024
MOST_IGNORE_RULES = 5_000
#: Steps to parse a compilation database: words, quotation marks and folders of paths. LLVM's, with
#: 7,000 commands, takes less than a million. One or two seconds at worst.
MOST_COMPILE_STEPS = 1_500_000
#: Characters of one command of such a database: no system runs a longer one.
LONGEST_COMMAND = 2 * 1024 * 1024

# Messages of a server

#: Bytes of one request or notification, except reports of diagnostics. Usual ones have some
#: kilobytes; the reader thread decodes them, and everything else waits.
LARGEST_NOTE = 32 * 1024 * 1024
#: Findings in one report about a file, and bytes of it. To decode ten thousand takes half a second.
MOST_FINDINGS = 10_000
LARGEST_REPORT = 16 * 1024 * 1024
#: Related locations of a finding.
MOST_RELATED = 100
#: Items of any other list, such as the references to a common name in a large project.
MOST_RESULTS = 100_000
#: Files whose findings are kept for one server, and bytes of all these findings.
MOST_REPORTED_FILES = 50_000
LARGEST_MEMORY = 64 * 1024 * 1024
#: Bytes of the partial results of one request.
LARGEST_PARTS = 64 * 1024 * 1024
#: Capabilities that a server registers. Real servers register dozens at most.
MOST_REGISTRATIONS = 1_000
#: Glob patterns of watched files, and the sum of their costs (`compile_cost`), also of those that
#: were unregistered. Large monorepos have some hundreds of short patterns.
MOST_GLOBS = 5_000
MOST_GLOB_WORK = 100_000_000
#: Folders outside the workspace that are watched because a server watches a parent folder: per
#: branch, and in all.
MOST_FOLDERS_OF_BRANCH = 2_000
MOST_FOLDERS_BESIDE = 5_000
#: Folders outside the workspace that are watched because links of the project lead to them.
MOST_LINKED_FOLDERS = 200
#: Sections in one `workspace/configuration` request, and characters of a section's name.
MOST_SECTIONS = 200
LONGEST_SECTION = 1_000
#: Edits that a server may request while one command runs, and bytes of those that are queued.
MOST_EDITS = 1_000
LARGEST_EDITS = 64 * 1024 * 1024
#: Progress tokens that are active at once, and characters of each title and message.
MOST_WORK = 100
LONGEST_TITLE = 200
#: Characters of an error message or a name from a server that is shown to people.
LONGEST_WORDS = 10_000
#: How often a server may stop in the middle of a message and continue with the next one.
MOST_BROKEN_OFF = 100
