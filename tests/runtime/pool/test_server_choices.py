"""Which program is chosen while another one does not work. Nothing is started."""

from __future__ import annotations

from pathlib import Path

from lspkit.config import read_config
from lspkit.runtime.files import Files
from lspkit.runtime.pool import server_choices
from lspkit.runtime.pool.server_choices import ServerChoices
from lspkit.servers.restriction.trust_profile import ALL
from lspkit.workspace_boundary import boundary_of


def test_a_program_that_does_not_work_is_chosen_again_when_it_has_changed_or_after_minutes(
    tmp_path: Path,
) -> None:
    project, programs = tmp_path / "project", tmp_path / "bin"
    for folder in (project, programs):
        folder.mkdir()
    (project / "pyproject.toml").write_text("[tool.pyright]\n")
    for name in ("pyright-langserver", "ty"):
        (programs / name).touch(0o755)
    now = 0.0
    environ = {"PATH": str(programs)}
    config, files = read_config({}), Files(boundary_of(str(project)))
    choices = ServerChoices(config, lambda _: ALL, files, environ, lambda: now)

    def chosen() -> str:
        return next(
            choice.id
            for choice in choices.for_file(str(project / "a.py"))
            if choice.definition.role == "types"
        )

    assert chosen() == "pyright"
    broken = programs / "pyright-langserver"
    choices.skip(str(broken), now)
    assert chosen() == "ty"
    now = server_choices.TRY_AGAIN - 1
    assert chosen() == "ty"
    now = server_choices.TRY_AGAIN
    assert chosen() == "pyright"
    choices.skip(str(broken), now)
    assert chosen() == "ty"
    broken.write_text("#!/bin/sh\n")
    assert chosen() == "pyright"
