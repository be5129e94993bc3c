"""The API that people import."""

from lspkit.workspace.mutations import CHECK_TIMEOUT
from lspkit.workspace.workspace import Workspace
from lspkit.workspace.workspace_warnings import UntrustedProjectWarning, UnusedSettingWarning

__all__ = ["CHECK_TIMEOUT", "UntrustedProjectWarning", "UnusedSettingWarning", "Workspace"]
