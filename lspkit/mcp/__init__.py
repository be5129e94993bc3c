"""The MCP server: the tools of `lspkit.agent` for any program that speaks MCP.

Only the command `lspkit mcp` imports this package: the SDK takes more than a second to load.
"""
