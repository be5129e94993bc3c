"""Exit statuses of all commands."""

CLEAN = 0
FINDINGS = 1
#: Of commands that search.
FOUND = 0
NOTHING_FOUND = 1
#: A mistake in the call or in the configuration.
USAGE = 2
#: A mistake in the call of `lspkit hook`: for agents, 2 means that the tool call is blocked.
MISUSED_HOOK = 1
#: A server is missing or has not answered, or a file or folder cannot be read.
UNKNOWN = 3
#: The result cannot be written, or lspkit itself failed. `EX_SOFTWARE` of sysexits.h.
FAILED = 70
#: The status of shells after SIGINT.
INTERRUPTED = 130
