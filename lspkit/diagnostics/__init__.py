"""Findings: kept, judged and rendered. Pure: no thread, file, process or clock."""
