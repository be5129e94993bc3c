"""Configuration: what a user may set, and how it is read."""

from lspkit.config.model import (
    Config,
    Diagnosing,
    Restarting,
    Security,
    ServerConfig,
    Timing,
)
from lspkit.config.reading import read_config

__all__ = [
    "Config",
    "Diagnosing",
    "Restarting",
    "Security",
    "ServerConfig",
    "Timing",
    "read_config",
]
