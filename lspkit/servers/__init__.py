"""Which servers exist, which of them a file needs, where its root is, and which program runs.

Everything here makes decisions; nothing starts a process.
"""
