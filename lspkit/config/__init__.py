"""Configuration: what a user may set, where it is found, and whose word counts."""

from lspkit.config.merge import Layer, Origin, merged
from lspkit.config.model import (
    Config,
    Diagnosing,
    Restarting,
    Security,
    ServerConfig,
    ServerTiming,
    Timing,
)
from lspkit.config.parse import Given, read_config
from lspkit.config.problems import ConfigWarning

__all__ = [
    "Config",
    "ConfigWarning",
    "Diagnosing",
    "Given",
    "Layer",
    "Origin",
    "Restarting",
    "Security",
    "ServerConfig",
    "ServerTiming",
    "Timing",
    "merged",
    "read_config",
]
