"""On a small screen the lab is a sheet over the text: always in reach, moved by finger and by keyboard, and never in the way."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from content.strings import STRINGS
from tests.ui.reader import CORE, LANGUAGES, WRITTEN, Reader, eventually
from tests.ui.test_access import findings
from tests.ui.test_moves import follow, in_sight, lit

PHONE = {"viewport": {"width": 380, "height": 700}, "has_touch": True, "is_mobile": True}
TABLET = {"viewport": {"width": 820, "height": 1180}, "has_touch": True, "is_mobile": True}
SCREENS = pytest.mark.parametrize("screen", [PHONE, TABLET], ids=["phone", "tablet"])
HEIGHTS = ("peek", "half", "full")


def height(reader: Reader) -> str | None:
    return reader.page.evaluate("document.documentElement.dataset.sheet ?? null")


def share(reader: Reader) -> float:
    """How much of the screen the lab covers."""
    return reader.page.evaluate("document.getElementById('lab').getBoundingClientRect().height / innerHeight")


def raise_to(reader: Reader, wanted: str) -> None:
    for _ in range(HEIGHTS.index(wanted) - HEIGHTS.index(str(height(reader)))):
        reader.locate(".raise").click()
    assert height(reader) == wanted
    still(reader)


def still(reader: Reader) -> None:
    """Waits until the sheet has come to rest."""
    reader.page.wait_for_timeout(300)


class Finger:
    """One finger on the glass, in the browser's own touch events."""

    def __init__(self, reader: Reader) -> None:
        self.page, self.line = reader.page, reader.context.new_cdp_session(reader.page)

    def swipe(self, x: float, y: float, dx: float, dy: float, steps: int = 12, lift: bool = True) -> None:
        self._send("touchStart", [{"x": x, "y": y}])
        for step in range(1, steps + 1):
            self._send("touchMove", [{"x": x + dx * step / steps, "y": y + dy * step / steps}])
            self.page.wait_for_timeout(12)
        if lift:
            self._send("touchEnd", [])

    def _send(self, kind: str, points: list[dict[str, float]]) -> None:
        self.line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def middle(reader: Reader, selector: str) -> tuple[float, float]:
    box = reader.locate(selector).first.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@SCREENS
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_link_raises_the_sheet_and_leaves_the_text_where_it_is(readers: Callable[..., Reader], screen: dict[str, Any], lang: str) -> None:
    reader = readers(**screen).open("three_tokens", lang, q20=3)
    assert height(reader) == "half", "what differs from the textbook is on show"
    reader.open("three_tokens", lang)
    assert height(reader) == "peek"
    assert share(reader) <= 0.15
    link = reader.locate("article.prose a.set:visible").first
    link.scroll_into_view_if_needed()
    before = reader.page.evaluate("scrollY")
    link.tap()
    assert height(reader) == "half"
    setting = dict(part.split("=") for part in str(link.get_attribute("data-set")).split("&"))
    eventually(lambda: in_sight(reader, list(setting)))
    assert set(setting) <= set(lit(reader))
    assert abs(reader.page.evaluate("scrollY") - before) <= 2
    reader.shows("three_tokens", lang, **{name: float(value) for name, value in setting.items() if name != "token"})
    reader.locate(".undo-last").tap()
    reader.shows("three_tokens", lang)
    assert abs(reader.page.evaluate("scrollY") - before) <= 2
    assert "→" in reader.locate(".strip .last").inner_text()


@SCREENS
@pytest.mark.parametrize("section", WRITTEN)
def test_every_lab_peeks_with_its_pulse_and_opens_by_halves(readers: Callable[..., Reader], section: str, screen: dict[str, Any]) -> None:
    reader = readers(**screen).open(section)
    assert share(reader) <= 0.15
    assert reader.locate(".strip .miniature").is_visible()
    assert reader.locate(".strip .fact").first.is_visible()
    raise_to(reader, "half")
    assert 0.5 <= share(reader) <= 0.65, "the text can be read above it"
    assert reader.locate("#lab .views").bounding_box()["height"] > 120, "a view"
    assert reader.page.evaluate("[...document.querySelectorAll('#lab [data-control]')].some((e) => e.checkVisibility())")
    raise_to(reader, "full")
    assert share(reader) > 0.85
    assert reader.page.evaluate("document.querySelector('.prose').inert")
    for wanted in ("half", "peek"):
        reader.page.keyboard.press("Escape")
        assert height(reader) == wanted


def test_a_swipe_moves_the_sheet_with_the_finger(readers: Callable[..., Reader]) -> None:
    reader = readers(**PHONE).open("three_tokens")
    finger = Finger(reader)
    finger.swipe(*middle(reader, ".strip"), 0, -300, lift=False)
    assert 0.4 < share(reader) < 0.6, "mid-way it is where the finger is"
    finger._send("touchEnd", [])
    assert height(reader) in ("half", "full")
    raise_to(reader, "full") if height(reader) == "half" else still(reader)
    finger.swipe(*middle(reader, ".strip"), 0, 560, steps=30)
    assert height(reader) == "peek"
    still(reader)
    finger.swipe(*middle(reader, ".strip"), 0, -220)
    assert height(reader) in ("half", "full")
    reader.page.keyboard.press("Escape") if height(reader) == "full" else None
    assert height(reader) == "half"
    still(reader)
    still(reader)
    reader.locate(".lab-title").tap()
    assert height(reader) == "peek", "a tap goes back"
    reader.locate(".strip .facts").tap()
    assert height(reader) == "half"


