"""Checks of files: their findings with a verdict, and what an edit changes in other files."""
