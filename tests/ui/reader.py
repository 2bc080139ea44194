"""One person in front of one page: opens it, presses keys, drags, reads tables. Notices every foreign request and error."""

from __future__ import annotations

import json
import time
from typing import Any, Callable
from urllib.parse import urlencode, urlparse

import numpy as np
from playwright.sync_api import Browser, Locator, Page

from app.prose import quotable, quote
from content import toc
from content.numbers import write_number

LANGUAGES = ("en", "ru", "uk")
LOOKS = ("light", "dark", "projector")
CORE = ("three_tokens", "position", "tanh_chain", "masks")
WRITTEN = toc.written()
SLIDER = {"three_tokens": "q00", "position": "position", "tanh_chain": "w_h", "masks": "s1"}
PATIENCE = 12.0  # seconds until an expectation has failed
READ_TABLES = """() => JSON.stringify(
  [...document.querySelectorAll("table[data-array]")].filter((table) => table.closest("details.twin")?.open ?? true).map((table) => {
    const forms = table.dataset.form?.split(" ") ?? [null];
    return [table.dataset.array, [...table.querySelectorAll("td[data-value]")].map((cell) =>
      [cell.dataset.value, cell.querySelector("input")?.value ?? cell.textContent, forms[(cell.cellIndex - 1) % forms.length]])];
  }))"""
READ_PROSE = """() => JSON.stringify([...document.querySelectorAll("output[data-fact]")].map((output) =>
  [output.dataset.fact, output.dataset.format ?? null, output.textContent]))"""
# Parts of the page that stick out of a window of this width, and how wide the page is.
STICKING_OUT = """(width) => ({
  wide: document.scrollingElement.scrollWidth > width ? document.scrollingElement.scrollWidth : 0,
  out: [...document.querySelectorAll(".bar > *, .prose > *, .lab > *, .contents > *")]
    .filter((e) => e.getBoundingClientRect().right > width + 1).map((e) => e.outerHTML.slice(0, 120)),
})"""


