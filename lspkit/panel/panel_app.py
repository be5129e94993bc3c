"""The panel as an application in the terminal: an overlay with the servers, and its keys."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key, Resize
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from lspkit.errors import LspkitError, WorkspaceClosedError
from lspkit.operations import TrustNoticeRequest
from lspkit.operations.host_results import TrustNotice
from lspkit.panel.panel_rows import ordered
from lspkit.panel.server_lines import Line, fit, joined_to_fit, legend, totals_line
from lspkit.panel.server_list import ServerList
from lspkit.panel.status_feed import StatusFeed, Update
from lspkit.runtime.concurrency.call import CancelToken
from lspkit.servers.status import ServerState, ServerStatus, WorkspaceStatus
from lspkit.visible_text import one_line
from lspkit.workspace import Workspace

KEYS = (
    ("↑ ↓  j k", "move"),
    ("g  G", "first, last"),
    ("Enter", "expand or fold the selected server"),
    ("/", "filter: id, state, source, language, extension"),
    ("Esc", "leave the filter, then the panel"),
    ("s", "restart the selected server"),
    ("t", "what trusting the project would allow"),
    ("r  Ctrl+R", "refresh"),
    ("?", "this help"),
    ("q", "quit"),
)


class TextDialog(ModalScreen[None]):
    """A text that can be scrolled, until a key closes it."""

    BINDINGS: ClassVar = [
        Binding("escape,q,enter,question_mark,t", "dismiss", "close"),
        Binding("ctrl+c", "app.quit"),
        Binding("down,j", "scroll(1)"),
        Binding("up,k", "scroll(-1)"),
    ]
    DEFAULT_CSS = """
    TextDialog { align: center middle; }
    TextDialog > VerticalScroll {
        width: 66; max-width: 95%; height: auto; max-height: 80%; padding: 0 1;
        border: round $primary; background: $surface; scrollbar-size-vertical: 1;
    }
    TextDialog Static { width: 100%; height: auto; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """The text in a box."""
        with VerticalScroll() as box:
            box.border_title = self._title
            box.border_subtitle = "Esc closes"
            yield Static(self._text, markup=False)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)


def help_text() -> str:
    """The keys, one per line."""
    return "\n".join(f"{keys:<10} {what}" for keys, what in KEYS)


def trust_text(notice: TrustNotice) -> str:
    """What trusting the project would allow, and the command that does it."""
    project, why = one_line(notice.project), one_line(notice.why)
    lines = [f"{project} is {notice.state}" + (f": {why}." if why else ".")]
    if notice.held_back:
        lines += ["", "Trusting it would let these run, or count:"]
        lines += [f"  • {one_line(program)}" for program in notice.held_back]
        lines += ["", "Its code would run as you: these programs, and what the tools of a language"]
        lines[-1] += " run in a project, such as build scripts, plugins and configuration."
    elif notice.state == "trusted":
        lines += ["", "Nothing is held back."]
    else:
        lines += ["", "Nothing in it is held back now."]
    if notice.state != "trusted":
        lines += ["", "Nothing is changed here. To allow it:", f"  {one_line(notice.remedy)}"]
    return "\n".join(lines)


#: The size of the overlay: cells, and parts of the terminal.
WIDTH, WIDEST, HIGHEST, MARGIN = 82, 0.95, 0.80, 1
#: Lines and columns of the border, and cells of padding.
BORDER, PADDING = 2, 2
#: Seconds for a call that a key begins.
CALL_TIMEOUT = 30.0
HINTS = ("? help", "q quit", "/ filter", "Enter details", "s restart", "t trust", "r refresh")

T = TypeVar("T")


class StatusTaken(Message):
    """A new status, or why there is none."""

    def __init__(self, update: Update) -> None:
        super().__init__()
        self.update = update


