"""Every number explains itself: by pointing, by keyboard and by tapping; pinned, followed down to a slider, and kept up to date."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from content.numbers import write_number
from tests.ui.reader import LANGUAGES, WRITTEN, Reader, eventually, trace_at

LIT = """() => Object.fromEntries(["picked", "from"].map((kind) => [kind,
  [...document.querySelectorAll("." + kind)].map((e) => e.dataset.for ?? `${e.closest("table").dataset.array} ${e.parentElement.rowIndex} ${e.cellIndex - 1}`)]))"""


def line(reader: Reader) -> str:
    return " ".join(reader.locate(".readout .line").first.inner_text().split()) if reader.locate(".readout .line").count() else ""


def says(reader: Reader, text: str) -> None:
    def said() -> None:
        assert line(reader) == text

    eventually(said)


def explained(reader: Reader) -> None:
    def some() -> None:
        assert line(reader)

    eventually(some)


def lit(reader: Reader) -> dict[str, list[str]]:
    return reader.page.evaluate(LIT)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_pointing_at_a_number_tells_its_arithmetic_and_lights_what_it_came_from(reader: Reader, lang: str) -> None:
    reader.open("three_tokens", lang)
    reader.cell("output", 0).hover()
    trace = trace_at("three_tokens")
    number = lambda value: write_number(value, "2", lang)  # noqa: E731
    terms = (f"{number(weight)} · {number(value)}" for weight, value in zip(trace.weights[0], trace.value[:, 0]))
    says(reader, f"{' + '.join(terms)} = {number(trace.output[0, 0])}")
    assert lit(reader)["picked"] == ["output 1 0"]
    assert set(lit(reader)["from"]) == {"weights 1 0", "weights 1 1", "weights 1 2", "v00", "v10", "v20"}
    assert reader.locate('.readout [class="of"], .readout .of').first.inner_text().startswith(reader.locate('figure[data-save="output"] figcaption b').inner_text())


def test_a_pinned_number_stays_while_others_are_pointed_at_and_goes_when_unpinned(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.cell("output", 0).click()
    explained(reader)
    pinned = line(reader)
    assert reader.locate(".readout.pinned").count() == 1
    for other in range(1, 6):
        reader.cell("output", other).hover()
    reader.cell("weights", 0).hover()
    assert line(reader) == pinned
    reader.press("v00", "ArrowRight")  # it stays pinned, and its numbers follow the slider
    says(reader, pinned.replace("1.00 +", "1.05 +").replace("= 1.60", "= 1.62"))
    reader.locate(".readout .acts button").last.click()
    assert line(reader) == ""
    assert lit(reader) == {"picked": [], "from": []}
    reader.cell("output", 2).hover()
    says(reader, "0.20 · 1.05 + 0.40 · 0.00 + 0.40 · 3.00 = 1.41")


def test_clicking_a_pinned_cell_again_or_escape_lets_it_go(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.cell("weights", 4).click()
    explained(reader)
    reader.cell("weights", 4).click()
    eventually(lambda: _none(reader.locate(".readout.pinned").count()))
    reader.cell("weights", 4).click()
    eventually(lambda: _some(reader.locate(".readout.pinned").count()))
    reader.page.keyboard.press("Escape")
    assert line(reader) == ""


def test_a_number_is_followed_step_by_step_down_to_its_slider(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.cell("output", 2 * 2).click()  # milk, first coordinate
    explained(reader)
    reader.locate(".readout .line button.to-array").first.click()  # its first weight
    eventually(lambda: _in("exp", line(reader)))
    assert lit(reader)["picked"] == ["weights 3 0"]
    reader.locate(".readout .line button.to-array").first.click()  # the score in it
    says(reader, "(1.00 · 1.00 + 1.00 · 0.00) / 1.41 = 0.71")
    assert lit(reader)["picked"] == ["scores 3 0"]
    reader.locate(".readout .line button.to-control").first.click()  # milk's query, which is given by a slider
    assert reader.page.evaluate("document.activeElement.dataset.control") == "q20"
    assert reader.control("q20").is_visible()
    assert reader.control("token").get_attribute("type") == "radio"
    assert reader.locate('input[data-control="token"]:checked').get_attribute("value") == "2"
    reader.page.keyboard.press("ArrowRight")
    reader.shows("three_tokens", token=2, q20=1.05)
    back = reader.locate(".readout .acts button").first
    while reader.locate(".readout .acts button").count() > 1:
        before = line(reader)
        back.click()
        eventually(lambda: _differs(line(reader), before))
    eventually(lambda: _in("= 1.80", line(reader)))


def test_arrow_keys_go_from_cell_to_cell_and_enter_pins(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.cell("weights", 0).focus()
    explained(reader)
    for key, place in (("ArrowRight", "weights 1 1"), ("ArrowDown", "weights 2 1"), ("ArrowLeft", "weights 2 0"), ("ArrowUp", "weights 1 0"), ("ArrowUp", "weights 1 0")):
        reader.page.keyboard.press(key)
        eventually(lambda: _equal(lit(reader)["picked"], [place]))  # noqa: B023
    reader.page.keyboard.press("ArrowRight")
    reader.page.keyboard.press("Enter")
    eventually(lambda: _some(reader.locate(".readout.pinned").count()))
    reader.page.keyboard.press("ArrowDown")
    assert lit(reader)["picked"] == ["weights 1 1"]
    reader.page.keyboard.press("Escape")
    assert line(reader) == ""
    assert reader.page.evaluate("document.activeElement.tabIndex") == 0, "one cell of a table is reached by Tab, the rest by arrows"
    assert reader.locate('table[data-array="weights"] td[tabindex="0"]').count() == 1


def test_a_tap_does_what_pointing_does(readers: Callable[..., Reader]) -> None:
    reader = readers(viewport={"width": 380, "height": 760}, has_touch=True, is_mobile=True)
    reader.open("three_tokens")
    reader.locate(".raise").tap()
    reader.cell("weights", 0).tap()
    explained(reader)
    assert lit(reader)["picked"] == ["weights 1 0"]
    box = reader.locate(".readout .line").first.bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 760, "the line is in view where the tap was"
    reader.cell("output", 1).tap()
    eventually(lambda: _equal(lit(reader)["picked"], ["output 1 1"]))


@pytest.mark.parametrize("section", WRITTEN)
def test_a_cell_of_every_table_explains_itself_in_the_readers_digits(reader: Reader, section: str) -> None:
    """The first and the last cell of each table on show: the line ends in the number that stands in the cell."""
    reader.open(section)
    tables = reader.page.evaluate("[...document.querySelectorAll('table[data-array]')].filter((t) => t.checkVisibility()).map((t) => t.dataset.array)")
    for array in dict.fromkeys(tables):
        for at in {0, len(reader.numbers(array)) - 1}:
            cell = reader.cell(array, at)
            cell.dispatch_event("pointerover", {"bubbles": True, "pointerType": "mouse"})

            def told(cell: Any = cell, array: str = array) -> None:
                assert cell.evaluate("(e) => e.classList.contains('picked')"), array
                assert reader.locate(".readout .line").count() > 0

            eventually(told)


def test_a_picture_explains_itself_too(reader: Reader) -> None:
    """The heatmap of the position codes: what is under the pointer is the same cell as in its table."""
    reader.open("position")
    picture = reader.locate('[data-figure="0"] .plot canvas').first
    picture.scroll_into_view_if_needed()
    box = reader.locate('[data-figure="0"] .plot').bounding_box()
    reader.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.4)
    eventually(lambda: _in("10,000^", line(reader)))
    where = reader.locate(".readout .of").first.inner_text()
    reader.page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.4)
    eventually(lambda: _some(reader.locate(".readout.pinned").count()))
    reader.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.6)
    assert reader.locate(".readout .of").first.inner_text().split("\n")[0] == where.split("\n")[0]


def _some(count: int) -> None:
    assert count


def _none(count: int) -> None:
    assert not count


def _equal(left: object, right: object) -> None:
    assert left == right


def _differs(left: object, right: object) -> None:
    assert left != right


def _in(part: str, whole: str) -> None:
    assert part in whole