def eventually(check: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Tries until `check` no longer fails an assertion, and gives its result."""
    end = time.monotonic() + patience
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def trace_at(section: str, **changes: Any) -> Any:
    """What the compute module gives at the textbook setting with `changes`."""
    return toc.load(section).trace(toc.load(section).defaults() | changes)


class Seat:
    """A browser context with one page, empty, for readers with these options. Making one costs more than most tests do, so readers
    who leave no trace but storage, cookies and permissions sit down one after the other.
    """

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.options = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **options}
        self.context = browser.new_context(**self.options)
        self.page = self.context.new_page()

    def tidy(self, origin: str) -> None:
        """As nobody had been here."""
        self.page.mouse.up()
        self.page.mouse.move(0, 0)
        for page in self.context.pages:
            if page != self.page:
                page.close()
        self.page.goto("about:blank")
        line = self.context.new_cdp_session(self.page)
        line.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
        line.send("Page.resetNavigationHistory")
        line.detach()
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.page.set_viewport_size(self.options["viewport"])


class Reader:
    """A page in a browser context of its own. Foreign hosts cannot be reached; whoever tries is written down."""

    def __init__(self, seat: Seat, address: str) -> None:
        self.seat, self.address, self.context = seat, address, seat.context
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self.forgiven: list[str] = []  # what a test provokes on purpose
        self.marked = False  # set by a test that leaves a trace on its page or context
        self.page = self.sit(seat.page)

    def turn_page(self) -> Page:
        """Another page of the same browser context, watched as the first is."""
        return self.sit(self.context.new_page())

    def sit(self, page: Page) -> Page:
        page.set_default_timeout(PATIENCE * 1000)
        heard = {
            "request": lambda request: self._watch(request.url),
            "websocket": lambda line: self._watch(line.url),
            "console": lambda message: message.type == "error" and self.errors.append(message.text),
            "pageerror": lambda error: self.errors.append(f"{error}\n{error.stack}"),
        }
        for event, hear in heard.items():
            page.on(event, hear)
        if page == self.seat.page:
            self.heard = heard
        return page

    def _watch(self, url: str) -> None:
        parts = urlparse(url)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname != "localhost":
            self.foreign.append(url)

    def leave(self) -> bool:
        """Whether the seat is as good as new."""
        if not self.marked and not self.seat.page.is_closed():
            self.seat.tidy(self.address.removesuffix("/app"))
            for event, hear in self.heard.items():
                self.seat.page.remove_listener(event, hear)
            return True
        self.context.close()
        return False

    def complaints(self) -> list[str]:
        """Foreign requests, and errors that the test did not forgive."""
        return self.foreign + [e for e in self.errors if not any(part in e for part in self.forgiven)]

    # Going to a page

    def open(self, section: str | None, lang: str = "en", **settings: Any) -> Reader:
        """Goes to a section at these settings, or to the contents, and waits until it is live."""
        query = {"page": section} if section else {}
        self.go(urlencode({**query, "lang": lang, **settings}))
        if section:
            self.live()
        return self

    def go(self, query: str) -> Reader:
        self.page.goto(f"{self.address}?{query}")
        return self

    def live(self, patience: float = PATIENCE) -> Reader:
        """Waits until the lab has answered all that was asked."""

        def ready() -> None:
            assert self.status() == "ready"

        eventually(ready, patience)
        return self

    def status(self) -> str | None:
        return self.page.evaluate("document.documentElement.dataset.lab")

    def query(self) -> dict[str, str]:
        """The address's query."""
        return self.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")

    # Reading

    def locate(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def every_table(self) -> list[tuple[str, list[list[Any]]]]:
        """Each table on show: its array's name, then full value, text and number format of every cell."""
        return json.loads(self.page.evaluate(READ_TABLES))

    def tables(self) -> dict[str, list[list[Any]]]:
        """Every table on show by its array's name; where two show one array, one of them."""
        return dict(self.every_table())

    def numbers(self, array: str) -> np.ndarray:
        return np.array([float(value) for value, _, _ in self.tables()[array]])

    def texts(self, array: str) -> list[str]:
        return [text for _, text, _ in self.tables()[array]]

    def prose(self) -> str:
        return self.locate("article.prose").inner_text()

    def shows(self, section: str, lang: str = "en", form: str = "2", **changes: Any) -> None:
        """Asserts that every table and every live number in the prose is what the compute module gives at these values."""
        trace = trace_at(section, **changes)

        def same() -> None:
            tables = self.every_table()
            assert tables, "no table is on show"
            for name, cells in tables:
                values = [float(value) for value, _, _ in cells]
                expected = np.asarray(getattr(trace, name), float).ravel()
                assert len(values) == expected.size, f"{name} has {len(values)} cells for {expected.size} numbers"
                np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12, err_msg=name)
                written = [write_number(v, own or form, lang) for v, (_, _, own) in zip(values, cells)]
                wrong = [(v, text, w) for v, (_, text, _), w in zip(values, cells, written) if text != w]
                assert not wrong, f"{name} has (number, written, as it should be) {wrong[:3]}"
            known = quotable(toc.load(section), trace)
            for name, own, text in json.loads(self.page.evaluate(READ_PROSE)):
                try:
                    expected = write_number(quote(known, name), own or form, lang)
                except IndexError:
                    expected = "–"
                assert text == expected, f"the prose has {text} for {name}, not {expected}"

        eventually(same)

    def fits(self) -> None:
        """Asserts that nothing has to be scrolled sideways on a tablet and on a phone, however large the type."""
        for width, looks in ((1024, ("light",)), (380, ("light", "projector"))):
            self.page.set_viewport_size({"width": width, "height": 760})
            for look in looks:
                self.look(look)
                assert self.page.evaluate(STICKING_OUT, width) == {"wide": 0, "out": []}, (width, look)

    # Acting

    def look(self, look: str) -> None:
        self.locate(f'input[name="look"][value="{look}"]').check(force=True)
        assert self.page.evaluate("document.documentElement.dataset.look") == look

    def control(self, name: str) -> Locator:
        return self.locate(f'#lab [data-control="{name}"]').first

    def cell(self, array: str, at: int) -> Locator:
        """The table cell of a number, counted along the rows."""
        table = self.locate(f'table[data-array="{array}"]:not(details.twin:not([open]) table)').first
        return table.locator("td[data-value]").nth(at)

    def press(self, name: str, key: str) -> float:
        """Presses a key on a control; gives the value it then has."""
        assert self.control(name).is_visible(), name
        self.control(name).focus()
        self.page.keyboard.press(key)
        time.sleep(0.04)
        end = time.monotonic() + 1
        while self.status() == "busy" and time.monotonic() < end:  # a slider's thumb moves with its numbers
            time.sleep(0.005)
        return float(self.control(name).input_value())

    def drag(self, name: str, shares: list[float], release: bool = True) -> None:
        """Drags a slider's thumb through these shares of its track."""
        slider = self.control(name)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        value, low, high = slider.evaluate("(e) => [+e.value, +e.min, +e.max]")
        thumb = 8  # half a thumb: the ends of its way lie that far inside the track
        way = lambda share: box["x"] + thumb + share * (box["width"] - 2 * thumb)  # noqa: E731
        self.page.mouse.move(way((value - low) / (high - low)), box["y"] + box["height"] / 2)
        self.page.mouse.down()
        for share in shares:
            self.page.mouse.move(way(share), box["y"] + box["height"] / 2)
        if release:
            self.page.mouse.up()
        time.sleep(0.05)  # a thumb waits for its numbers, but not for long

    def open_twins(self) -> None:
        """Opens the table beside each picture."""
        closed = self.locate("details.twin:not([open]) > summary:visible")
        while closed.count():
            closed.first.click()
