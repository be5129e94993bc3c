"""Renaming a symbol, with the methods that override it, as a preview."""
