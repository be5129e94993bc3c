"""The command `lspkit mcp`."""
