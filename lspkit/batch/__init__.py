"""Checks of whole projects: of one for the command line, of many on any executor.

from concurrent.futures import ProcessPoolExecutor

with ProcessPoolExecutor(4) as pool:
    for result in lspkit.batch.check(["one", "two"], executor=pool):
        print(result)
"""

from typing import TYPE_CHECKING

from lspkit.late_imports import late_names

if TYPE_CHECKING:
    from lspkit.batch.batch_check import check
    from lspkit.batch.project_check import Project, ProjectCheck
    from lspkit.batch.sarif_log import merge_sarif

__all__ = ["Project", "ProjectCheck", "check", "merge_sarif"]

#: Imported when they are first used: the command line needs other modules of this package.
__getattr__ = late_names(
    __name__,
    {
        "lspkit.batch.batch_check": "check",
        "lspkit.batch.project_check": "Project ProjectCheck",
        "lspkit.batch.sarif_log": "merge_sarif",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
