"""Dialogs over the panel: the keys, and the question of trust."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from lspkit.operations.host_results import TrustNotice
from lspkit.visible_text import one_line

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
        lines += [f"  • {one_line(one)}" for one in notice.held_back]
        lines += ["", "Its code would run as you: these programs, and what the tools of a language"]
        lines[-1] += " run in a project, such as build scripts, plugins and configuration."
    elif notice.state == "trusted":
        lines += ["", "Nothing is held back."]
    else:
        lines += ["", "Nothing in it is held back now."]
    if notice.state != "trusted":
        lines += ["", "Nothing is changed here. To allow it:", f"  {one_line(notice.remedy)}"]
    return "\n".join(lines)