def test_a_sheet_swiped_while_a_step_is_in_flight_loses_nothing(readers: Callable[..., Reader]) -> None:
    reader = readers(**PHONE).open("three_tokens")
    follow(reader, "q20=3")
    Finger(reader).swipe(*middle(reader, ".strip"), 0, 250, steps=4)
    assert height(reader) == "peek"
    reader.live()
    reader.shows("three_tokens", q20=3.0)


@SCREENS
@pytest.mark.parametrize("wanted", ["half", "full"])
@pytest.mark.parametrize("section", CORE)
def test_a_vertical_swipe_over_a_slider_scrolls_and_moves_no_value(readers: Callable[..., Reader], section: str, wanted: str, screen: dict[str, Any]) -> None:  # fmt: skip
    reader = readers(**screen).open(section)
    raise_to(reader, wanted)
    slider = reader.locate("#lab .controls .track input:visible").first
    slider.scroll_into_view_if_needed()
    scrolled = """() => scrollY + [...document.querySelectorAll("#lab, #lab *")].reduce((all, e) => all + e.scrollTop, 0)"""
    values = "[...document.querySelectorAll('#lab [data-control]')].map((e) => e.type === 'radio' ? e.checked : e.value)"
    before, at = reader.page.evaluate(values), reader.page.evaluate(scrolled)
    box = slider.bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
    Finger(reader).swipe(x, y, 3, -180)
    still(reader)
    assert reader.page.evaluate(values) == before
    if reader.page.evaluate("document.documentElement.dataset.sheet") == "half":
        assert reader.page.evaluate(scrolled) > at, "the page, or the list of controls"


def test_a_horizontal_drag_drags(readers: Callable[..., Reader]) -> None:
    reader = readers(**PHONE).open("three_tokens")
    raise_to(reader, "half")
    slider = reader.control("q00")
    box, before = slider.bounding_box(), float(slider.input_value())
    low, high = float(slider.get_attribute("min")), float(slider.get_attribute("max"))
    x = box["x"] + box["width"] * (before - low) / (high - low)
    Finger(reader).swipe(x, box["y"] + box["height"] / 2, 60, 4)
    moved = float(slider.input_value())
    assert moved > before
    reader.shows("three_tokens", q00=moved)
    assert height(reader) == "half"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_axe_finds_nothing_serious_at_any_height(readers: Callable[..., Reader], lang: str) -> None:
    for section in ("three_tokens", "one_head"):
        reader = readers(**PHONE).open(section, lang)
        for wanted in HEIGHTS:
            raise_to(reader, wanted)
            assert findings(reader) == [], (section, wanted)


def test_one_row_of_header_leaves_while_reading_down(readers: Callable[..., Reader]) -> None:
    reader = readers(**PHONE).open("masks", "uk")
    bar = reader.locate("header.bar")
    assert bar.bounding_box()["height"] <= 52
    for part in (".book", ".languages a >> nth=0", ".languages a >> nth=2", ".looks label >> nth=0", ".help-button"):
        box = reader.locate(part).bounding_box()
        assert box["width"] >= 30 and box["height"] >= 30, part
    reader.page.mouse.wheel(0, 900)
    eventually(lambda: _above(bar))
    reader.page.mouse.wheel(0, -200)
    eventually(lambda: _in_view(bar))
    reader.page.mouse.wheel(0, 500)
    eventually(lambda: _above(bar))
    reader.locate(".book").focus()
    eventually(lambda: _in_view(bar))


def _above(bar: Any) -> None:
    box = bar.bounding_box()
    assert box["y"] + box["height"] <= 1


def _in_view(bar: Any) -> None:
    assert bar.bounding_box()["y"] >= -1


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("size", [(320, 480), (320, 700), (320, 256), (640, 360), (899, 600), (900, 600)])
def test_nothing_sticks_out_of_a_small_screen(readers: Callable[..., Reader], size: tuple[int, int], lang: str) -> None:
    """320 × 256 is what a window of 1280 × 1024 holds at a zoom of 400 %: too low for a sheet, so the plain page."""
    reader = readers(viewport={"width": size[0], "height": size[1]})
    for section in ("three_tokens", "position", None):
        reader.open(section, lang)
        assert height(reader) == ("peek" if size[0] < 900 and size[1] >= 320 else None)
        if section:
            reader.page.evaluate("document.querySelector('article.prose a.set')?.click()")
        still(reader)
        assert reader.page.evaluate("document.scrollingElement.scrollWidth") <= size[0], section
        if section and size[1] < 320:
            assert reader.locate("#lab").evaluate("(e) => getComputedStyle(e).position") == "static"


def test_the_skip_link_and_a_window_that_grows(readers: Callable[..., Reader]) -> None:
    reader = readers(viewport={"width": 380, "height": 700}).open("three_tokens")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    assert height(reader) == "half"
    assert reader.page.evaluate("document.activeElement.id") == "lab"
    reader.page.keyboard.press("Escape")
    assert reader.page.evaluate("document.activeElement.className") == "raise", "focus does not stay in what is hidden"
    reader.page.keyboard.press("Enter")
    reader.page.set_viewport_size({"width": 1280, "height": 720})
    assert height(reader) is None
    assert reader.locate(".raise").is_hidden()
    assert reader.locate(".lower").is_hidden()
    reader.press("q00", "ArrowRight")
    reader.shows("three_tokens", q00=1.05)
    reader.page.set_viewport_size({"width": 380, "height": 700})
    assert height(reader) == "peek"
    assert reader.locate(".raise").get_attribute("aria-label") == STRINGS["en"]["raise_lab"]
