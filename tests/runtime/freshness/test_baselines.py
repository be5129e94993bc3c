"""What is remembered of files between two edits."""

from __future__ import annotations

from lspkit.diagnostics.compare import Before
from lspkit.protocol.text import Text
from lspkit.runtime.freshness import baselines
from lspkit.runtime.freshness.baselines import Baselines


def known(text: str) -> Before:
    return Before(Text(text), ())


def test_a_text_is_remembered_as_long_as_the_findings(monkeypatch):
    monkeypatch.setattr(baselines, "MOST_CHARACTERS", 4)
    found = Baselines()
    for path in ("a", "b", "a", "c"):
        found.remember(path, known(path))
    for path, text in (("a", "a"), ("b", None), ("c", "c")):
        assert found.text(path) == text
        assert (found.get(path) is None) == (text is None)


def test_the_text_of_a_file_that_was_checked_for_another_is_not_kept():
    found, new = Baselines(), known("new")
    found.remember("a", new, keeps_text=False)
    assert found.text("a") is None
    assert found.get("a") is new
    found.remember("a", known("old"))
    found.remember("a", new, keeps_text=False)
    assert found.text("a") == "old"
