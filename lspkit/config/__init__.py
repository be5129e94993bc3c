"""Configuration: what a user may set, where it is found, and whose word counts."""

from lspkit.config.merge import Layer, Origin, merge_values
from lspkit.config.model import (
    Config,
    DiagnosticsConfig,
    RestartConfig,
    SecurityConfig,
    ServerConfig,
    ServerTimingConfig,
    TimingConfig,
)
from lspkit.config.parse import Given, read_config
from lspkit.config.problems import ConfigWarning

__all__ = [
    "Config",
    "ConfigWarning",
    "DiagnosticsConfig",
    "Given",
    "Layer",
    "Origin",
    "RestartConfig",
    "SecurityConfig",
    "ServerConfig",
    "ServerTimingConfig",
    "TimingConfig",
    "merge_values",
    "read_config",
]
