"""What is known about each language server, one table per family of languages.

A table is a tuple of definitions in order of preference: of rivals for one language the first one
that is found runs. An ordinary row has only names, markers, a command and what to install; each
part after that (`definition_parts.py`) says something special about the server, and what only one
server needs is in its adapter (`adapters/`). Type checkers stand before the linters that run beside
them, so that the first server of a file is the one that knows the code. Commands name programs,
never paths.
"""