class Done(Message):
    """A call in the background has ended."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self.then = then


class PanelApp(App[None]):
    """Shows the servers of a workspace until the user leaves, or the workspace is closed."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "lspkit"
    BINDINGS: ClassVar = [
        Binding("up,k", "move(-1)"),
        Binding("down,j", "move(1)"),
        Binding("pageup", "move(-10)"),
        Binding("pagedown", "move(10)"),
        Binding("g,home", "move(-1000000)"),
        Binding("G,end", "move(1000000)"),
        Binding("enter", "expand"),
        # At once: the keys after them, if they come quickly, are meant for what has the focus then.
        Binding("slash", "filter", priority=True),
        Binding("enter", "keep_filter", priority=True),
        Binding("escape", "leave"),
        Binding("q", "quit"),
        Binding("ctrl+c", "quit", priority=True),
        Binding("r,ctrl+r", "refresh"),
        Binding("question_mark", "help"),
        Binding("s", "restart"),
        Binding("t", "trust"),
    ]
    CSS = """
    Screen { align: center middle; }
    #panel { border: round $primary; background: $surface; padding: 0 1; }
    #panel > Static { height: 1; }
    #filter { height: 1; border: none; padding: 0; background: $boost; }
    """

    def __init__(self, ws: Workspace, *, now: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._ws, self._now = ws, now
        self._feed = StatusFeed(ws, lambda update: self.post_message(StatusTaken(update)))
        self._status: WorkspaceStatus | None = None
        #: Why the last status could not be taken.
        self._error = ""
        #: What the last key has done, until the next one.
        self._message = ""
        #: Ends calls in the background.
        self._cancel = CancelToken()
        self._panel = Vertical(id="panel")
        self._totals, self._heading, self._legend = (Static(markup=False) for _ in range(3))
        self._field = Input(id="filter", placeholder="filter", compact=True)
        self._field.display = False
        #: The row that was selected before a filter was typed.
        self._before_filter = ""
        self.list = ServerList(str(ws.root))

    # Life

    def compose(self) -> ComposeResult:
        """The overlay."""
        with self._panel:
            yield self._totals
            yield self._field
            yield self._heading
            yield self.list
            yield self._legend

    def on_mount(self) -> None:
        """Begin to follow the workspace."""
        self._panel.border_title = Content(f"lspkit · {self._folder()}")
        self.list.can_focus = True
        self.list.focus()
        self._feed.start()
        self.set_interval(1.0, self._tick)
        self.show()

    def _tick(self) -> None:
        """Only times change between two statuses: those of broken and of expanded servers."""
        self._follow_terminal()
        shown = self.list.servers
        if self.list.expanded or any(server.state is ServerState.BROKEN for server in shown):
            self.show()

    def on_unmount(self) -> None:
        """Leave nothing running."""
        self._cancel.set()
        self._feed.close()

    def on_status_taken(self, message: StatusTaken) -> None:
        """Show a new status."""
        update = message.update
        if isinstance(update, WorkspaceStatus):
            self._status, self._error = update, ""
        elif isinstance(update, WorkspaceClosedError):
            self.exit(message="the workspace was closed")
            return
        else:
            self._error = fit(str(update), 1000)
        self.show()

    def on_done(self, message: Done) -> None:
        """A call in the background has ended."""
        message.then()
        self._feed.refresh()
        self.show()

    # What is shown

    def on_resize(self, _: Resize) -> None:
        """The terminal has another size."""
        self.show()

    def _follow_terminal(self) -> None:
        """Take its size from the terminal: the signal that tells of a new one can get lost."""
        try:
            size = Size(*os.get_terminal_size())
        except OSError:  # not in a terminal
            return
        if size != self.size and not self.is_headless:
            self.post_message(Resize(size, size))

    def show(self) -> None:
        """Bring everything on the screen up to date."""
        if not self.list.is_attached:
            return
        panel, width = self._panel, self._panel_width()
        panel.styles.width = width
        inner = max(1, width - BORDER - PADDING)
        self._put(self._totals, self._totals_line(inner))
        servers = self._filtered()
        self.list.show(servers, self._notice(inner), self._age())
        self._put(self._heading, self.list.heading())
        self._put(self._legend, self._legend_line(inner))
        hints = joined_to_fit(HINTS, " · ", inner - 4)
        panel.border_subtitle = Content(hints)
        fixed = BORDER + 3 + self._field.display
        highest = min(int(self.size.height * HIGHEST), self.size.height - 2 * MARGIN)
        panel.styles.height = min(max(fixed + 1, highest), fixed + self.list.needed_height())

    def _panel_width(self) -> int:
        return max(6, min(WIDTH, int(self.size.width * WIDEST), self.size.width - 2 * MARGIN))

    def _put(self, place: Static, line: Line) -> None:
        parts = ((text, self.list.style_named(name)) for text, name in line)
        place.update(Text.assemble(*parts), layout=False)

    def _folder(self) -> str:
        folder, home = str(self._ws.root), os.path.expanduser("~")
        inside = folder == home or folder.startswith(os.path.join(home, ""))
        return one_line(f"~{folder[len(home) :]}" if inside else folder)

    def _age(self) -> float:
        return max(0.0, self._now() - self._status.generated_at) if self._status else 0.0

    def _totals_line(self, width: int) -> Line:
        if self._error:
            return [(fit(f"✗ {self._error}", width), "error")]
        if self._status is None:
            return [(fit("loading …", width), "muted")]
        return totals_line(self._status, width)

    def _legend_line(self, width: int) -> Line:
        if self._message:
            return [(fit(self._message, width), "strong")]
        return [(legend(width), "muted")]

    def _notice(self, width: int) -> Line:
        if self._status is None:
            text = "the status cannot be read (r tries again)" if self._error else "loading …"
        elif not self._status.rows:
            text = self._status.unavailable or "no servers configured"
        else:
            text = "no rows match filter"
        return [(fit(text, width), "muted")]

    def _filtered(self) -> list[ServerStatus]:
        servers = ordered(self._status.rows) if self._status else []
        words = self._field.value.lower().split()
        return [server for server in servers if all(word in _searched(server) for word in words)]

    # Keys

    def on_key(self, _: Key) -> None:
        """A message lasts until the next key."""
        self._message = ""

    def action_move(self, by: int) -> None:
        """Select another row."""
        self.list.move(by)
        self.show()

    def action_expand(self) -> None:
        """Expand or fold the selected row."""
        self.list.toggle()
        self.show()

    def on_server_list_widened(self) -> None:
        """The list has another width."""
        self.show()

    def on_server_list_expanded(self) -> None:
        """A second click."""
        self.action_expand()

    def action_filter(self) -> None:
        """Type a filter."""
        if not self._field.display:
            self._before_filter = self.list.selected
        self._field.display = True
        self.screen.set_focus(self._field)
        self.show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Whether a key has its meaning now: a filter may contain a slash."""
        if action in ("filter", "keep_filter"):
            # Not `has_focus`, which changes a moment later.
            return (self.focused is self._field) == (action == "keep_filter")
        return True

    def on_input_changed(self) -> None:
        """The filter acts while it is typed."""
        self.show()

    def action_keep_filter(self) -> None:
        """Keep the filter, and go back to the rows."""
        self.screen.set_focus(self.list)
        self.show()

    def action_leave(self) -> None:
        """Leave the filter, then the panel."""
        if not self._field.display:
            self.exit()
            return
        if self.focused is self._field:  # the filter is given up, not used
            self.list.selected = self._before_filter
        self._field.value = ""
        self._field.display = False
        self.screen.set_focus(self.list)
        self.show()

    def action_refresh(self) -> None:
        """Take a new status."""
        self._feed.refresh()

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(TextDialog(" Keys ", help_text()))

    def action_restart(self) -> None:
        """Restart the selected server."""
        server = self.list.current()
        if server is None:
            return
        name = one_line(server.server)
        if not server.roots:
            self._message = f"{name} does not run: it starts with the first file that needs it"
            self.show()
            return
        self._message = f"{name} is restarted …"
        self.show()
        restart = functools.partial(self._ws.restart, server.server)
        self._begin(restart, lambda _: self._tell(f"{name} was restarted"))

    def action_trust(self) -> None:
        """Show what trusting the project would allow."""
        ask = functools.partial(self._ws.run, TrustNoticeRequest())
        self._begin(ask, lambda notice: self.push_screen(TextDialog(" Trust ", trust_text(notice))))

    def _tell(self, message: str) -> None:
        self._message = one_line(message)

    def _begin(self, call: Callable[..., T], then: Callable[[T], object]) -> None:
        """Make a call of the workspace in the background, then use its result."""

        def work() -> None:
            try:
                result = call(timeout=CALL_TIMEOUT, cancel=self._cancel)
            except LspkitError as problem:
                self.post_message(Done(functools.partial(self._tell, str(problem))))
            else:
                self.post_message(Done(lambda: then(result)))

        # asyncio ends its threads together with the loop.
        self.run_worker(work, thread=True)


def _searched(server: ServerStatus) -> str:
    """The text in which the words of a filter are searched."""
    words = [server.server, server.state.value, server.source, server.trust]
    return " ".join([*words, *server.languages, *server.extensions]).lower()
