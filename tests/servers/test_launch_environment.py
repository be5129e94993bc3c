"""What of the user's variables a server in a project without trust gets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lspkit import workspace_boundary
from lspkit.servers.restriction.launch_environment import clean_environment, clean_path


@pytest.mark.parametrize(
    ("variable", "cleaned"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/bin", "/bin"),
        ("", ""),
        ("::/bin:", "/bin"),
        ("bin:node_modules/.bin:../x:/bin", "/bin"),
        ("~/bin:/bin", "/bin"),
        ("{work}:{work}/bin:{work}/../work/bin:/bin", "/bin"),
        ("{work}2:{work}/..:/bin", "{work}2:{work}/..:/bin"),
        ("{link}:/bin", "/bin"),
        ("{work}/out:{around}/out:/bin", "/bin"),
        ("{around}/..:{beside}:/bin", "{around}/..:{beside}:/bin"),
    ],
)
def test_a_path_loses_what_leads_into_the_project(
    tmp_path: Path, variable: str, cleaned: str
) -> None:
    work, link = tmp_path / "work", tmp_path / "link"
    (work / "bin").mkdir(parents=True)
    link.symlink_to(work / "bin")
    around, beside = tmp_path / "around", tmp_path / "beside"
    around.symlink_to(work)
    beside.symlink_to("elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (work / "out").symlink_to("../elsewhere")
    places = {"work": work, "link": link, "around": around, "beside": beside}
    assert clean_path(variable.format(**places), str(work)) == cleaned.format(**places)


@pytest.mark.parametrize(
    ("name", "value", "cleaned"),
    [
        ("PATH", ".:/bin", "/bin"),
        ("PATH", ".", os.defpath),
        ("PATH", "", os.defpath),
        ("PYTHONPATH", "", ""),
        ("PYTHONPATH", ":/lib", "/lib"),
        ("PYTHONPATH", "/code", ""),
        ("NODE_PATH", "node_modules", ""),
        ("RUBYLIB", "lib:/lib", "/lib"),
        ("PERL5LIB", "lib:/lib", "/lib"),
        ("PERLLIB", "lib", ""),
        ("CLASSPATH", "classes:/opt/x.jar", "/opt/x.jar"),
        ("LD_LIBRARY_PATH", ":/lib", "/lib"),
        ("LD_PRELOAD", "./evil.so", ""),
        ("LD_PRELOAD", "/lib/fine.so /code/evil.so", ""),
        ("LD_PRELOAD", "/lib/fine.so:other.so", "/lib/fine.so:other.so"),
        ("BASH_ENV", "evil.sh", ""),
        ("BASH_ENV", "/home/u/.bash_env", "/home/u/.bash_env"),
        ("GOROOT", "/code/go", ""),
        ("NODE_OPTIONS", "--max-old-space-size=4096", "--max-old-space-size=4096"),
        ("NODE_OPTIONS", "--require ./evil.js", ""),
        ("NODE_OPTIONS", "--require=./evil.js", ""),
        ("NODE_OPTIONS", "-r evil", ""),
        ("NODE_OPTIONS", '--import "/code/e vil.mjs"', ""),
        ("NODE_OPTIONS", "--require /opt/fine.js", "--require /opt/fine.js"),
        ("NODE_OPTIONS", '--require "', ""),
        ("NODE_OPTIONS", "--require", ""),
        ("NODE_OPTIONS", "--experimental_loader=./evil.mjs", ""),
        ("NODE_OPTIONS", "--env_file=evil", ""),
        ("NODE_OPTIONS", "--openssl-config=/code/evil.cnf", ""),
        ("NODE_OPTIONS", "--redirect-warnings=/code/log", ""),
        ("GOFLAGS", "-mod=mod", "-mod=mod"),
        ("GOFLAGS", "-toolexec=./evil", ""),
        ("GOFLAGS", "-mod=mod -toolexec=bin/evil", ""),
        ("GOFLAGS", "'-toolexec=/code/bin/evil -x'", ""),
        ("GOFLAGS", "-toolexec=/usr/bin/time", "-toolexec=/usr/bin/time"),
        ("GOENV", "evil", ""),
        ("GOENV", "off", "off"),
        ("GOENV", "/home/u/.config/go/env", "/home/u/.config/go/env"),
        ("CC", "bin/evil", ""),
        ("CC", "ccache gcc", "ccache gcc"),
        ("CFLAGS", "-B/code/bin", ""),
        ("npm_config_script_shell", "./evil", ""),
        ("XDG_CONFIG_HOME", "/code/.config", ""),
        ("XDG_DATA_HOME", "data", ""),
        ("XDG_CACHE_HOME", "/home/u/.cache", "/home/u/.cache"),
        ("GCONV_PATH", "lib", ""),
        ("PYTHONPYCACHEPREFIX", "/code/cache", ""),
        ("RUSTC_WRAPPER", "./evil", ""),
        ("SOMETHING_NEW", "--load=/code/evil.so", ""),
        ("SOMETHING_NEW", "./evil", ""),
        ("SOMETHING_NEW", "/proc/self/cwd/evil", ""),
        ("PATH", "/proc/self/cwd/bin:/proc/thread-self/cwd:/dev/fd/3:/bin", "/bin"),
        ("TZ", "Europe/Berlin", "Europe/Berlin"),
        ("DISPLAY", ":0", ":0"),
        ("HTTPS_PROXY", "http://user@proxy:3128/", "http://user@proxy:3128/"),
        ("VIRTUAL_ENV", "/code/.venv", "/code/.venv"),
        ("PWD", "/code", "/code"),
        ("HOME", "/home/u", "/home/u"),
    ],
)
def test_a_variable_that_leads_into_the_project_is_made_harmless(
    name: str, value: str, cleaned: str
) -> None:
    given = {"PATH": "/bin", name: value}
    made = {**given, **clean_environment(given, "/code")}
    assert made == {"PATH": "/bin", name: cleaned}


def test_without_a_path_there_is_a_harmless_one() -> None:
    assert clean_environment({}, "/code") == {"PATH": os.defpath}


@pytest.mark.parametrize("home", [".", "home", "/code", "/code/home"])
def test_a_home_in_the_project_is_none(home: str) -> None:
    assert clean_environment({"PATH": "/bin", "HOME": home}, "/code") == {
        "HOME": workspace_boundary.own_home()
    }


def test_the_users_own_home_stays_also_where_it_is_the_project() -> None:
    home = workspace_boundary.own_home()
    assert clean_environment({"PATH": "/bin", "HOME": home}, home) == {}


def test_a_home_in_the_project_is_nowhere_if_the_users_own_lies_there_too() -> None:
    home = workspace_boundary.own_home()
    made = clean_environment({"PATH": "/bin", "HOME": f"{home}/x"}, home)
    assert made == {"HOME": "/nonexistent"}


def test_all_of_the_work_tree_is_the_project(tmp_path: Path) -> None:
    workspace = tmp_path / "packages" / "app"
    workspace.mkdir(parents=True)
    assert workspace_boundary.project_tree(str(workspace)) == str(workspace)
    (tmp_path / ".git").mkdir()
    assert workspace_boundary.project_tree(str(workspace)) == str(tmp_path)


def test_a_work_tree_that_holds_the_users_home_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    workspace = tmp_path / "home" / "app"
    workspace.mkdir(parents=True)
    monkeypatch.setattr(workspace_boundary, "own_home", lambda: str(tmp_path / "home"))
    assert workspace_boundary.project_tree(str(workspace)) == str(workspace)
