"""What only one server needs, as code: one file for each such server.

A definition (`definition.py`) is data and holds what at least two servers need. The class `Adapter`
in `adapter.py` has a hook wherever the rest of lspkit lets a server differ; its defaults suit an
ordinary server, and nearly every server has no adapter of its own. `adapter_table.py` finds the
adapter of a definition by its id.
"""
