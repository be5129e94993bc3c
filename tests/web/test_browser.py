"""The status page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lspkit.testing import Diagnostics, Script
from tests.service.site import Site
from tests.web.browser import Browser
from tests.web.web_site import WebSite

TEXT = "(document.body?.innerText ?? '')"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser with nothing in it."""
    with Browser(tmp_path / "profile") as made:
        yield made


def text(web: WebSite, content: str, name: str = "a.scr") -> None:
    (web.site.project / name).write_text(content, encoding="utf-8")


def test_the_page_loads_without_an_error_and_asks_nobody_else(
    web: WebSite, browser: Browser
) -> None:
    browser.open(web.server.page_url())
    browser.wait_for(f"{TEXT}.includes('live')")
    browser.wait_for(f"{TEXT}.includes('No server runs yet')")
    assert browser.value("location.pathname + location.search") == "/"
    assert browser.value("document.cookie") == ""
    assert browser.errors == []
    own = f"http://127.0.0.1:{web.port}/"
    assert [one for one in browser.requests if not one.startswith((own, "data:"))] == []
    assert len(browser.requests) > 2


def test_a_server_and_its_diagnostics_appear_as_they_come(web: WebSite, browser: Browser) -> None:
    web.set_cwd("a", web.site.project)
    browser.open(web.server.page_url())
    browser.wait_for(f"{TEXT}.includes('No server runs yet')")

    text(web, "ERROR one\nWARN two\n")
    web.check("a", "a.scr")
    browser.wait_for("document.querySelector('[data-server=scripted] [data-state=active]') != null")
    browser.wait_for("document.querySelectorAll('#files li').length === 2")
    assert browser.value("document.querySelector('#files .path').textContent") == "a.scr"
    assert "1 error" in browser.value("document.querySelector('[data-server] .counts').innerText")

    text(web, "fine\n")
    web.check("a", "a.scr")
    browser.wait_for(f"{TEXT}.includes('No diagnostics are known')")
    assert browser.errors == []


#: What a server says to get out of the text, and how it is shown.
HOSTILE = "<img src=x onerror='document.title=1'></script>&lt;\u202egnp.exe\u2066\u200b\0\nnext"
SHOWN = (
    "<img src=x onerror='document.title=1'></script>&lt;"
    "\\u{202e}gnp.exe\\u{2066}\\u{200b}\\u{0}\nnext"
)


def test_text_of_servers_and_files_stays_text(browser: Browser) -> None:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    item = {"range": place, "severity": 1, "message": HOSTILE, "code": "<b>", "source": "<i>"}
    answers = {"textDocument/diagnostic": {"kind": "full", "items": [item]}}
    name = "<u>\u202ea.scr"
    script = Script(diagnostics=Diagnostics(how="pull"), answers=answers)
    with Site(script) as site, WebSite(site) as web:
        text(web, "x\n", name)
        web.set_cwd("a", site.project)
        assert web.check("a", name)["verdict"] == "dirty"
        browser.open(web.server.page_url())
        browser.wait_for("document.querySelectorAll('#files li').length === 1")
        shown = browser.value("document.querySelector('#files .message').firstChild.data")
        assert shown == SHOWN
        assert browser.value("document.querySelector('#files .path').textContent") == (
            "<u>\\u{202e}a.scr"
        )
        made = "main img, main u, main script, #files b, #files i"
        assert browser.value(f"document.querySelectorAll('{made}').length") == 0
        assert browser.value("document.title") == "lspkit"
        assert browser.errors == []


def open_two_files(web: WebSite, browser: Browser) -> None:
    """The page on a phone, with an error in each of two files."""
    web.set_cwd("a", web.site.project)
    for name in ("a.scr", "b.scr"):
        text(web, f"ERROR {name} {'long' * 60}\n", name)
        web.check("a", name)
    browser.resize(360, 700, dark=True)
    browser.open(web.server.page_url())
    browser.wait_for("document.querySelectorAll('#files details').length === 2")


def test_files_are_folded_by_keyboard_and_stay_folded(web: WebSite, browser: Browser) -> None:
    open_two_files(web, browser)
    assert browser.value("document.documentElement.scrollWidth") <= 360
    browser.press("j", "j")
    first = "document.activeElement.tagName + document.activeElement.innerText"
    assert browser.value(first).startswith("SUMMARY")
    browser.value("document.querySelector('#files summary').focus()")
    browser.press("Enter")
    browser.wait_for("!document.querySelector('#files details').open")
    browser.press("r", "r")
    web.check("a", "a.scr")
    assert browser.value("document.querySelector('#files details').open") is False
    browser.press("j", "j")
    browser.wait_for("document.activeElement.innerText.includes('b.scr')")
    browser.press("k", "k")
    browser.wait_for("document.activeElement.innerText.includes('a.scr')")
    assert browser.errors == []


def test_files_are_filtered_by_keyboard(web: WebSite, browser: Browser) -> None:
    open_two_files(web, browser)
    browser.press("/", "/")
    assert browser.value("document.activeElement.id") == "filter"
    browser.press("b", "b")
    browser.press(".", ".")
    browser.wait_for("document.querySelectorAll('#files details').length === 1")
    browser.press("Escape")
    browser.wait_for("document.querySelectorAll('#files details').length === 2")
    browser.press("Tab")
    assert browser.value("document.activeElement.tagName") != "BODY"
    assert browser.errors == []


def test_the_page_says_when_the_service_has_ended(web: WebSite, browser: Browser) -> None:
    browser.open(web.server.page_url())
    browser.wait_for(f"{TEXT}.includes('live')")
    web.server.close()
    browser.wait_for("document.getElementById('connection').textContent !== 'live'")


def test_a_page_of_another_origin_gets_nothing(web: WebSite, browser: Browser) -> None:
    """Also with the cookie of a session in the same browser."""
    browser.open(web.server.page_url())
    browser.wait_for(f"{TEXT}.includes('live')")
    browser.open(f"data:text/html,<iframe src='http://127.0.0.1:{web.port}/'></iframe>")
    browser.wait_for("location.protocol === 'data:' && document.readyState === 'complete'")
    browser.value(
        f"window.found = null; fetch('http://127.0.0.1:{web.port}/status', {{credentials: "
        "'include'}).then(r => r.text()).catch(e => 'refused: ' + e).then(t => { found = t })"
    )
    assert "refused" in browser.wait_for("window.found")
