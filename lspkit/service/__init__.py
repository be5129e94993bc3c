"""The service: one set of warm servers for every program, in a process of its own."""

from lspkit.service.client import Client
from lspkit.service.connect import ServiceEnvironmentWarning, connect

__all__ = ["Client", "ServiceEnvironmentWarning", "connect"]
