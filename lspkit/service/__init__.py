"""The service: one set of warm servers for every program, in a process of its own."""

from lspkit.service.client import Client
from lspkit.service.remote_workspace import ServiceEnvironmentWarning, connect

__all__ = ["Client", "ServiceEnvironmentWarning", "connect"]
