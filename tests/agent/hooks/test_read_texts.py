"""The texts that hooks keep from reads: of the most recently read files, and not too much."""

from __future__ import annotations

from pathlib import Path

from lspkit.agent.hooks.agent_session import LARGEST, MOST_CHARACTERS, MOST_TEXTS, ReadTexts


def files_of(folder: Path, count: int, size: int) -> list[str]:
    paths = [folder / f"{number}.py" for number in range(count)]
    for path in paths:
        path.write_text("x" * size, encoding="utf-8")
    return [str(path) for path in paths]


def kept(texts: ReadTexts, paths: list[str]) -> list[str]:
    return [path for path in paths if texts.take(path) is not None]


def test_a_text_is_taken_once(tmp_path):
    [path] = files_of(tmp_path, 1, 10)
    texts = ReadTexts()
    texts.note([path])
    assert (texts.take(path), texts.take(path)) == ("x" * 10, None)


def test_the_most_recently_read_texts_are_kept(tmp_path):
    paths = files_of(tmp_path, MOST_TEXTS + 5, 1)
    texts = ReadTexts()
    texts.note(paths)
    assert kept(texts, paths) == paths[5:]


def test_the_texts_together_are_bounded(tmp_path):
    most = MOST_CHARACTERS // LARGEST
    paths = files_of(tmp_path, most + 3, LARGEST)
    texts = ReadTexts()
    for path in paths:
        texts.note([path])
    assert most < MOST_TEXTS
    assert kept(texts, paths) == paths[3:]


def test_a_large_text_is_not_kept(tmp_path):
    paths = files_of(tmp_path, 1, LARGEST + 1)
    texts = ReadTexts()
    texts.note(paths)
    assert kept(texts, paths) == []
