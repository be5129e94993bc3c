"""What the overlap race runs on: the courses of `lspkit probe`, which are part of lspkit."""

from __future__ import annotations

from lspkit.cli.machine.probe.probe_courses import COURSES, Course, Template, Text

__all__ = ["COURSES", "Course", "Template", "Text"]
