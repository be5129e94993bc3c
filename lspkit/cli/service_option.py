"""Whether a command uses the service."""

from __future__ import annotations

import argparse
import os

#: Set to anything but the empty text: no command uses the service.
VARIABLE = "LSPKIT_NO_SERVICE"


def uses_service(arguments: argparse.Namespace) -> bool:
    """Whether neither `--no-service` nor the variable forbids it."""
    return not arguments.no_service and not os.environ.get(VARIABLE)
