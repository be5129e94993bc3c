"""Functions that are called for each workspace that is opened in this process.

An interface for people may follow what the servers of all workspaces do. This module imports
nothing, so that it can be told before the workspace is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Each is called with the workspace. It must not raise, nor wait for a server.
opened_hooks: list[Callable[[Any], object]] = []
