"""What the overlap race runs on: the courses of `tools/probe`."""

from __future__ import annotations

from tools.probe.courses import COURSES, Course, Template, Text

__all__ = ["COURSES", "Course", "Template", "Text"]
