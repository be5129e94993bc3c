"""The insides of the scripted language server; start it with `lspkit/testing/scripted_server.py`.

Everything in this folder runs in the server's process, imports the standard library only and
avoids its slow modules (typing, dataclasses, subprocess), so that a server is up in some 20 ms.
"""
