"""Checks of whole projects: of one for the command line, of many on any executor.

from concurrent.futures import ProcessPoolExecutor

with ProcessPoolExecutor(4) as pool:
    for result in lspkit.batch.check(["one", "two"], executor=pool):
        print(result)
"""

from lspkit.batch.batch_check import Project, ProjectCheck, check, merge_sarif

__all__ = ["Project", "ProjectCheck", "check", "merge_sarif"]
