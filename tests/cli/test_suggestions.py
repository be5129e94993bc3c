"""A misspelt command, option or value gets the nearest known one."""

from __future__ import annotations

import pytest

from lspkit.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek"], "argument COMMAND: there is no 'chek'; did you mean check?"),
        (["defintion", "a.py:1:1"], "there is no 'defintion'; did you mean definition?"),
        (["check", "--formt", "json", "."], "--formt; did you mean --format?"),
        (["check", "--formt=json", "."], "--formt=json; did you mean --format?"),
        (["check", "--format", "jsn", "."], "--format: there is no 'jsn'; did you mean json?"),
        (["check", "--severity", "warn", "."], "there is no 'warn'; did you mean warning?"),
        (["config", "shwo"], "there is no 'shwo'; did you mean show?"),
        (["trust", "lst"], "there is no 'lst'; did you mean list?"),
        (["completion", "bsh"], "there is no 'bsh'; did you mean bash?"),
        (["--verison"], "unrecognized arguments: --verison; did you mean --version?"),
        (["hook", "--agent", "claud-code"], "did you mean claude-code?"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_the_nearest_word_is_suggested(capsys, words, said):
    status = main(words)
    usage, line = capsys.readouterr().err.rstrip("\n").rsplit("\n", 1)
    assert status == (1 if words[0] == "hook" else 2)
    assert usage.startswith("usage: lspkit")
    assert line.startswith("lspkit: ")
    assert said in line


def test_without_a_similar_word_all_are_listed(capsys):
    assert main(["completion", "powershell"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.endswith("there is no 'powershell'; choose from bash, zsh, fish")


def test_the_usage_is_that_of_the_command(capsys):
    assert main(["check", "--formt", "json", "."]) == 2
    assert capsys.readouterr().err.startswith("usage: lspkit check ")


def test_unknown_words_that_are_like_nothing_are_named(capsys):
    for word in ("--foo", "zzzzz", "-x"):
        assert main(["status", word]) == 2
        assert capsys.readouterr().err.endswith(f"unrecognized arguments: {word}\n")
