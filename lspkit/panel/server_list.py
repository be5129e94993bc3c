"""The widget with the rows of the panel: which one is selected, expanded and visible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lspkit.panel.server_lines import Columns, Line, detail_lines
from lspkit.servers.status import ServerStatus

_STYLES = "strong muted error warning broken starting active idle unavailable disabled selected"


class ServerList(ScrollView):
    """Rows of servers, the selected one marked, expanded ones with their details."""

    #: These would scroll; they move the selection.
    BINDINGS: ClassVar = [
        Binding("up", "app.move(-1)"),
        Binding("down", "app.move(1)"),
        Binding("pageup", "app.move(-10)"),
        Binding("pagedown", "app.move(10)"),
        Binding("home", "app.move(-1000000)"),
        Binding("end", "app.move(1000000)"),
    ]
    COMPONENT_CLASSES: ClassVar = {f"server-list--{name}" for name in _STYLES.split()}
    DEFAULT_CSS = """
    ServerList {
        height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    ServerList > .server-list--strong { text-style: bold; }
    ServerList > .server-list--muted { color: $text-muted; }
    ServerList > .server-list--error, ServerList > .server-list--broken { color: $text-error; }
    ServerList > .server-list--warning, ServerList > .server-list--starting {
        color: $text-warning;
    }
    ServerList > .server-list--active { color: $text-success; }
    ServerList > .server-list--idle { color: $text-primary; }
    ServerList > .server-list--unavailable, ServerList > .server-list--disabled {
        color: $text-muted;
    }
    ServerList > .server-list--selected { background: $primary 35%; }
    """

    class Expanded(Message):
        """A row was clicked that was selected already."""

    class Widened(Message):
        """The lines have another width."""

    def __init__(self, root: str) -> None:
        super().__init__()
        #: The folder of the workspace.
        self.root = root
        self.servers: Sequence[ServerStatus] = ()
        #: Ids: rows may move between two updates.
        self.selected = ""
        self.expanded: set[str] = set()
        #: Shown instead of rows.
        self.notice: Line = []
        #: Seconds since the status was taken.
        self.age = 0.0
        self._lines: list[Line] = []
        #: The first line and the number of lines of each row.
        self._places: list[tuple[int, int]] = []
        #: Lines with the background of the selected row.
        self._marked: range = range(0)

    # What is shown

    def show(self, servers: Sequence[ServerStatus], notice: Line, age: float) -> None:
        """Show these servers, or the notice if there are none."""
        self.servers, self.notice, self.age = servers, notice, age
        if servers and self.selected not in [server.server for server in servers]:
            self.selected = servers[0].server
        self._build()

    def needed_height(self) -> int:
        """Lines with which all is visible."""
        return len(self._lines)

    def heading(self) -> Line:
        """The names of the columns; empty without rows."""
        return Columns(self.servers, self._width()).heading() if self.servers else []

    def _width(self) -> int:
        return max(1, self.scrollable_content_region.width)

    def _build(self) -> None:
        width = self._width()
        columns = Columns(self.servers, width)
        self._lines, self._places, self._marked = [], [], range(0)
        for server in self.servers:
            start, selected = len(self._lines), server.server == self.selected
            self._lines.append(columns.row(server, self.root, self.age, selected=selected))
            if server.server in self.expanded:
                self._lines += detail_lines(server, self.root, self.age, width)
            self._places.append((start, len(self._lines) - start))
            if selected:
                self._marked = range(start, start + 1)
        if not self.servers:
            self._lines = [self.notice]
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def on_resize(self, _: Resize) -> None:
        """The terminal has another size."""
        if self._width() != self.virtual_size.width:
            self.post_message(self.Widened())
        self._build()
        self._scroll_to_selected()

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        at, width = y + self.scroll_offset.y, self.size.width
        base = self.rich_style
        if at >= len(self._lines):
            return Strip.blank(width, base)
        if at in self._marked:
            base += self.style_named("selected")
        parts = [Segment(text, base + self.style_named(style)) for text, style in self._lines[at]]
        return Strip(parts).adjust_cell_length(width, base)

    def style_named(self, name: str) -> Style:
        """The style with this name, in the colours of the theme."""
        if not name:
            return Style()
        style = self.get_component_rich_style(f"server-list--{name}")
        if name == "selected":
            return Style(bgcolor=style.bgcolor)
        # Without its background, which may be that of the selected row.
        return Style(color=style.color, bold=style.bold)

    # The selection

    def _at(self) -> int:
        ids = [server.server for server in self.servers]
        return ids.index(self.selected) if self.selected in ids else 0

    def current(self) -> ServerStatus | None:
        """The selected server."""
        return self.servers[self._at()] if self.servers else None

    def move(self, by: int) -> None:
        """Select another row; stops at the first and the last one."""
        if self.servers and not self._scroll_within(by):
            at = max(0, min(len(self.servers) - 1, self._at() + by))
            self.selected = self.servers[at].server
            self._build()
            self._scroll_to_selected()

    def _scroll_within(self, by: int) -> bool:
        """Scroll by one line in details that are taller than the list; whether there was one."""
        start, number = self._places[self._at()]
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        hidden = {1: start + number - top - height, -1: top - start}.get(by, 0)
        if number <= height or hidden <= 0:
            return False
        self.scroll_to(y=top + by, animate=False, immediate=True, force=True)
        return True

    def toggle(self) -> None:
        """Expand the selected row, or fold it."""
        if self.servers:
            self.expanded ^= {self.selected}
            self._build()
            self.call_after_refresh(self._scroll_to_selected)

    def _scroll_to_selected(self) -> None:
        if not self._places:
            return
        start, number = self._places[self._at()]
        # The row itself, if it is taller than the list.
        height = max(1, self.scrollable_content_region.height)
        region = Region(0, start, 1, min(number, height))
        self.scroll_to_region(region, animate=False, immediate=True, force=True)

    def on_click(self, event: Click) -> None:
        """Select a row; expand it at the second click."""
        at = event.y + self.scroll_offset.y
        for server, (start, number) in zip(self.servers, self._places, strict=False):
            if start <= at < start + number:
                if server.server == self.selected:
                    self.post_message(self.Expanded())
                self.selected = server.server
                self._build()
