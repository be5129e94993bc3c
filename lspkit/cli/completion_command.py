"""`lspkit completion`: scripts that complete the commands and options in a shell.

The words come from the parser itself, so a new command or option is completed without a change
here. What is not an option, a choice or a path is not completed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import msgspec

from lspkit.cli import build_parser
from lspkit.cli.command_table import FILES, FOLDERS
from lspkit.cli.failure import FOUND
from lspkit.cli.output import as_json, print_result


class Completed(msgspec.Struct, frozen=True):
    """An option, or an argument without a name."""

    #: `--root`, `-q`; empty for an argument without a name.
    flags: tuple[str, ...]
    help: str
    #: Whether a value follows.
    takes_value: bool
    #: The possible values, if they are known.
    choices: tuple[str, ...] = ()
    #: What a path may be: `files`, `folders` or nothing.
    path: str = ""


class CompletedCommand(msgspec.Struct, frozen=True):
    """A command, and what may follow it."""

    name: str
    help: str
    arguments: tuple[Completed, ...]

    @property
    def options(self) -> list[Completed]:
        """The arguments that begin with a dash."""
        return [argument for argument in self.arguments if argument.flags]

    @property
    def flags(self) -> list[str]:
        """All spellings of its options."""
        return [flag for option in self.options for flag in option.flags]

    @property
    def words(self) -> list[str]:
        """The choices of arguments without a name."""
        return [
            word for argument in self.arguments if not argument.flags for word in argument.choices
        ]

    @property
    def path(self) -> str:
        """What its arguments without a name may be."""
        return next(
            (argument.path for argument in self.arguments if not argument.flags and argument.path),
            "",
        )


def run(arguments: argparse.Namespace) -> int:
    """Print the script for a shell."""
    top, commands = read_parser(build_parser())
    script = SCRIPTS[arguments.shell](top, commands)
    if arguments.json:
        print_result(as_json({"shell": arguments.shell, "script": script}))
    else:
        print_result(script)
    return FOUND


def read_parser(
    parser: argparse.ArgumentParser,
) -> tuple[CompletedCommand, list[CompletedCommand]]:
    """What may stand before a command, and all commands."""
    commands: list[CompletedCommand] = []
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, command in action.choices.items():
            commands.append(CompletedCommand(name, helps.get(name, ""), _arguments(command)))
    return CompletedCommand("", "", _arguments(parser)), commands


def _arguments(parser: argparse.ArgumentParser) -> tuple[Completed, ...]:
    return tuple(
        _completed(action)
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction)
    )


def _completed(action: argparse.Action) -> Completed:
    kind = str(action.metavar)
    return Completed(
        tuple(action.option_strings),
        (action.help or action.dest).replace("%%", "%"),
        action.nargs != 0,
        tuple(map(str, action.choices or ())),
        "files" if kind in FILES else "folders" if kind in FOLDERS else "",
    )


# Bash


def _bash(top: CompletedCommand, commands: list[CompletedCommand]) -> str:
    return BASH.format(
        before=" ".join([*(command.name for command in commands), *top.flags]),
        values="\n".join(line for command in commands for line in _bash_values(command)),
        commands="\n".join(_bash_command(command) for command in commands),
    )


def _bash_values(command: CompletedCommand) -> Iterator[str]:
    """The lines that complete the value of an option."""
    for option in command.options:
        if option.takes_value:
            patterns = "|".join(f"'{command.name} {flag}'" for flag in option.flags)
            yield f"    {patterns}) words='{' '.join(option.choices)}' paths='{option.path}' ;;"


def _bash_command(command: CompletedCommand) -> str:
    words = " ".join([*command.words, *command.flags])
    return f"    {command.name}) words='{words}' paths='{command.path}' ;;"


BASH = """\
# Completion of lspkit for bash: eval "$(lspkit completion bash)"
_lspkit() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' words='' paths='' at
  # Bash splits --option=value into three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ ${{COMP_WORDS[at]}} == -* ]] || {{ command=${{COMP_WORDS[at]}}; break; }}
  done
  case "$command $previous" in
{values}
    *) case $command in
    '') words='{before}' ;;
{commands}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case $paths in files) paths=-f ;; folders) paths=-d ;; *) return ;; esac
  [[ $current == -* ]] && return
  compopt -o filenames 2>/dev/null
  while IFS= read -r at; do COMPREPLY+=("$at"); done < <(compgen "$paths" -- "$current")
}}
complete -F _lspkit lspkit"""


# Zsh


def _zsh(top: CompletedCommand, commands: list[CompletedCommand]) -> str:
    return ZSH.format(
        commands="\n".join(f"    {_quoted(_zsh_item(command))}" for command in commands),
        options=" ".join(_quoted(spec) for option in top.options for spec in _zsh_option(option)),
        cases="\n".join(_zsh_command(command) for command in commands),
    )


def _zsh_item(command: CompletedCommand) -> str:
    return f"{command.name}:{command.help}"


def _zsh_option(option: Completed) -> Iterator[str]:
    about = option.help.replace("[", "(").replace("]", ")").replace(":", ";")
    for flag in option.flags:
        yield f"{flag}[{about}]{_zsh_value(option)}" if option.takes_value else f"{flag}[{about}]"


def _zsh_value(argument: Completed) -> str:
    actions = {"files": "_files", "folders": "_files -/"}
    words = f"({' '.join(argument.choices)})" if argument.choices else ""
    return f": :{words or actions.get(argument.path, ' ')}"


def _zsh_command(command: CompletedCommand) -> str:
    specs = [spec for option in command.options for spec in _zsh_option(option)]
    plain = [argument for argument in command.arguments if not argument.flags]
    specs += [f"{at}{_zsh_value(argument)}" for at, argument in enumerate(plain, 1)]
    if plain and command.path:
        specs.append(f"*{_zsh_value(plain[-1])}")
    return f"    {command.name}) _arguments {' '.join(map(_quoted, specs))} ;;"


ZSH = """\
#compdef lspkit
# Completion of lspkit for zsh: lspkit completion zsh > a folder of $fpath, as _lspkit
_lspkit() {{
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
{commands}
  )
  _arguments -C {options} '1: :->command' '*:: :->argument'
  case $state in
  command) _describe command commands ;;
  argument)
    case $line[1] in
{cases}
    esac ;;
  esac
}}
if [[ $funcstack[1] == _lspkit ]]; then _lspkit "$@"; else compdef _lspkit lspkit; fi"""


# Fish


def _fish(top: CompletedCommand, commands: list[CompletedCommand]) -> str:
    lines = ["# Completion of lspkit for fish: lspkit completion fish | source"]
    lines.append("complete -c lspkit -f")
    lines += [f"complete -c lspkit {_fish_option(option)}" for option in top.options]
    for command in commands:
        about = _quoted(command.help)
        lines.append(f"complete -c lspkit -n __fish_use_subcommand -a {command.name} -d {about}")
    for command in commands:
        here = f"complete -c lspkit -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{here} {_fish_option(option)}" for option in command.options]
        if command.words:
            lines.append(f"{here} -a '{' '.join(command.words)}'")
        if command.path:
            lines.append(f"{here} -F")
    return "\n".join(lines)


def _fish_option(option: Completed) -> str:
    names = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    ]
    words = f" -a '{' '.join(option.choices)}'" if option.choices else ""
    value = f" -x{words}" if option.takes_value else ""
    if option.path:
        value = " -r -F" if option.path == "files" else " -x -a '(__fish_complete_directories)'"
    return f"{' '.join(names)}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    """The text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "’") + "'"


#: By shell.
SCRIPTS: dict[str, Callable[[CompletedCommand, list[CompletedCommand]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
