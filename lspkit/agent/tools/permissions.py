"""Whether a host should run a call, ask first, or refuse it.

The table has the defaults; the configuration overrides them, by any name of a tool.
"""

from __future__ import annotations

from lspkit.agent.tools.tool_table import SINGLE, ToolSpec, offered_tools, spec_of
from lspkit.config import Config
from lspkit.config.model import DISABLED, Permission
from lspkit.errors import LspkitError, NoServerError

#: In order of strictness.
_STRICTER: tuple[Permission, ...] = ("allow", "ask", "deny")


class PermissionRefused(LspkitError):
    """A call that is not allowed."""

    code = "EPERM"


def permission_of(name: str, operation: object, config: Config) -> Permission:
    """The permission of a tool. That of the single tool depends on the operation."""
    rows = offered_tools(config)
    if name == SINGLE:
        asked = [row for row in rows if row.operation == operation]
        said = [
            _row_permission(row, config, config.permissions.get(SINGLE)) for row in asked or rows
        ]
    else:
        said = [_row_permission(row, config) for row in rows if row is spec_of(name)]
    return max(said, key=_STRICTER.index, default="deny")


def _row_permission(row: ToolSpec, config: Config, single: Permission | None = None) -> Permission:
    own = next((config.permissions[one] for one in row.names if one in config.permissions), None)
    said = [one for one in (own, single) if one is not None]
    return max(said, key=_STRICTER.index, default=row.permission)


def check_permission(row: ToolSpec, tool: str, config: Config) -> None:
    """Raise an error if the configuration disables or denies a call."""
    called = row.called_as(tool)
    if not config.enabled:
        raise NoServerError(DISABLED)
    if row not in offered_tools(config):
        raise PermissionRefused(f"{called} is switched off by the configuration (navigationTools)")
    if permission_of(tool, row.operation, config) == "deny":
        raise PermissionRefused(f"{called} is denied by the configuration (permissions)")
