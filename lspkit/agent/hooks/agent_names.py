"""The agents whose hook protocols are known. The command line imports it for `--help`."""

from __future__ import annotations

#: In alphabetical order; `agent_protocols.PROTOCOLS` has a row for each.
AGENTS = ("claude-code", "codex", "copilot-cli", "gemini-cli")
