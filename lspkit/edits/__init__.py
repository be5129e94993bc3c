"""The boundary of paths, and (later) the jail of edits: used by every door."""
