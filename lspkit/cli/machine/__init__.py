"""Commands about the servers and services on this machine."""
