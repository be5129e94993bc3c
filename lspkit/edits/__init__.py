"""The boundary of paths, and the jail of edits: used by every door."""
