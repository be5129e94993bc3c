"""Exit statuses, which mean the same for every command."""

CLEAN = 0
FINDINGS = 1
#: A mistake in the call or in the configuration.
USAGE = 2
#: A server is missing or has not answered, or a file or folder cannot be read.
UNKNOWN = 3
#: The result cannot be written, or lspkit itself is at fault. As sysexits.h has it.
FAILED = 70
#: As shells have it for SIGINT.
INTERRUPTED = 130
