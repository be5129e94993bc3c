"""The API that people import."""

from lspkit.workspace.mutations import CHECK_TIMEOUT
from lspkit.workspace.setting_warning import UnusedSettingWarning
from lspkit.workspace.trust_warning import UntrustedProjectWarning
from lspkit.workspace.workspace import Workspace

__all__ = ["CHECK_TIMEOUT", "UntrustedProjectWarning", "UnusedSettingWarning", "Workspace"]
