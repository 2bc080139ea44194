"""Readable by everybody: no serious finding of axe-core in any look, and nothing that only a mouse can scroll."""

from __future__ import annotations

from itertools import cycle
from typing import Any, Callable

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.ui.reader import LOOKS, WRITTEN, Reader, eventually

PAGES = [(None, "en"), *zip(WRITTEN, cycle(("uk", "en", "ru")))]
SERIOUS = {"serious", "critical"}


def findings(reader: Reader, rules: tuple[str, ...] = ()) -> list[str]:
    """Serious violations of all of axe-core's rules, or of some."""
    options: dict[str, Any] = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found: list[dict[str, Any]] = Axe().run(reader.page, options=options).response["violations"]
    return [
        f"{rule['id']}: {rule['help']}: {[node['html'][:160] for node in rule['nodes'][:3]]} {rule['nodes'][0]['any'][:1]}"
        for rule in found
        if rule["impact"] in SERIOUS
    ]


@pytest.mark.parametrize(("section", "lang"), PAGES)
def test_axe_finds_nothing_serious_in_any_look(reader: Reader, section: str | None, lang: str) -> None:
    reader.open(section, lang)
    for look in LOOKS:
        reader.look(look)
        # A look changes colours and sizes and nothing else.
        assert findings(reader, () if look == "light" else ("color-contrast", "target-size", "scrollable-region-focusable")) == [], look


def test_axe_finds_nothing_serious_in_what_opens_on_demand(reader: Reader) -> None:
    """Help, a pinned line of arithmetic, an undo, a revealed answer, a save menu and a table twin; then a state without numbers."""
    reader.open("position")
    reader.open_twins()
    reader.locate('a[data-set="position=25"]').evaluate("(link) => link.closest('details').open = true")
    reader.locate('a[data-set="position=25"]').click()
    reader.locate(".option").nth(1).click()
    reader.locate("details.group:not([open]) > summary").first.click()
    reader.cell("rotation", 0).click()
    eventually(lambda: _some(reader.locate(".readout .line").count()))
    reader.locate(".save summary").first.click()
    assert findings(reader) == []
    reader.page.keyboard.press("?")
    assert findings(reader) == []
    reader.open("masks", example="three", kind="custom", visible="000")
    assert reader.locate(".undefined").is_visible()
    assert findings(reader) == []


def test_every_part_of_the_page_that_scrolls_can_be_reached_by_keyboard(readers: Callable[..., Reader]) -> None:
    reader = readers(viewport={"width": 380, "height": 760})
    reader.open("position")
    reader.open_twins()
    unreachable = """[...document.querySelectorAll("main *")].filter((e) => {
      const style = getComputedStyle(e);
      const scrolls = (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(style.overflowX)) || (e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(style.overflowY));
      return scrolls && e.tabIndex < 0 && !e.querySelector("a, button, input, summary, [tabindex='0']");
    }).map((e) => e.outerHTML.slice(0, 120))"""
    assert reader.page.evaluate(unreachable) == []


def _some(count: int) -> None:
    assert count
