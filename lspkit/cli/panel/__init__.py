"""The commands `lspkit status` and `lspkit panel`."""
