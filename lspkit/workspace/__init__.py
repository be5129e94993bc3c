"""The API that people import."""

from lspkit.workspace.changes import CHECK_TIMEOUT
from lspkit.workspace.untrusted import UntrustedProject
from lspkit.workspace.workspace import Workspace

__all__ = ["CHECK_TIMEOUT", "UntrustedProject", "Workspace"]
