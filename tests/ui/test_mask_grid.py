"""Masks by hand: cells of the grid hide and show keys, and a row that sees nothing is explained and left again."""

from __future__ import annotations

import pytest

from tests.ui.reader import LANGUAGES, Reader, eventually


def cell(reader: Reader, row: int, column: int, size: int = 3) -> None:
    reader.cell("visibility", row * size + column).click()


def sees(reader: Reader, bits: str, lang: str = "en", **settings: object) -> None:
    reader.shows("masks", lang, **{"kind": "custom", "visible": bits, **settings})


def test_a_click_on_the_grid_hides_a_key_from_one_query(reader: Reader) -> None:
    reader.open("masks")
    cell(reader, 1, 0)
    sees(reader, "010")
    assert reader.query() | {"kind": "custom", "visible": "010"} == reader.query()
    assert reader.locate('input[data-control="kind"]:checked').get_attribute("value") == "custom"
    assert reader.control("visible").input_value() == "010"
    crossed = reader.page.evaluate("[...document.querySelectorAll('table[data-array=weights] td[data-value]')].map((e) => e.classList.contains('unseen'))")
    assert crossed == [False] * 3 + [True, False, True] + [False] * 3
    cell(reader, 1, 0)
    sees(reader, "110")
    cell(reader, 2, 1)
    sees(reader, "101", query=2)


def test_with_padding_a_click_closes_the_whole_column(reader: Reader) -> None:
    reader.open("masks", example="eight", kind="padding", visible="11111111", query=3)
    cell(reader, 5, 6, size=8)
    sees(reader, "11111101", example="eight", kind="padding", query=3)


def test_the_grid_works_by_keyboard(reader: Reader) -> None:
    reader.open("masks")
    reader.cell("visibility", 0).focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        reader.page.keyboard.press(key)
    sees(reader, "100")
    reader.page.keyboard.press("Space")
    sees(reader, "110")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_row_that_sees_nothing_is_explained_and_one_click_brings_it_back(reader: Reader, lang: str) -> None:
    reader.open("masks", lang)
    cell(reader, 1, 0)
    sees(reader, "010", lang)
    cell(reader, 1, 1)
    notice = reader.locate(".undefined")
    eventually(lambda: _true(notice.is_visible()))
    assert "0" in notice.inner_text()
    lab = reader.locate("#lab").inner_text()
    assert "NaN" not in lab
    assert "undefined" not in lab
    assert not reader.cell("weights_masked", 0).is_visible()
    assert set(reader.locate("output[data-fact]").all_text_contents()) == {"–"}
    assert reader.query()["visible"] == "000"
    cell(reader, 1, 2)
    sees(reader, "001", lang)
    assert not notice.is_visible()
    assert reader.cell("weights_masked", 0).is_visible()


def test_a_page_opened_where_nothing_is_to_be_seen_explains_itself_too(reader: Reader) -> None:
    reader.open("masks", "uk", kind="custom", visible="000")
    assert reader.locate(".undefined").is_visible()
    reader.cell("visibility", 0).dispatch_event("click")  # there is no grid yet
    bits = reader.control("visible")
    bits.fill("100")
    bits.press("Enter")
    sees(reader, "100", "uk")
    assert not reader.locate(".undefined").is_visible()
    bits.blur()
    reader.page.go_back()
    eventually(lambda: _true(reader.locate(".undefined").is_visible()))
    reader.page.keyboard.press("r")
    reader.shows("masks", "uk")


def _true(value: object) -> None:
    assert value
