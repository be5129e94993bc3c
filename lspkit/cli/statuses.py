"""Exit statuses, which mean the same for every command."""

CLEAN = 0
FINDINGS = 1
#: A mistake in the call or in the configuration.
USAGE = 2
#: A server is missing, or has not answered.
UNKNOWN = 3
#: As shells have it for SIGINT.
INTERRUPTED = 130
