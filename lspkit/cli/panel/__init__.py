"""The command `lspkit panel`."""
