"""How much is taken from strangers: from files of a project, from a model, from a server.

Each of these numbers is far above what is met in practice and small enough that reaching it costs
little time and memory. What lies beyond is refused, or dropped and counted; it never passes for
something that was looked at. Limits that belong to one format stand where the format is read
(`framing.py`, `globs.py`, `files.py`).
"""

from __future__ import annotations

# Paths and names, whoever gives them

#: Characters of a path. Linux opens no longer one, and to follow one takes a look at each folder.
LONGEST_PATH = 4096
#: Bytes of the URI of a document: a path in which every byte is percent-encoded, and some more.
LONGEST_URI = 4 * LONGEST_PATH

# What a model writes

#: Characters of a name, of a query, or of a symbol.
LONGEST_NAME = 1_000
#: Characters of the JSON of an object that is handed back: several times what was handed out.
LONGEST_OBJECT = 64 * 1024
#: Characters of all arguments of a call that come as one text.
LONGEST_ARGUMENTS = 1024 * 1024
#: Arguments of a call. No tool has more than ten.
MOST_ARGUMENTS = 100

# Files of a project

#: Names that a server's configuration mentions and that are looked for on disk. A real one has
#: some dozens; each costs several looks at the disk.
MOST_NAMES = 2_000
#: Bytes of a file like `.gitignore`, and rules that are taken from it. Each rule is held against
#: each path that is asked about; the largest lists in use have some hundreds of rules.
LARGEST_IGNORE_FILE = 256 * 1024
MOST_IGNORE_RULES = 5_000
#: Steps to take to understand a compilation database: words, quotation marks and folders of paths.
#: LLVM's, with 7,000 commands, takes under a million. One or two seconds at worst.
MOST_COMPILE_STEPS = 1_500_000
#: Characters of one command of such a database: no system runs a longer one.
LONGEST_COMMAND = 2 * 1024 * 1024

# What a server sends

#: Bytes of one request or notification of a server, but reports of diagnostics. What servers send
#: unasked has some kilobytes; it is decoded by the thread that reads, for everybody.
LARGEST_NOTE = 32 * 1024 * 1024
#: Findings in one report about a file, and bytes of it. Nobody reads so many; to make values of
#: ten thousand takes half a second.
MOST_FINDINGS = 10_000
LARGEST_REPORT = 16 * 1024 * 1024
#: Other places that a finding refers to.
MOST_RELATED = 100
#: Items of any other list: references to a name that is everywhere in a large project.
MOST_RESULTS = 100_000
#: Files that a server's findings are remembered of, and bytes of all of them.
MOST_REPORTED_FILES = 50_000
LARGEST_MEMORY = 64 * 1024 * 1024
#: Bytes of the parts of one answer.
LARGEST_PARTS = 64 * 1024 * 1024
#: Capabilities that a server registers. The most that was seen is some dozens.
MOST_REGISTRATIONS = 1_000
#: Patterns of files that it wants to hear about, and the sum of the squares of their lengths, which
#: the work to prepare them grows with. Large monorepos make some hundreds of short ones.
MOST_GLOBS = 5_000
MOST_GLOB_WORK = 100_000_000
#: Folders outside of the workspace that are watched because it asks for all in one around them: of
#: those in one folder, and of all that lie beside the workspace, or beside a folder around that.
MOST_FOLDERS_OF_BRANCH = 2_000
MOST_FOLDERS_BESIDE = 5_000
#: Sections of its configuration that it asks for at once, and characters of the name of one.
MOST_SECTIONS = 200
LONGEST_SECTION = 1_000
#: Edits that it may ask for while one command runs, and bytes of those that wait to be made.
MOST_EDITS = 1_000
LARGEST_EDITS = 64 * 1024 * 1024
#: Pieces of work that it is busy with at once, and characters of what is told about each.
MOST_WORK = 100
LONGEST_TITLE = 200
#: Characters of an error or a name of its own that is told to people.
LONGEST_WORDS = 10_000
#: How often it may break off in the middle of a message and go on with the next one.
MOST_BROKEN_OFF = 100
