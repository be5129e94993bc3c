"""What servers say about a configuration that they cannot read, as they said it."""

from __future__ import annotations

import msgspec

from lspkit.diagnostics.configuration_error import (
    as_finding,
    configuration_error,
    unread_option,
)

_FILES = ["/p/ty.toml", "/p/pyproject.toml"]
_SHOWN = (
    "Failed to load project for workspace file:///p. Please refer to the logs for more details."
)
_LOG = """\
2026-11-19 03:09:47.300536170  INFO Version: 0.0.100
2026-11-19 03:09:47.311017473 ERROR Failed to load project for workspace `file:///p`: Failed to \
discover project configuration: /p/ty.toml is not a valid `ty.toml`: TOML parse error at line 2, \
column 7
  |
2 | [rules
  |       ^
unclosed table, expected `]`
2026-11-19 03:09:47.312648977  INFO Defaulting to python-platform `linux`
"""


def test_a_message_that_refers_to_the_log_is_completed_from_it() -> None:
    error = configuration_error(_SHOWN, _LOG, _FILES)
    assert error is not None and error.is_whole
    assert error.message.endswith(
        "/p/ty.toml is not a valid `ty.toml`: TOML parse error at line 2, column 7 unclosed table, "
        "expected `]`"
    )
    assert error.paths[0] == "/p/ty.toml"
    assert (error.line, error.column) == (1, 6)


def test_without_the_log_the_message_counts_all_the_same() -> None:
    error = configuration_error(_SHOWN, "", _FILES)
    assert error is not None and not error.is_whole
    assert error.message == _SHOWN


def test_a_broken_file_of_the_same_name_in_another_folder_does_not_count() -> None:
    elsewhere = _LOG.replace("/p/ty.toml", "/p/tests/data/ty.toml")
    assert configuration_error(_SHOWN, elsewhere, _FILES) is None


def test_the_finding_stands_at_the_file_that_the_message_names() -> None:
    line = 'Config file "/p/base.json" could not be parsed. Verify that format is correct.'
    error = configuration_error(line, "", ["/p/pyrightconfig.json"])
    assert error is not None
    assert error.paths == ("/p/base.json", "/p/pyrightconfig.json")
    [finding] = msgspec.json.decode(as_finding(error, "pyright"))
    assert finding["message"] == line
    assert finding["severity"] == 1


def _report(code: int) -> list[tuple[str, bytes]]:
    edge = {"line": 0, "character": 29}
    found = {"range": {"start": edge, "end": edge}, "message": "no", "code": code, "severity": 1}
    return [("tsconfig.json", msgspec.json.encode([found]))]


def test_only_typescript_options_that_are_not_understood_make_a_configuration_unread() -> None:
    assert unread_option(_report(5024)) == "tsconfig.json:1:30: no"
    assert unread_option(_report(1005)) == "tsconfig.json:1:30: no"
    # Two options contradict each other; types that are missing.
    assert unread_option(_report(5096)) == ""
    assert unread_option(_report(2688)) == ""
