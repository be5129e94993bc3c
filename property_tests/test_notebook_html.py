"""Whatever a value contains, a notebook gets HTML with the tags of the renderings and no others."""

from __future__ import annotations

import html.parser
from pathlib import Path
from typing import Any

import markdown
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lspkit.diagnostics.report import Change, Evidence, Report
from lspkit.edit_types import (
    CodeAction,
    FileEdit,
    FileOperation,
    TextEdit,
    WorkspaceEdit,
)
from lspkit.notebook.rendering import html_of, markdown_of
from lspkit.servers.status import Broken, RootStatus, ServerState, ServerStatus, snapshot
from lspkit.types import (
    Call,
    CallItem,
    Diagnostic,
    Hover,
    Location,
    Parameter,
    Position,
    Range,
    Severity,
    Signature,
    SignatureHelp,
    Symbol,
    TypeItem,
    Verdict,
)

#: What would do harm if it were not escaped, or breaks out of where it stands.
HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='alert(1)",
        "</code></td></table><b>",
        "<!--",
        "&lt;script&gt;",
        "[x](javascript:alert(1))",
        "![x](http://tracker/)",
        "[x]: javascript:alert(1)\n\n[x]",
        "[x](\njavascript:alert(1))",
        "<javascript:alert(1)>",
        "`<b>",
        "```html\n<script>\n```\n<script>",
        "~~~\n````\n<script>",
        "    ```\n<script>\n",
        "> ```\n<script>",
        "- ```\n<script>\n- ```\n<script>",
        "``` `\n<script>",
        "$\\href{javascript:alert(1)}{x}$",
        "\r<script>",
        "\u2028<script>",
        "\ud800",
        "\x1b[31m\x00",
        "\u202egnp",
        "\\",
    ]
)
TEXTS = st.text(max_size=30) | HOSTILE | st.lists(HOSTILE, max_size=4).map("".join)
NUMBERS = st.integers(-1, 50) | st.sampled_from([2**31, 10**30])
POSITIONS = st.builds(Position, NUMBERS, NUMBERS)
RANGES = st.builds(Range, POSITIONS, POSITIONS)
PATHS = TEXTS.map(lambda one: Path("/w") / (one.replace("/", "").replace("\0", "") or "x"))
MAYBE = st.none() | PATHS
PLACED = {"path": MAYBE, "range": RANGES, "uri": TEXTS}
NAMED = {**PLACED, "name": TEXTS, "kind": TEXTS, "selection": RANGES, "detail": TEXTS}
LOCATIONS = st.builds(Location, **PLACED)
SYMBOLS = st.recursive(
    st.builds(Symbol, **NAMED, container=TEXTS),
    lambda inner: st.builds(
        Symbol, **NAMED, container=TEXTS, children=st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=6,
)
ITEMS = st.builds(CallItem, **NAMED)
CALLS = st.builds(Call, ITEMS, st.lists(RANGES, max_size=3).map(tuple))
DIAGNOSTICS = st.builds(
    Diagnostic,
    **PLACED,
    severity=st.sampled_from(Severity),
    message=TEXTS,
    code=TEXTS,
    servers=st.lists(TEXTS, max_size=2).map(tuple),
    href=TEXTS,
)
EVIDENCE = st.builds(Evidence, TEXTS, st.none(), TEXTS, st.floats(0, 9), reason=TEXTS)
FINDINGS = st.lists(DIAGNOSTICS, max_size=3)
REPORTS = st.builds(
    Report,
    path=PATHS,
    verdict=st.sampled_from(Verdict),
    diagnostics=FINDINGS,
    servers=st.lists(EVIDENCE, max_size=2),
    duration=st.floats(0, 9),
    introduced=st.none() | FINDINGS,
    fixed=FINDINGS,
    remaining=FINDINGS,
)
FILE_EDITS = st.builds(
    FileEdit,
    MAYBE,
    TEXTS,
    st.lists(st.builds(TextEdit, RANGES, TEXTS), max_size=2).map(tuple),
    st.none() | TEXTS,
    TEXTS,
)
OPERATIONS = st.builds(
    FileOperation, st.sampled_from(["create", "rename", "delete"]), MAYBE, TEXTS, MAYBE, TEXTS
)
EDITS = st.builds(WorkspaceEdit, st.lists(FILE_EDITS | OPERATIONS, max_size=3).map(tuple), TEXTS)
ACTIONS = st.builds(CodeAction, TEXTS, TEXTS, st.booleans(), TEXTS, st.none() | EDITS, server=TEXTS)
SIGNATURES = st.builds(
    SignatureHelp,
    st.lists(
        st.builds(
            Signature, TEXTS, TEXTS, st.lists(st.builds(Parameter, TEXTS), max_size=2).map(tuple)
        ),
        max_size=3,
    ).map(tuple),
    st.integers(-1, 4),
    st.none() | st.integers(-1, 4),
)
ROOTS = st.builds(
    RootStatus,
    TEXTS,
    st.sampled_from(ServerState),
    st.none() | NUMBERS,
    TEXTS,
    st.lists(TEXTS, max_size=2).map(tuple),
    broken=st.none() | st.builds(Broken, NUMBERS, st.none(), TEXTS),
)
WORDS = st.lists(TEXTS, max_size=2).map(tuple)
ROWS = st.builds(
    ServerStatus,
    *(TEXTS, st.sampled_from(ServerState), WORDS, WORDS, WORDS, TEXTS, WORDS, TEXTS),
    roots=st.lists(ROOTS, max_size=2).map(tuple),
    reason=TEXTS,
)
STATUS = st.builds(
    lambda rows, why, warnings: snapshot(rows, 0.0, unavailable=why, warnings=warnings),
    st.lists(ROWS, max_size=3),
    TEXTS,
    WORDS,
)
#: Every kind of value that is shown as HTML.
VALUES: list[st.SearchStrategy[Any]] = [
    *(LOCATIONS, SYMBOLS, ITEMS, CALLS, DIAGNOSTICS, REPORTS, FILE_EDITS, EDITS, ACTIONS),
    *(st.builds(Change, EDITS), SIGNATURES, STATUS, ROWS, st.builds(TypeItem, **NAMED)),
]
LISTED: list[st.SearchStrategy[Any]] = [
    *(LOCATIONS, SYMBOLS, ITEMS, CALLS, DIAGNOSTICS, REPORTS, ACTIONS, ROWS)
]
HTML_TAGS = {
    *("table", "thead", "tbody", "tr", "th", "td"),
    *("div", "span", "code", "b", "pre", "br"),
}


class Tags(html.parser.HTMLParser):
    """Refuses tags and attributes that are not known, and tags that are not closed."""

    def __init__(self, allowed: set[str], attributes: set[str]) -> None:
        super().__init__()
        self._allowed, self._attributes = allowed, attributes
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self._allowed
        for name, value in attrs:
            assert name in self._attributes
            if name == "href":
                assert value is not None
                assert value.lower().startswith(("http://", "https://"))
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("br", "hr"):
            assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("a declaration")


def check_tags(shown: str, allowed: set[str], attributes: set[str]) -> None:
    tags = Tags(allowed, attributes)
    tags.feed(shown)
    tags.close()
    assert tags.open == []


def check_html(shown: str | None) -> None:
    assert shown is not None
    assert len(shown) < 500_000
    shown.encode("utf-8")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    check_tags(shown, HTML_TAGS, {"style"})


def hostile_line(path: Path, number: int) -> str:
    return f"\t<script>{path}</script>{number}\x1b\r"


@given(st.one_of(VALUES))
def test_a_value_of_any_kind_is_harmless_html(value: Any) -> None:
    check_html(html_of(value, hostile_line))


@given(st.one_of([st.lists(one, min_size=1, max_size=4) for one in LISTED]))
def test_a_list_of_any_kind_is_harmless_html(values: list[Any]) -> None:
    check_html(html_of(values, hostile_line))


@given(st.dictionaries(PATHS, REPORTS, min_size=1, max_size=3))
def test_many_reports_are_harmless_html(values: dict[Path, Report]) -> None:
    check_html(html_of(values, hostile_line))


@given(st.dictionaries(PATHS, st.lists(DIAGNOSTICS, min_size=1, max_size=2), min_size=1))
def test_known_findings_are_harmless_html(values: dict[Path, list[Diagnostic]]) -> None:
    check_html(html_of(values, hostile_line))


ANYTHING = st.none() | st.integers() | TEXTS | st.lists(st.integers(), max_size=2) | LOCATIONS
KINDS = (Location, Symbol, Call, Diagnostic, Report, WorkspaceEdit, SignatureHelp, Hover)


@given(st.sampled_from(KINDS), st.lists(ANYTHING, min_size=9, max_size=9))
def test_a_value_with_fields_of_wrong_types_does_not_raise(kind: Any, fields: list[Any]) -> None:
    value = kind(*fields[: len(kind.__struct_fields__)])
    for shown in (html_of(value), html_of([value, value]), html_of({Path("x"): value})):
        if shown is not None:
            check_tags(shown, HTML_TAGS, {"style"})
    markdown_of(value)


MARKDOWN_TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "pre", "a", "hr", "br"),
    *("ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td"),
}
MARKDOWN_ATTRIBUTES = {"href", "class", "start", "title", "style"}
COMMONMARK = MarkdownIt("commonmark", {"html": True})
TABLES = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@given(st.lists(TEXTS | st.lists(TEXTS).map("\n".join), max_size=3))
def test_a_hover_is_harmless_markdown_for_every_renderer(contents: list[str]) -> None:
    shown = markdown_of(Hover(contents))
    assert shown is not None
    shown.encode("utf-8")
    for rendered in (
        COMMONMARK.render(shown),
        TABLES.render(shown),
        markdown.markdown(shown, extensions=["fenced_code", "tables"]),
    ):
        check_tags(rendered, MARKDOWN_TAGS, MARKDOWN_ATTRIBUTES)


