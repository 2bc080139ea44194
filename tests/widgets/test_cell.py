"""Live numbers outside tables of arrays: their names, their values, and formulas as a person writes them."""

import doctest

import pytest

from tests.widgets.markup import parse
from tests.widgets.sample import TRACE, VALUES, text
from widgets import cell
from widgets.cell import Result, arithmetic_html, cell_html, numbers_html, value_of


def test_doctests_run():
    assert doctest.testmod(cell).failed == 0


@pytest.mark.parametrize(("name", "value"), [("share", 0.5), ("single", 7.0), ("row[2]", 1 / 3), ("square[1,0]", 3.0)])
def test_a_number_is_a_control_an_array_of_one_or_an_element(name, value):
    assert value_of(name, TRACE, VALUES) == value
    assert value_of(name, None, VALUES) == (value if name == "share" else None)


def test_each_number_of_a_formula_can_be_followed_and_the_rest_is_text():
    root = parse(numbers_html("½({square[1,1]} − {share})² < 1", TRACE, VALUES, text("uk")))
    assert root.text == "½(−4,00 − 0,50)² < 1"
    assert [span["data-cell"] for span in root.all("span")] == ["square[1,1]", "share"]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (Result("single", "z_0", "a·b", "{share}·2"), ["z0 = a·b", "0.50·2 ="]),
        (Result("single", "", "a·b", "{share}·2"), ["a·b", "0.50·2 ="]),
        (Result("single", "z_0", "", ""), ["z0"]),
    ],
)
def test_what_a_result_leaves_empty_is_not_written(result, said):
    spans = [span for span in parse(arithmetic_html(result, TRACE, VALUES, text())).all("span") if "data-cell" not in span]
    assert [span.text for span in spans] == said


def test_a_cell_holds_every_digit_and_its_colour():
    made = parse(cell_html("square[1,1]", TRACE, VALUES, text(), most=8.0)).one("td")
    assert (float(made["data-value"]), made["data-sign"], made["style"], made.text) == (-4.0, "negative", "--t:0.500", "−4.00")
    plain = parse(cell_html("single", TRACE, VALUES, text(), form="0")).one("td")
    assert "data-sign" not in plain and plain.text == "7"


def test_a_state_without_numbers_leaves_a_dash():
    made = parse(cell_html("single", None, VALUES, text(), most=1.0)).one("td")
    assert made.text == "–" and "data-value" not in made
