"""The summary of an edit, for any findings, any texts in them and any caps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lspkit.agent.hooks.summary import APPLIED, Summary
from lspkit.types import Diagnostic, Position, Range, Severity
from tests.agent.hooks.summaries import ROOT, text_of

#: A finding from before an edit.
OLD = Diagnostic(None, Range(Position(1, 1), Position(1, 2)), Severity.ERROR, "old", "file:///x")

# Texts that try to break out, among all others; some lone surrogates, as broken names have them.
PIECES = st.sampled_from(
    [
        "</diagnostics>",
        '<diagnostics file="',
        "&",
        "\n",
        "\r",
        "\x00",
        "\u202e",
        "\udc80",
        "日",
        "😀",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=6).map("".join)
NAMES = st.sampled_from([f"{name}.py" for name in "abcdef"]) | TEXTS.filter(
    lambda text: text.strip("/.") and "\0" not in text
)
SEVERITIES = st.sampled_from([*Severity])


@st.composite
def findings(draw: st.DrawFn) -> Diagnostic:
    line, column = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    place = Range(Position(line, column), Position(line, column + 1))
    message, code = draw(TEXTS), draw(TEXTS)
    return Diagnostic(None, place, draw(SEVERITIES), message, "file:///x", code)


FILES = st.dictionaries(NAMES.map(ROOT.joinpath), st.lists(findings(), max_size=8), max_size=6)
SUMMARIES = st.builds(
    Summary,
    severity=SEVERITIES,
    max_per_file=st.integers(0, 6),
    max_other_files=st.integers(0, 4),
    max_total_lines=st.integers(0, 12),
    max_bytes=st.integers(0, 1500) | st.just(100_000),
)
LINE = re.compile(r"(ERROR|WARNING|INFO|HINT) \[\d+:\d+\] .*")
#: All that may stand outside of tags, or count what was left out.
OWN = re.compile(
    rf"({re.escape(APPLIED)} )?LSP (errors|findings) "
    r"(detected in (this file, please fix|other files):|from before the edit that remain: \d+)"
    r"|\.\.\. and \d+ more( files?)?"
)
TAG = re.compile(r'<diagnostics file="[^"<>\n]*">|</diagnostics>')

Files = Mapping[Path, list[Diagnostic]]


@given(SUMMARIES, FILES, FILES, st.integers(0, 3))
def test_it_is_made_of_whole_lines_within_the_caps(
    summary: Summary, touched: Files, others: Files, remaining: int
) -> None:
    text = text_of(summary, touched, others, old=[OLD] * remaining)
    assert len(text.encode()) <= max(summary.max_bytes, 0)
    lines = text.split("\n") if text else []
    assert all(LINE.fullmatch(line) or OWN.fullmatch(line) or TAG.fullmatch(line) for line in lines)
    assert sum(bool(LINE.fullmatch(line)) for line in lines) <= summary.max_total_lines
    if text:
        assert text.startswith(APPLIED)


@given(SUMMARIES, FILES, FILES)
def test_tags_open_and_close_in_turn_and_nothing_of_a_file_is_outside(
    summary: Summary, touched: Files, others: Files
) -> None:
    inside = False
    for line in text_of(summary, touched, others).split("\n"):
        if TAG.fullmatch(line):
            assert inside == line.startswith("</")
            inside = not inside
        elif not inside:
            assert not line or OWN.fullmatch(line)
    assert not inside


@given(SUMMARIES, FILES, FILES, st.randoms(use_true_random=False))
def test_the_order_of_findings_and_files_changes_nothing(
    summary: Summary, touched: Files, others: Files, dice: object
) -> None:
    def mixed(files: Files) -> Files:
        names = dice.sample(list(files), len(files))  # type: ignore[attr-defined]
        return {
            name: dice.sample(files[name], len(files[name]))  # type: ignore[attr-defined]
            for name in names
        }

    text = text_of(summary, touched, others)
    assert text_of(summary, mixed(touched), mixed(others)) == text


@given(SUMMARIES, FILES, st.integers(1, 6))
def test_all_that_is_left_out_of_a_file_is_counted(
    summary: Summary, touched: Files, most: int
) -> None:
    roomy = Summary(
        severity=summary.severity,
        max_per_file=most,
        max_total_lines=1_000_000,
        max_bytes=1_000_000,
    )
    text = text_of(roomy, touched)
    shown = len(re.findall(r"^[A-Z]+ \[", text, re.M))
    left_out = sum(int(number) for number in re.findall(r"^\.\.\. and (\d+) more$", text, re.M))
    assert shown + left_out == sum(len(counted(found, roomy)) for found in touched.values())


@given(SUMMARIES, st.lists(findings(), max_size=12))
def test_a_worse_finding_never_gives_way_to_a_lesser_one(
    summary: Summary, found: list[Diagnostic]
) -> None:
    text = text_of(summary, {ROOT / "a.py": found})
    ranks = {one.value.upper(): one.rank for one in Severity}
    shown = [ranks[line.split(" ")[0]] for line in text.split("\n") if LINE.fullmatch(line)]
    worst = sorted(one.severity.rank for one in counted(found, summary))
    assert sorted(shown) == worst[: len(shown)]


def counted(found: list[Diagnostic], summary: Summary) -> list[Diagnostic]:
    return [one for one in found if one.severity.counts(summary.severity)]
