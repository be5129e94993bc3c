"""The magic `%lsp`."""
