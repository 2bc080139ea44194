"""What the labs of Part 2 add: points and entries to drag, a number followed to its source, parts that open when they are needed."""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import expect

from content.numbers import write_number
from tests.ui.reader import Reader, eventually, trace_at

PLACE = """([x, y]) => {
  const plot = document.querySelector(".plane .plot");
  const view = [...window.Bokeh.index].find((view) => plot.contains(view.el));
  const {left, top} = plot.firstElementChild.getBoundingClientRect();
  return [left + view.frame.x_scale.compute(x), top + view.frame.y_scale.compute(y)];
}"""
INSIDE = """(cell) => {
  const [box, lab, said] = [cell, document.getElementById("lab"), document.querySelector(".readout")].map((e) => e.getBoundingClientRect());
  return box.top >= lab.top && box.bottom <= said.top + 1;
}"""


def pixel(reader: Reader, x: float, y: float) -> tuple[float, float]:
    """Where a point of the plane is on the screen, once the picture is drawn."""
    reader.locate(".plane .plot").scroll_into_view_if_needed()

    def drawn() -> list[float]:
        assert reader.page.evaluate("document.querySelector('.plane .plot').firstElementChild !== null && window.Bokeh !== undefined")
        return reader.page.evaluate(PLACE, [x, y])

    return tuple(eventually(drawn))


def drag(reader: Reader, start: tuple[float, float], end: tuple[float, float]) -> None:
    reader.page.mouse.move(*start)
    reader.page.mouse.down()
    reader.page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    reader.page.mouse.move(*end)


def lines(reader: Reader) -> list[str]:
    return [" ".join(text.split()) for text in reader.locate(".readout .line").all_inner_texts()]


def test_a_word_dragged_in_the_plane_takes_its_value_along_and_the_address_hears_of_it_on_release(reader: Reader) -> None:
    reader.open("weighted_average")
    drag(reader, pixel(reader, 3, -1), pixel(reader, -1, 2))
    assert "x_1" not in reader.query()
    reader.page.mouse.up()
    eventually(lambda: np.testing.assert_allclose(reader.numbers("values")[2:], [-1, 2], atol=0.15))
    moved = {name: float(value) for name, value in reader.query().items() if name in ("x_1", "y_1")}
    assert len(moved) == 2
    reader.shows("weighted_average", **moved)


def test_a_word_cannot_be_dragged_out_of_the_plane(reader: Reader) -> None:
    reader.open("weighted_average")
    start = pixel(reader, 1, 3)
    drag(reader, start, (start[0] - 900, start[1] - 600))
    reader.page.mouse.up()
    eventually(lambda: np.testing.assert_array_equal(reader.numbers("values")[:2], [-4, 4]))


def test_more_words_bring_rows_whose_entries_set_their_own_coordinates(reader: Reader) -> None:
    reader.open("weighted_average")
    reader.locate('.control[data-for="n"] label').last.click()
    field = reader.locate('table[data-array="values"] input[data-control="y_3"]')
    field.fill("1.5")
    field.press("Enter")
    reader.shows("weighted_average", n=4, y_3=1.5)


def test_an_entry_follows_a_sideways_drag_and_the_arrow_keys_and_goes_back_with_its_table(reader: Reader) -> None:
    reader.open("one_head")
    field = reader.locate('input[data-control="wq00"]')
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drag(reader, middle, (middle[0] - 60, middle[1]))
    reader.page.mouse.up()
    eventually(lambda: np.testing.assert_allclose(reader.numbers("w_q")[0], 0.5))
    assert reader.query()["wq00"] == "0.5"
    field.focus()
    reader.page.keyboard.press("ArrowUp")
    reader.shows("one_head", wq00=0.55)
    expect(field.locator("xpath=..")).to_have_class(re.compile(r"\bmoved\b"))
    reader.locate('figure[data-save="w_q"] .reset-one').click()
    reader.shows("one_head")
    assert "wq00" not in reader.query()


def test_a_weight_tells_its_score_term_by_term_as_well(reader: Reader) -> None:
    reader.open("one_head")
    reader.cell("weights", 6 * 7).hover()
    trace = trace_at("one_head")
    number = lambda value: write_number(value, "2", "en")  # noqa: E731

    def both() -> None:
        told = lines(reader)
        assert len(told) == 2
        share, score = told
        assert share.endswith(f"= {number(trace.weights[6, 0])}")
        assert number(trace.query[6, 1]) in score and number(trace.key[0, 1]) in score
        assert score.endswith(f"= {number(trace.scores[6, 0])}")

    eventually(both)


def test_one_number_can_be_followed_from_the_output_to_the_input_with_each_cell_in_sight(reader: Reader) -> None:
    reader.open("one_head", matrix="k")
    reader.cell("output", 6 * 3).click()
    for name in ("weights", "scores", "query", "w_q"):
        token = reader.locate(f'.readout .to-array[title^="{trace_title(reader, name)}"]').first
        token.click()

        def arrived() -> None:
            cell = reader.locate(f'table[data-array="{name}"] td.picked')
            assert cell.count() == 1 and cell.is_visible() and cell.evaluate(INSIDE)

        eventually(arrived)
    assert reader.locate('[data-control="matrix"][value="q"]').is_checked()


def trace_title(reader: Reader, array: str) -> str:
    """What an array is called on the page."""
    return reader.locate(f'table[data-array="{array}"] caption').inner_text()


def test_a_part_that_is_folded_away_opens_when_a_link_moves_what_is_in_it(reader: Reader) -> None:
    reader.open("heads")
    assert reader.locate("details.group[open]").count() == 0
    link = reader.locate('a.set[data-set^="x3=1"]').first
    link.locator("xpath=ancestor::details/summary").click()
    link.click()
    expect(reader.control("x3")).to_be_visible()
    reader.shows("heads", x3=1.0, head=1)


def test_a_bar_and_a_point_of_a_curve_tell_their_arithmetic(reader: Reader) -> None:
    reader.open("scaling")
    for key, array in (("scores", "Scores"), ("walk", "Dot products")):
        plot = reader.locate(f'figure[data-save="{key}"] .plot')
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()

        def told() -> None:
            for share in np.linspace(0.2, 0.8, 7):
                reader.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * 0.4)
            assert reader.locate(".readout .of").inner_text().startswith(array)

        eventually(told)


def test_the_followed_word_is_marked_wherever_it_stands(reader: Reader) -> None:
    reader.open("tokens")
    marked = lambda array: reader.locate(f'table[data-array="{array}"] tr.chosen th').all_inner_texts()  # noqa: E731
    eventually(lambda: expect(reader.locate('table[data-array="inputs"] tr.chosen')).to_have_count(2))
    assert marked("table") == ["a"] and marked("embedding") == ["0: a", "3: a"]


def test_a_sentence_that_has_no_numbers_can_be_mended_on_the_page(reader: Reader) -> None:
    reader.open("tokens", sentence="a journey of ten miles")
    assert "vocabulary" in reader.locate(".undefined").inner_text()
    field = reader.locate('[data-control="sentence"]')
    field.fill("Miles of miles.")
    field.press("Enter")
    reader.shows("tokens", sentence="Miles of miles.")
    assert reader.locate('table[data-array="inputs"] tbody th').all_inner_texts() == ["0: miles", "1: of", "2: miles"]
    entry = reader.locate('input[data-control="e84"]')
    entry.fill("0.25")
    entry.press("Enter")
    reader.shows("tokens", sentence="Miles of miles.", e84=0.25)
