"""`lspkit probe`: what a server can do here, and how fast.

`bare_client.py` talks to one process and waits for what it says; `server_probe.py` measures with
it; `probe_race.py` lets checks of a workspace overlap, and counts wrong verdicts.
"""
