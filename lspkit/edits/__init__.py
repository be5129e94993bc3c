"""Edits of files: planned, checked, and applied as a whole or not at all."""
