"""Commands about the servers on this machine: `install`, `servers`, `doctor`; running services."""
