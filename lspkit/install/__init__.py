"""Installing servers into lspkit's tools folder, and hints how to get them.

`recipe_table.py` is the data; `install_hint.py` decides what works on this machine; `tools_home.py`
has the layout of the folder; `installation.py` runs pip, npm and the like; `installation.py`
puts it together.
"""
