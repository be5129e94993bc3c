"""What sources of one server are worth together."""

from __future__ import annotations

from lspkit.operations.effects import Examined
from lspkit.protocol.open_documents import View
from lspkit.protocol.text import Text
from lspkit.runtime.freshness.check_file import of_one_text

TEXT = Text("x")


def examined(source: str, version: int | None) -> Examined:
    view = None if version is None else View("file:///a", TEXT, version, "utf-16")
    return Examined("server", view, (b"[1]",), "pull", 0.1, source=source)


def test_sources_that_have_looked_at_one_text_all_count():
    both = [examined("native", 3), examined("cargo", 3)]
    assert of_one_text(both) == both


def test_of_sources_that_have_looked_at_two_texts_only_the_newer_counts():
    older, newer = of_one_text([examined("native", 3), examined("cargo", 4)])
    assert newer == examined("cargo", 4)
    assert (older.how, older.lists, older.view) == ("none", (), None)
    assert "changed" in older.reason
    assert older.source == "native"


def test_a_source_that_has_not_looked_takes_nothing_from_the_others():
    both = [examined("native", 3), examined("cargo", None)]
    assert of_one_text(both) == both