def test_huge_values_are_cut() -> None:
    position = Position(1, 1)
    place = Range(position, position)
    long = "<" * 10**6
    deep = Symbol(long, long, Path("/w/x"), place, place, long)
    for _ in range(5000):
        deep = Symbol("x", "class", Path("/w/x"), place, place, "", children=(deep,))
    finding = Diagnostic(Path("/w/x"), place, Severity.ERROR, long, long, long, long, (long,) * 50)
    text = "".join(f"{number}\n" for number in range(5000))
    edit = FileEdit(Path("/w/x"), "", (), text, text.replace("1", "2"))
    check_html(html_of(deep))
    check_html(html_of([Location(Path("/w/x"), place, long)] * 5000, lambda *_: long))
    check_html(html_of(Report(Path("/w/x"), Verdict.DIRTY, [finding] * 5000, [], 1.0)))
    check_html(html_of(edit))
    many = html_of(WorkspaceEdit((edit,) * 50))
    check_html(many)
    assert "… and 49 more files" in str(many)
    check_html(html_of(FileEdit(Path("/w/x"), "", (), long * 3, long)))
    shown = markdown_of(Hover([long] * 50))
    assert shown is not None
    assert len(shown) < 100_000


def test_values_without_a_rendering_are_plain_text() -> None:
    for value in (Position(1, 2), None, [], {}, [1], [Position(1, 2)], {Path("x"): 1}, "x"):
        assert html_of(value) is None
        assert markdown_of(value) is None


class Answer(list[Location]):
    """A list that says that it may be incomplete."""

    complete = False
    caveats = ("<index> is loading",)


def test_a_list_that_may_be_incomplete_says_so() -> None:
    place = Range(Position(1, 1), Position(1, 2))
    shown = html_of(Answer([Location(Path("/w/x"), place, "")]))
    assert shown is not None
    assert "may be incomplete: &lt;index&gt; is loading" in shown
