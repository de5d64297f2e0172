"""The real server behind a real browser, and what is asked of each page that it shows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tracker.ledger import Ledger
from tracker.web.app import create_app, listening_socket


class Look(NamedTuple):
    """A width of the window in pixels, and a color scheme."""

    width: int
    scheme: Any


LOOKS = (Look(1440, "light"), Look(768, "dark"), Look(375, "dark"))
_FAULTS = {"moderate", "serious", "critical"}


@contextmanager
def running(app: FastAPI, port: int = 0) -> Iterator[str]:
    """Run an application on a port of this machine, a free one for 0; yield its address."""
    with listening_socket("127.0.0.1", port) as opened:
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{opened.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def served(ledger: Ledger, *, port: int = 0, patience: float = 60) -> Iterator[str]:
    """Serve a ledger on a port of this machine; yield its address.

    A page that is not there after ``patience`` seconds is shown without its figures.
    """
    app = create_app(ledger)
    app.state.patience = patience
    with ledger.database.keep_connections(), running(app, port) as address:
        yield address


@dataclass
class Watched:
    """A page in a browser, and what it should not do: complain, ask others, open dialogs."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def go(self, path: str) -> int:
        answer = self.page.goto(self.base + path)
        assert answer is not None
        return answer.status

    def press(self, key: str) -> None:
        self.page.wait_for_load_state()
        self.page.keyboard.press(key)

    def watch(self) -> None:
        page = self.page
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.on("console", self._said)
        page.on("request", self._asked)
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{self.page.url}: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:")):
            self.outside.append(request.url)


@contextmanager
def opened(browser: Browser, base: str, width: int = 1200) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    try:
        watched = Watched(context.new_page(), base)
        watched.watch()
        yield watched
    finally:
        context.close()


@contextmanager
def browse(browser: Browser, ledger: Ledger, path: str, width: int = 1200) -> Iterator[Watched]:
    """Serve a ledger and open one of its pages, which may complain of nothing."""
    with served(ledger) as base, opened(browser, base, width) as watched:
        watched.go(path)
        yield watched
        assert watched.complaints == []
        assert watched.outside == []


def axe_faults(page: Page) -> list[str]:
    """Return what axe finds on a page that hinders somebody, if more than a little."""
    page.evaluate(files("axe_core_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{page.url}: {one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in _FAULTS
        for node in one["nodes"]
    ]


def visible_faults(page: Page, look: Look) -> list[str]:
    """Return what is wrong with a page as a window of a width and a scheme shows it."""
    width = look.width
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=look.scheme)
    faults = axe_faults(page) if width != 768 else []
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        faults.append(f"{page.url}: {wide} pixels are wider than {width}")
    cut_off = page.evaluate(
        "[...document.querySelectorAll('caption')].filter(one => one.checkVisibility()"
        " && one.getBoundingClientRect().right > innerWidth).map(one => one.textContent)"
    )
    faults += [f"{page.url}: a caption is cut off: {text}" for text in cut_off]
    levels = [int(tag[1]) for tag in page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => one.tagName)")]  # fmt: skip
    if levels[:1] != [1] or any(b - a > 1 for a, b in pairwise(levels)):
        faults.append(f"{page.url}: headings out of order: {levels}")
    if len({*page.screenshot()[200:]}) < 50:
        faults.append(f"{page.url}: the picture is blank")
    return faults
