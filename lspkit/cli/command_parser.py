"""The parser of the command line, and the types of arguments.

After a misspelt word it suggests the nearest known one.
"""

from __future__ import annotations

import argparse
import functools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

#: Three years: the most that the timers of every system take.
LONGEST_SECONDS = 100_000_000.0


class UsageError(Exception):
    """A mistake in the call. The usage is shown as well, if there is one."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


def path(word: str) -> str:
    """A path. An empty one is probably an unset variable, not the current folder."""
    if not word:
        raise argparse.ArgumentTypeError("a path cannot be empty")
    return word


def revision(word: str) -> str:
    """A git revision, which git must not take for an option."""
    if not word or word.startswith("-"):
        raise argparse.ArgumentTypeError(f"expected a git revision, found {word!r}")
    return word


def loopback_address(word: str) -> str:
    """`127.0.0.1:PORT`. What comes before the port is checked when it is used."""
    if not re.fullmatch(r".+:\d{1,5}", word):
        raise argparse.ArgumentTypeError(f"expected 127.0.0.1:PORT, found {word!r}")
    return word


def seconds(word: str) -> float:
    """A finite number of seconds. More than a timer takes are as good as no limit."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, 0 or more, found {word!r}")
    return min(number, LONGEST_SECONDS)


#: While arguments are added: argparse makes a formatter for each, which would import `shutil`.
_WITHOUT_TERMINAL = functools.partial(argparse.HelpFormatter, width=80)


class CommandParser(argparse.ArgumentParser):
    """Raises errors, which are reported as all others are. The commands have parsers of this kind,
    too."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(formatter_class=_WITHOUT_TERMINAL, **keywords)

    def format_help(self) -> str:
        """The help, as wide as the terminal."""
        self.formatter_class = argparse.HelpFormatter
        return super().format_help()

    def format_usage(self) -> str:
        """The first lines of the help."""
        self.formatter_class = argparse.HelpFormatter
        return super().format_usage()

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` with the usage."""
        raise UsageError(message, self.format_usage())

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse does it, with the nearest choice."""
        if action.choices is None or value in action.choices:
            return
        names = [str(choice) for choice in action.choices]
        near = _suggestion(str(value), names)
        known = near or f"; choose from {', '.join(names)}"
        raise argparse.ArgumentError(action, f"there is no {str(value)!r}{known}")


def parse_all(
    parser: argparse.ArgumentParser, argv: Sequence[str], arguments: argparse.Namespace
) -> None:
    """Parse the words into `arguments`. Unknown words are an error of the command."""
    _, left = parser.parse_known_args(argv, arguments)
    if left:
        command = _parser_of(parser, getattr(arguments, "command", None))
        near = _similar_option(left[0], command._option_string_actions)
        command.error(f"unrecognized arguments: {' '.join(left)}{near}")


def _parser_of(parser: argparse.ArgumentParser, command: str | None) -> argparse.ArgumentParser:
    """The parser of a command; the given one if there is no command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and command in action.choices:
            found_parser: argparse.ArgumentParser = action.choices[command]
            return found_parser
    return parser


def _similar_option(word: str, known: Iterable[str]) -> str:
    """The hint to the nearest option. Dashes, which all options have, do not count as similar."""
    names = [option.removeprefix("--") for option in known if option.startswith("--")]
    near = _suggestion(word.lstrip("-").partition("=")[0], names) if word.startswith("-") else ""
    return near.replace("mean ", "mean --")


def _suggestion(word: str, known: Iterable[str]) -> str:
    from lspkit.config.problems import suggestion_for  # here: only needed after a mistake

    return suggestion_for(word, known)
